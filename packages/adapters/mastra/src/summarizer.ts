/** A summarizer from an agent of Mastra. */
import { describeFailure } from "@memfold/codec"
import { Prompt, Summarizer } from "@memfold/core"
import type { Agent } from "@mastra/core/agent"
import { Effect } from "effect"

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends Prompt.Options {
  /** The agent. Give it `maxRetries: 0`, because the memory tries again itself, and no memory. */
  readonly agent: Pick<Agent, "generate" | "id">
  /** The name that is recorded with each summary; the id of the agent by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
}

/** Why an answer ended, in the words of Mastra. */
const reasons: Readonly<Record<string, Summarizer.Result["finish"]>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refused",
  // An agent that calls a tool, or that a processor stops, has not written a summary.
  "tool-calls": "refused",
  tripwire: "refused",
  suspended: "refused",
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
export const summarizer = ({
  agent,
  name = agent.id,
  maxInputTokens,
  ...wording
}: SummarizerOptions): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  summarize: (request) =>
    Effect.gen(function* () {
      const { system, user } = Prompt.forRequest(request, wording)
      const answer = yield* Effect.tryPromise({
        try: (abortSignal) => agent.generate(user, { instructions: system, abortSignal, toolChoice: "none" }),
        catch: (error) =>
          new Summarizer.SummarizerError({
            session: request.session,
            reason: "unavailable",
            detail: describeFailure("the summary request", error),
          }),
      })
      const finish = reasons[String(answer.finishReason)]
      return { text: answer.text.trim(), ...(finish === undefined ? {} : { finish }) }
    }),
})
