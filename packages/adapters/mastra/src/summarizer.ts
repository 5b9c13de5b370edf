/** A summarizer from an agent of Mastra. */
import { type ModelOptions, modelSummarizer } from "@memfold/codec"
import type { Summarizer } from "@memfold/core"
import type { Agent } from "@mastra/core/agent"

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends Omit<ModelOptions<object>, "askInContext"> {
  /** The agent. Give it `maxRetries: 0`, because the memory tries again itself, and no memory. */
  readonly agent: Pick<Agent, "generate" | "id">
}

/**
 * A summarizer that asks an agent of Mastra. If the call fails, so does the compaction: no message is lost, the error is no
 * summary, and it is tried again later. Retries and time limits are settings of the memory.
 *
 * @param options the agent, and what the prompt says
 *
 * @example
 * ```ts
 * import { Agent } from "@mastra/core/agent"
 * import { summarizer } from "@memfold/mastra"
 * import { createMemory } from "memfold"
 *
 * const model = "openai/gpt-6.2-mini"
 * const agent = new Agent({ id: "summarizer", name: "Summarizer", instructions: "", model, maxRetries: 0 })
 * const memory = createMemory({ store: "memory:", summarizer: [summarizer({ agent }), "extractive"] })
 * await memory.close()
 * ```
 */
export const summarizer = ({ agent, ...options }: SummarizerOptions): Summarizer.Service =>
  modelSummarizer(options, {
    model: agent.id,
    alone: async ({ system, user }, abortSignal) => {
      const call = { instructions: system, abortSignal, toolChoice: "none" } as const
      const { text, finishReason: reason } = await agent.generate(user, call)
      return { text, reason }
    },
  })
