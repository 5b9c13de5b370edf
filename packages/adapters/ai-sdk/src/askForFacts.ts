/** Asks a model of the AI SDK for facts, as an object that fits their schema. */
import { generateText, jsonSchema, type LanguageModel, Output } from "ai"
import { Effect } from "effect"

/** A prompt for facts, as `modelExtractor` makes it. */
export interface FactsPrompt {
  readonly system: string
  readonly user: string
  readonly schema: object
}

/** The answer, and the tokens that it took if the provider has told them. */
export interface FactsAnswer {
  readonly answer: unknown
  readonly usage?: { readonly input: number; readonly output: number }
}

/**
 * Asks a model for facts by `Output.object`: the `ask` of `modelExtractor`.
 *
 * @param model - one of a provider's package, or its id for the AI Gateway
 * @param options - more options of `generateText`, such as `providerOptions`
 *
 * @example
 * ```ts
 * import { askForFacts } from "@memfold/ai-sdk"
 * import { createMemory, modelExtractor } from "memfold"
 *
 * const extractor = modelExtractor({ name: "gpt-6.2-mini", ask: askForFacts("openai/gpt-6.2-mini") })
 * const memory = createMemory({ store: "sqlite:chats.db", layers: { extractor } })
 * await memory.close()
 * ```
 */
export const askForFacts =
  (
    model: LanguageModel,
    options: Pick<Parameters<typeof generateText>[0], "providerOptions" | "temperature" | "headers"> = {},
  ) =>
  ({ system, user, schema }: FactsPrompt): Effect.Effect<FactsAnswer, unknown> =>
    Effect.tryPromise(async (abortSignal) => {
      const output = Output.object({ schema: jsonSchema(schema) })
      const answered = await generateText({
        ...options,
        model,
        system,
        prompt: user,
        maxRetries: 0,
        abortSignal,
        // The second one is the name in the version 5 of `ai`.
        ...({ output, experimental_output: output } as object),
      })
      const { output: answer, experimental_output: earlier } = answered as {
        readonly output?: unknown
        readonly experimental_output?: unknown
      }
      const { inputTokens: input, outputTokens: written } = answered.usage
      return {
        answer: answer ?? earlier,
        ...(input === undefined || written === undefined ? {} : { usage: { input, output: written } }),
      }
    })
