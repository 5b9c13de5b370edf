/** What adapters use of a memory: its own messages, with Promises. */
import { Effect } from "effect"
import type { Service } from "./MemoryService.js"
import type { BranchOperations } from "./operations/BranchOperations.js"
import type { ConversationOperations } from "./operations/ConversationOperations.js"
import type { Promises } from "./operations/Face.js"
import { promised } from "./operations/promised.js"

/**
 * Appends, contexts, pages and changes of a memory in messages of `@memfold/core`, whatever its format is. A memory of
 * `createMemory` has them in `neutral`.
 */
export interface Neutral extends ConversationOperations<Promises>, BranchOperations<Promises> {}

/** A memory: of `createMemory`, or the service for programs with Effect. */
export type AnyMemory = Service | { readonly neutral: Neutral }

/** The names of the neutral operations. */
export const neutralNames = [
  "append",
  "context",
  "messages",
  "rewrite",
  "edit",
  "regenerate",
  "branches",
  "checkout",
  "clear",
] as const satisfies ReadonlyArray<keyof Neutral>

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
export const neutralOf = (memory: AnyMemory): Neutral =>
  "neutral" in memory
    ? memory.neutral
    : promised({ names: neutralNames, run: (use) => Effect.runPromise(use(memory)) })
