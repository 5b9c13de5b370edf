/** Summaries that a language model writes, also at the end of the context of a chat. */
import { type LanguageModel, Model, type Tool, type Toolkit } from "@effect/ai"
import type { InContext, Summarizer } from "@memfold/core"
import * as SummarizerAi from "@memfold/summarizer-ai"
import { Effect, type Layer, Option } from "effect"
import { encodeContext } from "./encode.js"
import { prepended } from "./prepended.js"

/**
 * What your chats send besides the messages of the session. Only with the same model, the same instructions and the same
 * toolkit does the provider read the context from its prompt cache.
 *
 * - `instructions`: as in the options of the chat
 * - `toolkit`: your tools, all of them. They are described to the model, and never run
 * - `cacheMinutes`: how long the provider keeps the cache; 5 by default
 */
export interface AskInContext extends InContext.Options {
  readonly instructions?: string
  readonly toolkit?: Toolkit.Any
}

/**
 * Options of the summarizer: the options of `@memfold/summarizer-ai`.
 *
 * - `askInContext`: asks at the end of the context of a chat, which the provider then reads from its prompt cache
 */
export interface SummarizerOptions extends Omit<SummarizerAi.Options, "askInContext"> {
  readonly askInContext?: AskInContext
}

/** The context as a chat sends it. */
const asChat = ({ instructions, toolkit, ...options }: AskInContext): SummarizerAi.AskInContext => ({
  ...options,
  ...(toolkit === undefined ? {} : { toolkit: toolkit as Toolkit.Toolkit<Record<string, Tool.Any>> }),
  prompt: (messages) =>
    Effect.map(Effect.serviceOption(Model.ProviderName), (name) => {
      const provider = Option.getOrUndefined(name)
      return prepended(instructions, encodeContext(messages, { provider }).prompt)
    }),
})

const optionsOf = ({ askInContext, ...options }: SummarizerOptions): SummarizerAi.Options => ({
  ...options,
  ...(askInContext === undefined ? {} : { askInContext: asChat(askInContext) }),
})

/**
 * A summarizer over the `LanguageModel` in the context.
 *
 * @param options - Its name, its limits, and whether it asks in context.
 *
 * @example
 * ```ts
 * import { summarizer } from "@memfold/effect-ai"
 *
 * const cached = summarizer({ name: "sonnet", askInContext: { instructions: "Be brief." } })
 * ```
 */
export const summarizer = (
  options: SummarizerOptions = {},
): Effect.Effect<Summarizer.Service, never, LanguageModel.LanguageModel> =>
  SummarizerAi.make(optionsOf(options))

/**
 * A layer with the summarizer of {@link summarizer}.
 *
 * @param options - Its name, its limits, and whether it asks in context.
 *
 * @example
 * ```ts
 * import { summarizerLayer } from "@memfold/effect-ai"
 *
 * export const summaries = summarizerLayer({ name: "sonnet", maxInputTokens: 100_000 })
 * ```
 */
export const summarizerLayer = (
  options: SummarizerOptions = {},
): Layer.Layer<Summarizer.Summarizer, never, LanguageModel.LanguageModel> =>
  SummarizerAi.layer(optionsOf(options))
