/** A conversation under a strategy as curves: the size of the context, the cost, and what of needed identifiers was there. */
import type { Strategy, Summarizer } from "@memfold/core"
import { Cost, type Prices } from "@memfold/prices"
import type { Conversation } from "./Conversation.js"
import { neededIn } from "./identifiers.js"
import { replay } from "./replay.js"

/** A conversation under a strategy, call by call. */
export interface Curve {
  readonly compactions: number
  /** Compactions that failed, and why the first of them did. */
  readonly failures: number
  readonly firstFailure: string | null
  /** A point for each call of the model, in order. */
  readonly points: ReadonlyArray<{
    /** The index of the message that the call answered with. */
    readonly index: number
    /** The tokens of its context. */
    readonly tokens: number
    /** What all calls up to it cost, in dollars: its own prompt and those of the summarizer included, its answer not. */
    readonly dollars: number
    /** The share of the prompts up to here that the provider read from its cache, from 0 to 1. */
    readonly cached: number
    /** How many identifiers were needed up to here that had been said long before, and how many of them were in the context. */
    readonly needed: number
    readonly there: number
    /** How many compactions there were. */
    readonly compactions: number
  }>
}

/**
 * Replays a conversation under a strategy, and says after each call what it came to. The same input always gives the same curve.
 *
 * @param conversation - the messages
 * @param strategy - the strategy
 * @param options - `prices`: what tokens cost. `summarizer`: the extractive summarizer by default; its calls are charged like calls of
 *   a model. `signal`: ends the replay early; the promise rejects with its reason. `onMessage`: called after each message, with how
 *   many are replayed
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { curveOf, fullHistory, ofTranscript } from "@memfold/lab"
 * import { Prices } from "@memfold/prices"
 *
 * const chat = ofTranscript("chat", [Message.user("Hello"), Message.assistant("Hello to you")])
 * const { points } = await curveOf(chat, fullHistory, { prices: Prices.presets["claude-sonnet-5.5"] })
 * console.log(points.map(({ tokens, dollars }) => [tokens, dollars]))
 * ```
 */
export const curveOf = async (
  conversation: Conversation,
  strategy: Strategy.Strategy,
  {
    prices,
    ...options
  }: {
    readonly prices: Prices.Prices
    readonly summarizer?: Summarizer.Service
    readonly signal?: AbortSignal
    readonly onMessage?: (done: number) => void
  },
): Promise<Curve> => {
  const needed = neededIn(conversation.messages)
  const replayed = await replay({ ...conversation, questions: [], ends: [] }, strategy, {
    ...options,
    prices: [prices],
    prepared: { asked: [], found: [], answers: [], needed },
    curve: true,
  })
  const { compactions, failures, firstFailure, curve = [] } = replayed
  return {
    compactions,
    failures,
    firstFailure,
    points: curve.map(({ spent, ...point }) => {
      const [own] = spent
      const prompt = own === undefined ? 0 : own.cached + own.written
      return {
        ...point,
        dollars: own === undefined ? 0 : Cost.total(own, prices).total,
        cached: own === undefined || prompt === 0 ? 0 : own.cached / prompt,
      }
    }),
  }
}
