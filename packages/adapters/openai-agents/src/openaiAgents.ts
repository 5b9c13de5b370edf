/** The door: a memory in the terms of the OpenAI Agents SDK. */
import type { Memory } from "@memfold/core"
import { MemfoldSession } from "./session.js"

/** A memory in the terms of the OpenAI Agents SDK. */
export interface OpenAIAgentsMemory {
  /** One session, for `run`. */
  readonly session: (id: string) => MemfoldSession
}

/**
 * Connects a memory to the OpenAI Agents SDK.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 *
 * @example
 * ```ts
 * import { openaiAgents } from "@memfold/openai-agents"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * console.log(await openaiAgents(memory).session("chat-1").history())
 * await memory.close()
 * ```
 */
export const openaiAgents = (memory: Memory.AnyMemory): OpenAIAgentsMemory => ({
  session: (id) => new MemfoldSession(memory, id),
})
