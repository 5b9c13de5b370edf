/**
 * Counts the tokens of a text. You can replace the counter: the default is an estimate that needs no vocabulary;
 * `@memfold/tokens-gpt` counts exactly for OpenAI's models.
 */
import { Context } from "effect"
import { estimate } from "./estimate.js"
import type { Message, Part } from "./Message.js"

/** Tokens that a provider's chat format adds to every message, for its role and separators. */
export const messageOverhead = 4

/** Tokens counted for a file or an image: only the provider knows how many it takes. */
export const fileTokens = 1_000

/**
 * A token counter. It counts messages when they are appended, and summaries when they are committed; the events store
 * the numbers. If it throws, the estimate is used instead (see {@link guarded}).
 */
export interface Service {
  /** Names the counter. */
  readonly name: string
  /** The tokens of a text: a whole number, 0 or more. It must be a pure function. */
  readonly count: (text: string) => number
}

/**
 * The token counter in use. If you provide none, it is the multilingual estimate {@link estimating}.
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

/** The default counter: an estimate from the characters of a text. See {@link estimate} for its measured error. */
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
 * Wraps a counter so that it never throws and always returns a whole number, 0 or more. The estimate replaces a count
 * that is not finite or is negative, and a count that threw. The engine wraps the counter that you provide, because a
 * failing counter must not fail an append (law L8).
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/core"
 *
 * const broken = { name: "broken", count: () => Number.NaN }
 * console.log(TokenCounter.guarded(broken).count("How many tokens is this?")) // the estimate
 * ```
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
 * The tokens of a message: `usage.output` if the provider reported it, otherwise the tokens of its parts plus
 * {@link messageOverhead}.
 *
 * @example
 * ```ts
 * import { Message, TokenCounter } from "@memfold/core"
 *
 * console.log(TokenCounter.ofMessage(TokenCounter.estimating, Message.user("Is it raining in Graz?")))
 * ```
 */
export const ofMessage = (counter: Service, message: Message): number => {
  if (message.usage !== undefined) return message.usage.output
  return message.parts.reduce((sum, part) => sum + countPart(counter, part), messageOverhead)
}
