/** A summarizer from any chat model of LangChain. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages"
import { isFields, type ModelOptions, modelSummarizer } from "@memfold/codec"
import type { InContext, Message, Summarizer } from "@memfold/core"
import { encodeContext } from "./encode.js"
import { instructed } from "./instructed.js"
import { namesOf, recipientFor } from "./model.js"

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
export interface SummarizerOptions extends ModelOptions<AskInContext> {
  /** The chat model. Give it `maxRetries: 0`: the memory tries again itself. */
  readonly model: Pick<BaseChatModel, "invoke">
}

/** The context as an agent sends it, and the question at its end. */
const inContext = async (
  messages: ReadonlyArray<Message.Message>,
  { systemPrompt = "" }: AskInContext,
  model: SummarizerOptions["model"],
): Promise<ReadonlyArray<BaseMessage>> => {
  const recipient = await recipientFor(isFields(model) && "bound" in model ? model["bound"] : model)
  const context = encodeContext(messages, recipient)
  // As `createAgent` writes it.
  const own =
    typeof systemPrompt === "string"
      ? new SystemMessage(systemPrompt === "" ? "" : { content: [{ type: "text", text: systemPrompt }] })
      : systemPrompt
  const { systemMessage = own } = instructed(own, context)
  return [...(systemMessage.text === "" ? [] : [systemMessage]), ...context.messages]
}

/** Why an answer ended: each package of LangChain says it in the field of its provider. */
const reasonOf = ({ response_metadata: metadata = {} }: BaseMessage): unknown => {
  const { finish_reason, stop_reason, finishReason, incomplete_details: incomplete, status } = metadata
  const cut = isFields(incomplete) ? incomplete["reason"] : undefined
  return [finish_reason, stop_reason, finishReason, cut, status].find((one) => typeof one === "string")
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
export const summarizer = ({ model, ...options }: SummarizerOptions): Summarizer.Service => {
  const ask = async (messages: ReadonlyArray<BaseMessage>, signal: AbortSignal) => {
    const answer = await model.invoke([...messages], { ...apart, signal })
    return { text: answer.text, reason: reasonOf(answer) }
  }
  return modelSummarizer(options, {
    model: namesOf(model).model ?? "langchain",
    alone: ({ system, user }, signal) => ask([new SystemMessage(system), new HumanMessage(user)], signal),
    inContext: async (messages, asks, signal) => ask(await inContext(messages, asks, model), signal),
  })
}
