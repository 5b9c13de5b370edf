/** A summarizer from any chat model of LangChain. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { type AIMessageChunk, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages"
import { describeFailure, isFields } from "@memfold/codec"
import { InContext, type Message, Prompt, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { encodeContext } from "./encode.js"
import { instructed } from "./instructed.js"
import { namesOf, providerFor } from "./model.js"

/**
 * What your own calls send besides the messages of the session. Only with the same model, the same system prompt and the same
 * tools does the provider read the context from its prompt cache. Give `model` as your agent calls it, with the tools bound:
 * `model.bindTools(tools)`, and no other tool choice. They are described to the model, and never run.
 *
 * - `systemPrompt`: the `systemPrompt` of the agent
 * - `cacheMinutes`: how long the provider keeps the cache; 5 by default
 */
export interface AskInContext extends InContext.Options {
  readonly systemPrompt?: string | SystemMessage
}

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends Prompt.Options {
  /** The chat model. Give it `maxRetries: 0`: the memory tries again itself. */
  readonly model: Pick<BaseChatModel, "invoke">
  /** The name that is recorded with each summary; the name of the model by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
  /**
   * Asks at the end of the context, which the provider then reads from its prompt cache, as long as that is alive. Give it
   * what your agent has. Without it, each call is a prompt of its own.
   */
  readonly askInContext?: AskInContext
}

/** The context as an agent sends it, and the question at its end. */
const inContext = async (
  messages: ReadonlyArray<Message.Message>,
  { systemPrompt = "" }: AskInContext,
  model: SummarizerOptions["model"],
): Promise<ReadonlyArray<BaseMessage>> => {
  const provider = await providerFor(isFields(model) && "bound" in model ? model["bound"] : model)
  const context = encodeContext(messages, { provider })
  // As `createAgent` writes it.
  const own =
    typeof systemPrompt === "string"
      ? new SystemMessage(systemPrompt === "" ? "" : { content: [{ type: "text", text: systemPrompt }] })
      : systemPrompt
  const { systemMessage = own } = instructed(own, context)
  return [...(systemMessage.text === "" ? [] : [systemMessage]), ...context.messages]
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
 *
 * @example
 * ```ts
 * import { ChatAnthropic } from "@langchain/anthropic"
 * import type { StructuredTool } from "@langchain/core/tools"
 * import { summarizer } from "@memfold/langchain"
 *
 * declare const tools: Array<StructuredTool>
 * const model = new ChatAnthropic({ model: "claude-sonnet-5-5", apiKey: "sk-…", maxRetries: 0 })
 *
 * export const cached = summarizer({
 *   model: model.bindTools(tools),
 *   askInContext: { systemPrompt: "Be brief." },
 * })
 * ```
 */
export const summarizer = ({
  model,
  name = namesOf(model).model ?? "langchain",
  maxInputTokens,
  askInContext,
  ...wording
}: SummarizerOptions): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  asksInContext: askInContext !== undefined,
  summarize: (request) =>
    Effect.gen(function* () {
      const asked = yield* InContext.now(request, wording, askInContext)
      const answer: AIMessageChunk = yield* Effect.tryPromise({
        try: async (signal) => {
          if (asked !== null && askInContext !== undefined) {
            const messages = await inContext(asked.messages, askInContext, model)
            return model.invoke([...messages], { ...apart, signal })
          }
          const { system, user } = Prompt.forRequest(request, wording)
          return model.invoke([new SystemMessage(system), new HumanMessage(user)], { ...apart, signal })
        },
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
