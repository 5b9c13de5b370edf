/** A summarizer from any chat model of LangChain. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { type AIMessageChunk, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages"
import { describeFailure, isFields } from "@memfold/codec"
import { Prompt, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { namesOf } from "./model.js"

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends Prompt.Options {
  /** The chat model. Give it `maxRetries: 0`: the memory tries again itself. */
  readonly model: Pick<BaseChatModel, "invoke">
  /** The name that is recorded with each summary; the name of the model by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
}

/** Why an answer ended, by the words of the providers that LangChain has packages for. */
const reasons: Readonly<Record<string, Summarizer.Result["finish"]>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  completed: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_context_window_exceeded: "length",
  content_filter: "refused",
  refusal: "refused",
  safety: "refused",
  // A model that calls a tool has not written a summary.
  tool_calls: "refused",
  tool_use: "refused",
}

const finishOf = ({ response_metadata: metadata = {} }: BaseMessage): Summarizer.Result["finish"] => {
  const { finish_reason, stop_reason, finishReason, incomplete_details: incomplete, status } = metadata
  const cut = isFields(incomplete) ? incomplete["reason"] : undefined
  const said = [finish_reason, stop_reason, finishReason, cut, status].find((one) => typeof one === "string")
  return said === undefined ? undefined : reasons[String(said).toLowerCase()]
}

/** Keeps the call out of the traces and the streams of an agent in whose step the compaction runs. */
const apart = { callbacks: [], tags: ["nostream", "langsmith:nostream", "langsmith:hidden"] }

/**
 * A summarizer that asks a chat model of LangChain. If the call fails, so does the compaction: no message is lost, the error
 * is no summary, and it is tried again later. Retries and time limits are settings of the memory. What the model writes does
 * not show up in the stream of an agent.
 *
 * @param options the model, and what the prompt says
 *
 * @example
 * ```ts
 * import { ChatOpenAI } from "@langchain/openai"
 * import { summarizer } from "@memfold/langchain"
 * import { createMemory } from "memfold"
 *
 * const model = new ChatOpenAI({ model: "gpt-6.2-mini", apiKey: "sk-…", maxRetries: 0 })
 * const memory = createMemory({ store: "memory:", summarizer: [summarizer({ model }), "extractive"] })
 * await memory.close()
 * ```
 */
export const summarizer = ({
  model,
  name = namesOf(model).model ?? "langchain",
  maxInputTokens,
  ...wording
}: SummarizerOptions): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  summarize: (request) =>
    Effect.gen(function* () {
      const { system, user } = Prompt.forRequest(request, wording)
      const answer: AIMessageChunk = yield* Effect.tryPromise({
        try: (signal) =>
          model.invoke([new SystemMessage(system), new HumanMessage(user)], { ...apart, signal }),
        catch: (error) =>
          new Summarizer.SummarizerError({
            session: request.session,
            reason: "unavailable",
            detail: describeFailure("the summary request", error),
          }),
      })
      const finish = finishOf(answer)
      return { text: answer.text.trim(), ...(finish === undefined ? {} : { finish }) }
    }),
})
