/**
 * Counts the tokens of a text. You can replace the counter: the default is an estimate that needs no vocabulary;
 * `@memfold/tokens-gpt` counts exactly for OpenAI's models.
 */
import { Context } from "effect"
import { estimate, estimateInSteps } from "./estimate.js"
import { isBound, type Message, type Part } from "./Message.js"
import { sizeOf, textOf } from "./readItems.js"
import { remembered } from "./remembered.js"

export { byLine, estimate, growing } from "./estimate.js"

/** Tokens that a provider's chat format adds to every message, for its role and separators. */
export const messageOverhead = 4

/** Tokens counted for a file or an image that is no text: only the provider knows how many it takes. */
export const fileTokens = 1_000

/** Encrypted text has four bytes in a token, as text has; base64 writes three bytes in four characters. */
const encryptedCharacters = 16 / 3

const ofEncrypted = (characters: number): number => Math.ceil(characters / encryptedCharacters)

/**
 * A token counter. It counts messages when they are appended, and summaries when they are committed; the events store
 * the numbers. If it throws, the estimate is used instead (see {@link guarded}).
 */
export interface Service {
  readonly name: string
  /** The tokens of a text: a whole number, 0 or more. It must be a pure function. */
  readonly count: (text: string) => number
  /**
   * The number that {@link count} gives, in steps: it yields wherever other work of the process may run in between. A long text is counted so;
   * without it, in one go.
   */
  readonly countInSteps?: (text: string) => Generator<undefined, number>
  /**
   * How many times the count a text may really take, at least 1; 1 by default, for a counter that is exact. Where a count
   * is compared with a limit (triggers, tails, budgets, the window of a summarizer), it counts times the margin, so that
   * no window overflows. Counts that are stored and shown have no margin.
   */
  readonly margin?: number
}

/**
 * The margin of the estimate. Among the messages of recorded coding agents, one takes up to 1.28 times its estimate in
 * `o200k_base`; a stretch of 2,000 tokens, up to 1.05 times. Other vendors' vocabularies take up to 1.2 times as many.
 */
export const estimateMargin = 1.25

/**
 * The token counter in use. If you provide none, it is the multilingual estimate {@link estimating}.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
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

/** The default counter: an estimate from the characters of a text. `estimate.ts` has its measured error. */
export const estimating: Service = {
  name: "estimate",
  count: estimate,
  countInSteps: estimateInSteps,
  margin: estimateMargin,
}

const countPart = (counter: Service, part: Part): number => {
  switch (part.type) {
    case "text":
      return counter.count(part.text)
    case "reasoning":
      // The signature is the whole reasoning, encrypted; the text may be a summary of it, or empty.
      return Math.max(counter.count(part.text), ofEncrypted(part.signature?.length ?? 0))
    case "tool-call":
      return counter.count(part.name) + counter.count(part.arguments) + messageOverhead
    case "tool-result": {
      const { content = [{ type: "text", text: part.output }] } = part
      return content.reduce((sum, one) => sum + countPart(counter, one), messageOverhead)
    }
    case "file": {
      const text = textOf(part)
      return text === "" ? fileTokens : counter.count(text) + messageOverhead
    }
    case "opaque": {
      // Another form of a text that is counted already.
      if (part.replaces !== undefined) return 0
      const { text, files, encrypted } = sizeOf(part)
      return counter.count(text) + files * fileTokens + ofEncrypted(encrypted)
    }
  }
}

/**
 * Wraps a counter so that it never throws and always returns a whole number, 0 or more. The estimate replaces a count
 * that is not finite or is negative, and a count that threw. The engine wraps the counter that you provide, because a
 * failing counter must not fail an append (law L8).
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
 *
 * const broken = { name: "broken", count: () => Number.NaN }
 * console.log(TokenCounter.guarded(broken).count("How many tokens is this?")) // the estimate
 * ```
 */
export const guarded = (counter: Service): Service => {
  const { countInSteps } = counter
  const sound = (tokens: number, text: string): number =>
    Number.isFinite(tokens) && tokens >= 0 ? Math.ceil(tokens) : estimate(text)
  return {
    name: counter.name,
    margin: marginOf(counter),
    count: (text) => {
      try {
        return sound(counter.count(text), text)
      } catch {
        return estimate(text)
      }
    },
    ...(countInSteps && {
      *countInSteps(text) {
        try {
          return sound(yield* countInSteps(text), text)
        } catch {
          return estimate(text)
        }
      },
    }),
  }
}

/**
 * A counter that keeps its newest counts, for work that asks for the tokens of a text many times, such as a replay.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
 *
 * const counter = TokenCounter.remembering(TokenCounter.estimating)
 * console.log(counter.count("Is it raining in Graz?"))
 * ```
 */
export const remembering = (counter: Service): Service => ({ ...counter, count: remembered(counter.count) })

/** The margin of a counter: 1 where it has none, or none that makes sense. */
export const marginOf = ({ margin = 1 }: Pick<Service, "margin">): number =>
  Number.isFinite(margin) && margin > 1 ? margin : 1

/**
 * The tokens of a message: `usage.output` if the provider reported it, otherwise the tokens of its parts plus
 * {@link messageOverhead}.
 *
 * @example
 * ```ts
 * import { Message, TokenCounter } from "@memfold/message"
 *
 * console.log(TokenCounter.ofMessage(TokenCounter.estimating, Message.user("Is it raining in Graz?")))
 * ```
 */
export const ofMessage = (counter: Service, message: Message): number => {
  if (message.usage !== undefined) return message.usage.output
  return message.parts.reduce((sum, part) => sum + countPart(counter, part), messageOverhead)
}

/**
 * The tokens of the bound parts of a message (see `Message.isBound`); `undefined` if it has none. At most the tokens of
 * the message.
 *
 * @example
 * ```ts
 * import { type Message, TokenCounter } from "@memfold/message"
 *
 * const answer: Message.Message = {
 *   role: "assistant",
 *   parts: [
 *     { type: "reasoning", text: "Look out of the window.", signature: "EqQB" },
 *     { type: "text", text: "It rains." },
 *   ],
 * }
 * console.log(TokenCounter.ofBoundParts(TokenCounter.estimating, answer))
 * ```
 */
export const ofBoundParts = (counter: Service, message: Message): number | undefined => {
  const rest = message.parts.filter((part) => !isBound(part))
  if (rest.length === message.parts.length) return undefined
  const { usage: _usage, ...uncounted } = message
  return Math.max(ofMessage(counter, message) - ofMessage(counter, { ...uncounted, parts: rest }), 0)
}
