/** The door: a memory in the terms of Effect AI. */
import type { Memory } from "@memfold/core"
import type { Effect } from "effect"
import * as MemfoldChat from "./MemfoldChat.js"

/** A memory in the terms of Effect AI. */
export interface EffectAiMemory {
  /** One session, as a chat: see {@link MemfoldChat.make}. */
  readonly session: (id: string, options?: MemfoldChat.OpenOptions) => Effect.Effect<MemfoldChat.Service>
}

/**
 * Connects a memory to Effect AI. With the memory in the context, `MemfoldChat.open` gives the same chats.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 *
 * @example
 * ```ts
 * import { effectAi } from "@memfold/effect-ai"
 * import { Effect } from "effect"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const program = Effect.flatMap(effectAi(memory).session("chat-1"), (chat) => chat.context)
 * ```
 */
export const effectAi = (memory: Memory.AnyMemory): EffectAiMemory => ({
  session: (id, options) => MemfoldChat.make(memory, id, options),
})
