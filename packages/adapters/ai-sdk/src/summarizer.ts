/** A summarizer from any model of the AI SDK. */
import { describeFailure } from "@memfold/codec"
import { Prompt, Summarizer } from "@memfold/core"
import { generateText, type LanguageModel } from "ai"
import { Effect } from "effect"
import { statusOf } from "./failure.js"

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends Prompt.Options {
  /** The model: one of a provider's package, or its id for the AI Gateway. */
  readonly model: LanguageModel
  /** The name that is recorded with each summary; the id of the model by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
}

const finishOf = (reason: string): Summarizer.Result["finish"] => {
  if (reason === "stop" || reason === "length") return reason
  // A model that calls a tool has not written a summary.
  return reason === "content-filter" || reason === "tool-calls" ? "refused" : undefined
}

/**
 * A summarizer that asks a model of the AI SDK. If the call fails, so does the compaction: no message is lost, and it is
 * tried again later. Retries and time limits are settings of the memory.
 *
 * @param options the model, and what the prompt says
 *
 * @example
 * ```ts
 * import { summarizer } from "@memfold/ai-sdk"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "sqlite:chats.db",
 *   summarizer: [summarizer({ model: "openai/gpt-6.2-mini", maxInputTokens: 100_000 }), "extractive"],
 * })
 * await memory.close()
 * ```
 */
export const summarizer = ({
  model,
  name = typeof model === "string" ? model : model.modelId,
  maxInputTokens,
  ...wording
}: SummarizerOptions): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  summarize: (request) =>
    Effect.gen(function* () {
      const unavailable = (detail: string) =>
        new Summarizer.SummarizerError({ session: request.session, reason: "unavailable", detail })
      const { system, user } = Prompt.forRequest(request, wording)
      const { text, finishReason } = yield* Effect.tryPromise({
        try: (abortSignal) => generateText({ model, system, prompt: user, abortSignal, maxRetries: 0 }),
        catch: (error) => unavailable(describeFailure("the summary request", statusOf(error))),
      })
      if (finishReason === "error") {
        return yield* unavailable("the model broke off with an error; see the provider's own log")
      }
      const finish = finishOf(finishReason)
      return { text: text.trim(), ...(finish === undefined ? {} : { finish }) }
    }),
})
