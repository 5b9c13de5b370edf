/** The door: a memory in the terms of Mastra. */
import type { Memory } from "@memfold/core"
import type { MastraDBMessage } from "@mastra/core/agent"
import { contextOf, memfold, type MemfoldOptions, type MemfoldProcessors, messagesOf } from "./memfold.js"
import type { Target } from "./prompt.js"
import type { RenderedPrompt } from "./session.js"

/** One session, as Mastra's messages and as a prompt: see {@link messagesOf} and {@link contextOf}. */
export interface MastraThread {
  readonly messages: () => Promise<Array<MastraDBMessage>>
  readonly context: (target?: Target) => Promise<RenderedPrompt>
}

/** A memory in the terms of Mastra. */
export interface MastraMemory {
  /** The processors of an agent, which find the session of each call: see {@link memfold}. */
  readonly processors: (options?: Omit<MemfoldOptions, "memory">) => MemfoldProcessors
  readonly session: (id: string) => MastraThread
}

/**
 * Connects a memory to Mastra.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 *
 * @example
 * ```ts
 * import { Agent } from "@mastra/core/agent"
 * import { mastra } from "@memfold/mastra"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const model = "openai/gpt-6.2-sol"
 * const agent = new Agent({ id: "a", name: "A", instructions: "", model, ...mastra(memory).processors() })
 * console.log((await mastra(memory).session("chat-1").messages()).length)
 * await memory.close()
 * ```
 */
export const mastra = (memory: Memory.AnyMemory): MastraMemory => ({
  processors: (options) => memfold({ ...options, memory }),
  session: (id) => ({
    messages: () => messagesOf(memory, id),
    context: (target) => contextOf(memory, id, target),
  }),
})
