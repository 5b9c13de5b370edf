/** A summarizer from any model of the AI SDK. */
import { type Answer, type ModelOptions, modelSummarizer } from "@memfold/codec"
import type { InContext, Message, Summarizer } from "@memfold/core"
import { generateText, type LanguageModel, type LanguageModelUsage, streamText, type ToolSet } from "ai"
import { encodeContext, type Major } from "./encode.js"
import { statusOf } from "./failure.js"

/** The options of `generateText`. */
export type CallOptions = Parameters<typeof generateText>[0]

/**
 * What your own calls send besides the messages of the session. Only with the same model, the same instructions and the same
 * tools does the provider read the context from its prompt cache.
 *
 * - `instructions`: what stands before the system messages of the session: `instructions` of the session, or of the agent
 * - `tools`: your tools, all of them and in the same order. They are described to the model, and never run
 * - `toolChoice`, `providerOptions`: as in your calls. At Anthropic, another tool choice, thinking budget or effort makes the
 *   cache of the messages useless
 * - `streams`: whether your calls stream (`streamText`, `stream` of an agent), as they do by default: the package for Anthropic
 *   describes the tools in another way then
 * - `major`: the major version of `ai`; 7 by default
 * - `cacheMinutes`: how long the provider keeps the cache; 5 by default
 */
export interface AskInContext
  extends InContext.Options, Pick<CallOptions, "tools" | "toolChoice" | "providerOptions"> {
  readonly instructions?: string
  readonly streams?: boolean
  readonly major?: Major
}

/** Options of {@link summarizer}. */
export interface SummarizerOptions extends ModelOptions<AskInContext> {
  /** The model: one of a provider's package, or its id for the AI Gateway. */
  readonly model: LanguageModel
}

/** The tools as they are described to a model; a model that calls one has not written a summary. */
const described = (tools: ToolSet): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const { execute: _execute, onInputAvailable: _available, ...rest } = tool
      return [name, rest as typeof tool]
    }),
  )

/** The options of a call that asks in context. */
export const inContext = (
  messages: ReadonlyArray<Message.Message>,
  { instructions, tools, major, streams: _streams, cacheMinutes: _minutes, ...options }: AskInContext,
): Pick<AskInContext, "tools" | "toolChoice" | "providerOptions"> & {
  readonly system?: string
  readonly messages: ReturnType<typeof encodeContext>["messages"]
} => {
  const context = encodeContext(messages, major === undefined ? {} : { major })
  const system = [instructions, context.system].filter((text) => text !== undefined && text !== "")
  return {
    ...options,
    ...(tools === undefined ? {} : { tools: described(tools) }),
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: context.messages,
  }
}

/** An answer with the tokens that it took. */
interface Counted extends Answer {
  readonly usage: LanguageModelUsage
}

/** The whole answer of a stream. */
export const streamed = async (options: Parameters<typeof streamText>[0]): Promise<Counted> => {
  let failure: unknown
  const answer = streamText({
    ...options,
    onError: ({ error }) => {
      failure ??= error
    },
  })
  try {
    return { text: await answer.text, reason: await answer.finishReason, usage: await answer.usage }
  } catch (error) {
    throw failure ?? error
  }
}

/** The answer of a call that does not stream. */
export const generated = async (options: CallOptions): Promise<Counted> => {
  const { text, finishReason: reason, usage } = await generateText(options)
  return { text, reason, usage }
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
 *
 * @example
 * ```ts
 * import { summarizer } from "@memfold/ai-sdk"
 * import type { LanguageModel, ToolSet } from "ai"
 *
 * declare const model: LanguageModel
 * declare const tools: ToolSet
 *
 * export const cached = summarizer({ model, askInContext: { tools, instructions: "Be brief." } })
 * ```
 */
export const summarizer = ({ model, ...options }: SummarizerOptions): Summarizer.Service => {
  const common = (abortSignal: AbortSignal) => ({ model, abortSignal, maxRetries: 0 })
  return modelSummarizer(options, {
    model: typeof model === "string" ? model : model.modelId,
    alone: ({ system, user }, signal) => generated({ ...common(signal), system, prompt: user }),
    inContext: (messages, asks, signal) =>
      (asks.streams === false ? generated : streamed)({ ...common(signal), ...inContext(messages, asks) }),
    causeOf: statusOf,
  })
}
