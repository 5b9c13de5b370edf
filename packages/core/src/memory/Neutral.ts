/** What adapters use of a memory: its own messages, with Promises. */
import { Effect } from "effect"
import type { AnsweredContext } from "./context.js"
import type { Message } from "@memfold/message/Message"
import type { MessageName } from "../history/redact.js"
import type { Prefix } from "../session/prefix.js"
import type { BranchInfo, Edited } from "./branching.js"
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
  context(session: string): Promise<AnsweredContext>
  /** The conversation as it was said, page by page from its end. */
  messages(session: string, options?: PageOptions): Promise<MessagePage>
  /** Takes messages back or replaces them, all or nothing, as `rewrite` of {@link Service} does. */
  rewrite(
    session: string,
    rewrite: Rewrite,
    options?: { readonly idempotencyKey?: string; readonly last?: number },
  ): Promise<Rewritten>
  /** Goes on from an earlier place with other messages, as `edit` of {@link Service} does. */
  edit(
    session: string,
    from: MessageName,
    messages: Message | ReadonlyArray<Message>,
    options?: { readonly idempotencyKey?: string; readonly prefix?: Prefix },
  ): Promise<Edited>
  /** Goes back to before an answer, as `regenerate` of {@link Service} does. */
  regenerate(
    session: string,
    options?: { readonly from?: MessageName; readonly idempotencyKey?: string },
  ): Promise<Edited>
  /** The branch in force, and the branches that were left, newest first. */
  branches(session: string): Promise<ReadonlyArray<BranchInfo>>
  /** Returns to a branch that was left. */
  checkout(session: string, branch: number): Promise<Edited>
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
    edit: (session, from, messages, options) =>
      Effect.runPromise(memory.edit(session, from, messages, options)),
    regenerate: (session, options) => Effect.runPromise(memory.regenerate(session, options)),
    branches: (session) => Effect.runPromise(memory.branches(session)),
    checkout: (session, branch) => Effect.runPromise(memory.checkout(session, branch)),
    clear: (session) => Effect.runPromise(memory.clear(session)),
  }
}
