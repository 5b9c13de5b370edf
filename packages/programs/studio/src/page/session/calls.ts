/** The calls of the model in a session, and what of each prompt a provider's cache could reuse. */
import { type Message, Render } from "@memfold/core"
import { Cost, type Prices } from "@memfold/prices"
import type { Timeline } from "./Timeline.js"

/** A call of the model: the answer at a version, and the prompt before it. */
export interface Call {
  /** The version of the answer. */
  readonly version: number
  readonly index: number
  /** The tokens of the prompt, and how many of them stood at the start of the prompt before, while a cache still had it. */
  readonly tokens: number
  readonly reused: number
  /** What the prompt cost, in dollars. */
  readonly dollars: number
}

const texts = new WeakMap<Message.Message, string>()

/** All that is sent of a message, as one text. */
const textOf = (message: Message.Message): string => {
  const known = texts.get(message)
  if (known !== undefined) return known
  const text = JSON.stringify([message.role, message.parts])
  texts.set(message, text)
  return text
}

/**
 * The messages of a context with their tokens: what a section takes, shared by its messages by their lengths where the messages are
 * not the log's own.
 */
const promptOf = (
  context: Render.Context,
  tokensAt: (index: number) => number | undefined,
): ReadonlyArray<Cost.Sent> => {
  const said = context.messages.map((message, at) => {
    const source = context.sources[at] ?? null
    return { text: textOf(message), tokens: source === null ? undefined : tokensAt(source) }
  })
  const counted = said.reduce((sum, { tokens = 0 }) => sum + tokens, 0)
  const rest = Math.max(context.tokens - counted, 0)
  const length = said.reduce((sum, { tokens, text }) => sum + (tokens === undefined ? text.length : 0), 0)
  return said.map(({ text, tokens }) => ({
    text,
    tokens: tokens ?? Math.round((rest * text.length) / (length || 1)),
  }))
}

/** Walks through the calls of a session, a few at a time, so that the page stays quick. */
export const callsOf = function* (timeline: Timeline, prices: Prices.Prices): Generator<Call, void> {
  let spent = Cost.nothing
  for (const { event, version, time } of timeline.events) {
    if (event._tag !== "MessageAppended" || event.message.role !== "assistant") continue
    const state = timeline.at(version - 1)
    if (state.total === 0) continue
    const pinned = new Map(state.pinned.map((entry) => [entry.index, entry.tokens]))
    const context = Render.render(state)
    const prompt = promptOf(context, (index) => pinned.get(index) ?? state.uncovered.at(index)?.tokens)
    const before = spent
    spent = Cost.call(spent, { time: event.message.time ?? time, prompt }, prices)
    const [cached, written] = [spent.cached - before.cached, spent.written - before.written]
    const dollars = (cached * prices.cached + written * prices.cacheWrite) / 1e6
    yield { version, index: state.total, tokens: cached + written, reused: cached, dollars }
  }
}
