/** Asks a model of the AI SDK for facts, as an object that fits their schema. */
import { InContext, type Message } from "@memfold/core"
import { generateText, jsonSchema, type LanguageModel, type LanguageModelUsage, Output } from "ai"
import { Clock, Effect } from "effect"
import { type AskInContext, generated, inContext, streamed } from "./summarizer.js"

/** A prompt for facts, as `modelExtractor` makes it. */
export interface FactsPrompt {
  readonly system: string
  readonly user: string
  readonly schema: object
  readonly inContext?: {
    readonly lastCallTime: number | null
    readonly messages: Effect.Effect<ReadonlyArray<Message.Message> | null>
  }
}

/** Options of `askForFacts`. */
export interface AskForFactsOptions extends Pick<
  Parameters<typeof generateText>[0],
  "providerOptions" | "temperature" | "headers"
> {
  /**
   * Asks at the end of the context, which the provider then reads from its prompt cache, as long as that is alive. Give it what your
   * own calls have, and the model that they ask. The answer is a text then: a schema of the answer would change what the
   * provider reads first. Without it, each call is a prompt of its own.
   */
  readonly askInContext?: AskInContext
}

/** The answer, and the tokens that it took if the provider has told them. */
export interface FactsAnswer {
  readonly answer: unknown
  readonly usage?: { readonly input: number; readonly output: number }
}

const usageOf = ({ inputTokens: input, outputTokens: output }: LanguageModelUsage) =>
  input === undefined || output === undefined ? {} : { usage: { input, output } }

/** The messages to ask at the end of, if the cache of the provider is alive. */
const messagesOf = (
  { inContext: context }: FactsPrompt,
  asks: AskInContext | undefined,
): Effect.Effect<ReadonlyArray<Message.Message> | null> =>
  Effect.flatMap(Clock.currentTimeMillis, (time) =>
    asks !== undefined && context !== undefined && InContext.isCached(context.lastCallTime, time, asks)
      ? context.messages
      : Effect.succeed(null),
  )

/**
 * Asks a model for facts by `Output.object`: the `ask` of `modelExtractor`.
 *
 * @param model - one of a provider's package, or its id for the AI Gateway
 * @param options - more options of `generateText`, such as `providerOptions`; `askInContext`: asks at the end of the session's context
 *
 * @example
 * ```ts
 * import { askForFacts } from "@memfold/ai-sdk"
 * import { createMemory, modelExtractor } from "memfold"
 *
 * const ask = askForFacts("openai/gpt-6.2-mini", { askInContext: { instructions: "Be brief." } })
 * const memory = createMemory({
 *   store: "sqlite:chats.db",
 *   layers: { extractor: modelExtractor({ name: "gpt-6.2-mini", ask }) },
 * })
 * await memory.close()
 * ```
 */
export const askForFacts =
  (model: LanguageModel, { askInContext: asks, ...options }: AskForFactsOptions = {}) =>
  (prompt: FactsPrompt): Effect.Effect<FactsAnswer, unknown> =>
    Effect.flatMap(messagesOf(prompt, asks), (messages) =>
      Effect.tryPromise(async (abortSignal): Promise<FactsAnswer> => {
        const common = { ...options, model, maxRetries: 0, abortSignal }
        if (messages !== null && asks !== undefined) {
          const ask = asks.streams === false ? generated : streamed
          const { text, usage } = await ask({ ...common, ...inContext(messages, asks) })
          return { answer: text, ...usageOf(usage) }
        }
        const output = Output.object({ schema: jsonSchema(prompt.schema) })
        const answered = await generateText({
          ...common,
          system: prompt.system,
          prompt: prompt.user,
          // The second one is the name in the version 5 of `ai`.
          ...({ output, experimental_output: output } as object),
        })
        const { output: answer, experimental_output: earlier } = answered as {
          readonly output?: unknown
          readonly experimental_output?: unknown
        }
        return { answer: answer ?? earlier, ...usageOf(answered.usage) }
      }),
    )
