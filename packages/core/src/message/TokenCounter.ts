/**
 * How many tokens a text takes. The counter is a part that users swap: the default is an estimate that needs
 * no vocabulary; `@memfold/tokens-gpt` counts exactly for OpenAI's models.
 */
import { Context } from "effect"
import { estimate } from "./estimate.js"
import type { Message, Part } from "./Message.js"

/** Tokens that the chat format of a provider adds to every message (role and separators). */
export const messageOverhead = 4

/** Tokens charged for a file or image whose size in the prompt only its provider knows. */
export const fileTokens = 1_000

/**
 * The port: a name for the log, and a pure count of one text.
 *
 * It is called once for each message, when the message is appended, and the number is kept in the event. See
 * {@link guarded} for what happens when it throws.
 */
export interface Service {
  readonly name: string
  readonly count: (text: string) => number
}

/**
 * The token counter in use. Without one provided, the multilingual estimate.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const words = { name: "words", count: (text: string) => text.split(/\s+/).length }
 * const program = Effect.gen(function* () {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return counter.count("three little words")
 * })
 * console.log(Effect.runSync(program.pipe(Effect.provideService(TokenCounter.TokenCounter, words))))
 * ```
 */
export class TokenCounter extends Context.Reference<TokenCounter>()("@memfold/core/TokenCounter", {
  defaultValue: (): Service => estimating,
}) {}

/** The default counter: {@link estimate}, whose error is stated there. */
export const estimating: Service = { name: "estimate", count: estimate }

const countPart = (counter: Service, part: Part): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return counter.count(part.text)
    case "tool-call":
      return counter.count(part.name) + counter.count(part.arguments) + messageOverhead
    case "tool-result":
      return counter.count(part.output) + messageOverhead
    case "file":
      return fileTokens
    case "opaque":
      return counter.count(JSON.stringify(part.data) ?? "")
  }
}

/**
 * A counter that always answers with a whole number: a count that is not finite or negative, or that threw, is
 * replaced by the estimate. The engine guards the counter it is given once (law L8).
 */
export const guarded = (counter: Service): Service => ({
  name: counter.name,
  count: (text) => {
    try {
      const tokens = counter.count(text)
      return Number.isFinite(tokens) && tokens >= 0 ? Math.ceil(tokens) : estimate(text)
    } catch {
      return estimate(text)
    }
  },
})

/**
 * The tokens of a whole message: what the provider reported for it, where it did; otherwise the parts counted
 * by `counter`, plus {@link messageOverhead}.
 */
export const ofMessage = (counter: Service, message: Message): number => {
  if (message.usage !== undefined) return message.usage.output
  return message.parts.reduce((sum, part) => sum + countPart(counter, part), messageOverhead)
}
