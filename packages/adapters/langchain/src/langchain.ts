/** The door: a memory in the terms of LangChain. */
import type { Memory } from "@memfold/core"
import { type HistoryOptions, MemfoldChatMessageHistory } from "./history.js"
import { memfold, type MemfoldOptions } from "./middleware.js"

/** A memory in the terms of LangChain. */
export interface LangChainMemory {
  /** The middleware of an agent, which finds the session of each call: see {@link memfold}. */
  readonly middleware: (options?: Omit<MemfoldOptions, "memory">) => ReturnType<typeof memfold>
  /** One session, as a chat message history. */
  readonly session: (id: string, options?: Pick<HistoryOptions, "provider">) => MemfoldChatMessageHistory
}

/**
 * Connects a memory to LangChain.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 *
 * @example
 * ```ts
 * import { langchain } from "@memfold/langchain"
 * import { createAgent } from "langchain"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const agent = createAgent({ model: "openai:gpt-6.2-sol", middleware: [langchain(memory).middleware()] })
 * const history = langchain(memory).session("chat-1")
 * await memory.close()
 * ```
 */
export const langchain = (memory: Memory.AnyMemory): LangChainMemory => ({
  middleware: (options) => memfold({ ...options, memory }),
  session: (session, options) => new MemfoldChatMessageHistory({ ...options, memory, session }),
})
