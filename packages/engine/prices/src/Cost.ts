/**
 * What a conversation costs at a provider that caches prompts. The functions are pure, so the same calls always cost the
 * same.
 *
 * The model: a provider keeps the prompt of a call for some minutes. Of the next prompt, the leading messages that equal the
 * cached ones are read from the cache (with some providers, also the start of the first message that differs); the rest is
 * written to it. Answers of the model are not counted: their cost does not depend on the prompt.
 */
import type { Prices } from "./Prices.js"

/** A message of a prompt: all that is sent of it as text, and its tokens. */
export interface Sent {
  readonly text: string
  readonly tokens: number
}

/** A call of a model. */
export interface Call {
  /** When it is made, in milliseconds since the epoch. */
  readonly time: number
  readonly prompt: ReadonlyArray<Sent>
}

/** The tokens of all calls so far, by how they are charged, and what the next call finds in the cache. */
export interface Spent {
  readonly calls: number
  /** Prompt tokens that were read from the cache, also by summarizers. */
  readonly cached: number
  /** Prompt tokens that were written to the cache. */
  readonly written: number
  /** What summarizers read as new, and what they wrote. */
  readonly summarizerInput: number
  readonly summarizerOutput: number
  /** The newest call; `null` before the first one. */
  readonly newest: Call | null
}

/** Nothing spent. */
export const nothing: Spent = {
  calls: 0,
  cached: 0,
  written: 0,
  summarizerInput: 0,
  summarizerOutput: 0,
  newest: null,
}

/** How many UTF-16 code units two texts share at their start. */
const sharedLength = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length
}

/** The tokens that the second prompt finds in a cache that has the first. */
const sharedTokens = (
  cached: ReadonlyArray<Sent>,
  prompt: ReadonlyArray<Sent>,
  unit: Prices["cacheUnit"],
): number => {
  let tokens = 0
  for (let at = 0; at < prompt.length; at++) {
    const [message, before] = [prompt[at]!, cached[at]]
    if (before?.text === message.text) {
      tokens += message.tokens
      continue
    }
    if (unit === "token" && before !== undefined) {
      const share = sharedLength(before.text, message.text) / message.text.length
      tokens += Math.floor(message.tokens * share)
    }
    break
  }
  return tokens
}

/** Whether the cache still has the prompt of the newest call at a time, in milliseconds since the epoch. */
export const isCached = (
  { newest }: Pick<Spent, "newest">,
  time: number,
  { cacheMinutes }: Pick<Prices, "cacheMinutes">,
): boolean => newest !== null && time - newest.time <= cacheMinutes * 60_000

/**
 * Adds a call of the model.
 *
 * @param spent - What was spent before.
 * @param call - The call; it comes after all others.
 * @param prices - How the cache works; what a call costs is asked for with {@link total}.
 *
 * @example
 * ```ts
 * import { Cost, Prices } from "@memfold/prices"
 *
 * const prices = Prices.presets["claude-sonnet-5.5"]
 * const first = { time: 0, prompt: [{ text: "Hello", tokens: 1_000 }] }
 * const second = { time: 60_000, prompt: [...first.prompt, { text: "And?", tokens: 200 }] }
 * const spent = Cost.call(Cost.call(Cost.nothing, first, prices), second, prices)
 * console.log(spent.cached, spent.written) // 1000 1200
 * ```
 */
export const call = (
  spent: Spent,
  call: Call,
  { cacheMinutes, cacheUnit }: Pick<Prices, "cacheMinutes" | "cacheUnit">,
): Spent => {
  const known = isCached(spent, call.time, { cacheMinutes }) ? (spent.newest?.prompt ?? []) : []
  const cached = sharedTokens(known, call.prompt, cacheUnit)
  const all = call.prompt.reduce((sum, { tokens }) => sum + tokens, 0)
  return {
    ...spent,
    calls: spent.calls + 1,
    cached: spent.cached + cached,
    written: spent.written + all - cached,
    newest: call,
  }
}

/**
 * Adds a call of a summarizer, with a prompt of its own that no cache has.
 *
 * @param spent - What was spent before.
 * @param tokens - The tokens of its prompt and of its answer.
 */
export const summarizer = (
  spent: Spent,
  { input, output }: { readonly input: number; readonly output: number },
): Spent => ({
  ...spent,
  summarizerInput: spent.summarizerInput + input,
  summarizerOutput: spent.summarizerOutput + output,
})

/**
 * Adds a call of a summarizer that asks in context: what the newest call has sent is read from the cache, and the rest is
 * new. The cache lives on from then.
 *
 * @param spent - What was spent before.
 * @param call - The call: the context, behind it the question, and the tokens of the answer. It comes after all others.
 * @param prices - How the cache works.
 *
 * @example
 * ```ts
 * import { Cost, Prices } from "@memfold/prices"
 *
 * const prices = Prices.presets["claude-sonnet-5.5"]
 * const prompt = [{ text: "Hello", tokens: 1_000 }]
 * const spent = Cost.call(Cost.nothing, { time: 0, prompt }, prices)
 * const question = { text: "Write a summary.", tokens: 500 }
 * const asked = Cost.summarizerInContext(
 *   spent,
 *   { time: 60_000, prompt: [...prompt, question], output: 100 },
 *   prices,
 * )
 * console.log(asked.cached, asked.summarizerInput) // 1000 500
 * ```
 */
export const summarizerInContext = (
  spent: Spent,
  { time, prompt, output }: Call & { readonly output: number },
  prices: Pick<Prices, "cacheMinutes" | "cacheUnit">,
): Spent => {
  const asked = call(spent, { time, prompt }, prices)
  const input = asked.written - spent.written
  return summarizer({ ...asked, calls: spent.calls, written: spent.written }, { input, output })
}

/** What was spent, in dollars, in parts. */
export interface Dollars {
  readonly cached: number
  readonly written: number
  /** What summarizers read and wrote, together. */
  readonly summarizer: number
  readonly summarizerInput: number
  readonly summarizerOutput: number
  readonly total: number
}

/** What was spent, in dollars. */
export const total = (spent: Omit<Spent, "calls" | "newest">, prices: Prices): Dollars => {
  const cached = (spent.cached * prices.cached) / 1e6
  const written = (spent.written * prices.cacheWrite) / 1e6
  const summarizer = (spent.summarizerInput * prices.input + spent.summarizerOutput * prices.output) / 1e6
  return {
    cached,
    written,
    summarizer,
    summarizerInput: (spent.summarizerInput * prices.input) / 1e6,
    summarizerOutput: (spent.summarizerOutput * prices.output) / 1e6,
    total: cached + written + summarizer,
  }
}

/**
 * The least tokens that are worth a compaction: the economic order quantity, with the cached tokens of each call as the
 * cost of storage. A compaction costs `(w − r)(S + K) + C` once, since the summary of `S` tokens and the `K` kept tokens
 * have to be written to the cache (`w`) where they, or more, would have been read from it (`r`). Each later call saves `r`
 * for each token that is gone. With `d` new tokens a call, the sum of both is least at
 *
 * `x* = √(2·d·((w − r)(S + K) + C) / r)`
 *
 * @param prices - Only how they relate to each other counts.
 * @param session - `perCall` (d): the new tokens of a call. `summary` (S) and `kept` (K): the tokens that a compaction
 *   leaves. `summarizerInput` and `summarizerOutput`: the tokens of the summarizer's call, for C. `summarizerCached`: the
 *   tokens that it reads from the cache, if it asks in context; 0 by default.
 * @returns a number of tokens; `Infinity` if cached tokens are free
 *
 * @example
 * ```ts
 * import { Cost, Prices } from "@memfold/prices"
 *
 * const session = { perCall: 300, summary: 2_000, kept: 2_000, summarizerInput: 8_000, summarizerOutput: 2_000 }
 * console.log(Math.round(Cost.breakEven(Prices.presets["claude-sonnet-5.5"], session))) // 16541
 * ```
 */
export const breakEven = (
  { input, cached, cacheWrite, output }: Prices,
  session: {
    readonly perCall: number
    readonly summary: number
    readonly kept: number
    readonly summarizerInput: number
    readonly summarizerOutput: number
    readonly summarizerCached?: number
  },
): number => {
  const { perCall, summary, kept, summarizerInput, summarizerOutput, summarizerCached = 0 } = session
  const written = Math.max(0, cacheWrite - cached) * (summary + kept)
  const once = written + input * summarizerInput + cached * summarizerCached + output * summarizerOutput
  return cached === 0 ? Number.POSITIVE_INFINITY : Math.sqrt((2 * perCall * once) / cached)
}
