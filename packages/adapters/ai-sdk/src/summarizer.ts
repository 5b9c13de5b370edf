/** A summarizer from any model of the AI SDK. */
import { describeFailure } from "@memfold/codec"
import { InContext, type Message, Prompt, Summarizer } from "@memfold/core"
import { generateText, type LanguageModel, streamText, type ToolSet } from "ai"
import { Effect } from "effect"
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
export interface SummarizerOptions extends Prompt.Options {
  /** The model: one of a provider's package, or its id for the AI Gateway. */
  readonly model: LanguageModel
  /** The name that is recorded with each summary; the id of the model by default. */
  readonly name?: string
  /** The most tokens of input for one call; no limit by default. A larger input is divided into several calls. */
  readonly maxInputTokens?: number
  /**
   * Asks at the end of the context, which the provider then reads from its prompt cache, as long as that is alive. Give it
   * what your own calls have. Without it, each call is a prompt of its own.
   */
  readonly askInContext?: AskInContext
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
const inContext = (
  messages: ReadonlyArray<Message.Message>,
  { instructions, tools, major, streams: _streams, cacheMinutes: _minutes, ...options }: AskInContext,
) => {
  const context = encodeContext(messages, major === undefined ? {} : { major })
  const system = [instructions, context.system].filter((text) => text !== undefined && text !== "")
  return {
    ...options,
    ...(tools === undefined ? {} : { tools: described(tools) }),
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: context.messages,
  }
}

type Answer = Pick<Awaited<ReturnType<typeof generateText>>, "text" | "finishReason">

/** The whole answer of a stream. */
const streamed = async (options: Parameters<typeof streamText>[0]): Promise<Answer> => {
  let failure: unknown
  const answer = streamText({
    ...options,
    onError: ({ error }) => {
      failure ??= error
    },
  })
  try {
    return { text: await answer.text, finishReason: await answer.finishReason }
  } catch (error) {
    throw failure ?? error
  }
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
export const summarizer = ({
  model,
  name = typeof model === "string" ? model : model.modelId,
  maxInputTokens,
  askInContext,
  ...wording
}: SummarizerOptions): Summarizer.Service => ({
  name,
  ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
  asksInContext: askInContext !== undefined,
  summarize: (request) =>
    Effect.gen(function* () {
      const unavailable = (detail: string) =>
        new Summarizer.SummarizerError({ session: request.session, reason: "unavailable", detail })
      const asked = yield* InContext.now(request, wording, askInContext)
      const { text, finishReason } = yield* Effect.tryPromise({
        try: async (abortSignal): Promise<Answer> => {
          const common = { model, abortSignal, maxRetries: 0 }
          if (asked !== null && askInContext !== undefined) {
            const options = { ...common, ...inContext(asked.messages, askInContext) }
            return askInContext.streams === false ? await generateText(options) : await streamed(options)
          }
          const { system, user } = Prompt.forRequest(request, wording)
          return await generateText({ ...common, system, prompt: user })
        },
        catch: (error) => unavailable(describeFailure("the summary request", statusOf(error))),
      })
      if (finishReason === "error") {
        return yield* unavailable("the model broke off with an error; see the provider's own log")
      }
      const finish = finishOf(finishReason)
      return { text: text.trim(), ...(finish === undefined ? {} : { finish }) }
    }),
})
