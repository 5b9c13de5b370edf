/** Summaries that are asked for at the end of a chat's context. */
import { Model, type Tool, type Toolkit } from "@effect/ai"
import type { InContext } from "@memfold/core"
import type { AskInContext } from "@memfold/summarizer-ai"
import { Effect, Option } from "effect"
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
export interface AskInContextOptions extends InContext.Options {
  readonly instructions?: string
  readonly toolkit?: Toolkit.Any
}

/**
 * Has a summarizer ask at the end of the context of a chat.
 *
 * @example
 * ```ts
 * import { askInContext, summarizer } from "@memfold/effect-ai"
 *
 * const cached = summarizer({ name: "sonnet", askInContext: askInContext({ instructions: "Be brief." }) })
 * ```
 */
export const askInContext = ({
  instructions,
  toolkit,
  ...options
}: AskInContextOptions = {}): AskInContext => ({
  ...options,
  ...(toolkit === undefined ? {} : { toolkit: toolkit as Toolkit.Toolkit<Record<string, Tool.Any>> }),
  prompt: (messages) =>
    Effect.map(Effect.serviceOption(Model.ProviderName), (name) => {
      const provider = Option.getOrUndefined(name)
      return prepended(instructions, encodeContext(messages, { provider }).prompt)
    }),
})
