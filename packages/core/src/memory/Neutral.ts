/** What adapters use of a memory: its own messages, with Promises. */
import { Effect } from "effect"
import type { BudgetOutcome } from "../shell/waitForBudget.js"
import type { Message } from "../message/Message.js"
import type { Context } from "../render/Render.js"
import type { Prefix } from "../session/prefix.js"
import type { AppendedMessages, Service } from "./MemoryService.js"
import type { MessagePage, PageOptions } from "./readMessages.js"
import type { Rewrite, Rewritten } from "./rewriteMessages.js"

/**
 * Appends, contexts, pages and changes of a memory in messages of `@memfold/core`, whatever its format is. A memory of
 * `createMemory` has them in `neutral`. The promises reject with the errors of {@link Service}.
 */
export interface Neutral {
  /** Appends messages, all or none, as `append` of {@link Service} does. */
  append(
    session: string,
    messages: Message | ReadonlyArray<Message>,
    options?: { readonly idempotencyKey?: string; readonly prefix?: Prefix },
  ): Promise<AppendedMessages>
  /** The messages to send to a model, where each one comes from, and their layout. */
  context(session: string): Promise<Context & { readonly budget?: BudgetOutcome }>
  /** The conversation as it was said, page by page from its end. */
  messages(session: string, options?: PageOptions): Promise<MessagePage>
  /** Takes messages back or replaces them, all or nothing, as `rewrite` of {@link Service} does. */
  rewrite(
    session: string,
    rewrite: Rewrite,
    options?: { readonly idempotencyKey?: string },
  ): Promise<Rewritten>
  /** Starts the session over, without messages. The log keeps the earlier ones. */
  clear(session: string): Promise<void>
}

/** A memory: of `createMemory`, or the service for programs with Effect. */
export type AnyMemory = Service | { readonly neutral: Neutral }

/**
 * The neutral operations of a memory of either kind.
 *
 * @example
 * ```ts
 * import { Memory, Message } from "@memfold/core"
 *
 * const remember = (memory: Memory.AnyMemory, text: string) =>
 *   Memory.neutralOf(memory).append("chat-1", Message.user(text))
 * ```
 */
export const neutralOf = (memory: AnyMemory): Neutral => {
  if ("neutral" in memory) return memory.neutral
  return {
    append: (session, messages, options) => Effect.runPromise(memory.append(session, messages, options)),
    context: (session) => Effect.runPromise(memory.context(session)),
    messages: (session, options) => Effect.runPromise(memory.messages(session, options)),
    rewrite: (session, rewrite, options) => Effect.runPromise(memory.rewrite(session, rewrite, options)),
    clear: (session) => Effect.runPromise(memory.clear(session)),
  }
}
