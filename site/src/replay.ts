/** A conversation under a strategy, call by call: in Node for the pictures of the strategies, and in the browser on the first page. */
import {
  InMemoryEventLog,
  Memory,
  type Message,
  Policy,
  type Render,
  type Strategy,
  TokenCounter,
  withMargin,
} from "@memfold/core"
import { TranscriptClock, withoutPromptSize } from "@memfold/lab"
import { Cost, type Prices } from "@memfold/prices"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Layer } from "effect"

/** A call of the model: the tokens of its context, by what they are. */
export interface Call {
  /** The index of the message that it answered with. */
  readonly index: number
  readonly context: Render.Context
  readonly summary: number
  readonly messages: number
  /** How many compactions ended between the call before it and this one. */
  readonly compactions: number
  /** What all calls up to it cost, in dollars: prompts, and summaries as a model would write them; no answers. */
  readonly dollars: number
}

const promptOf = ({ messages }: Render.Context): ReadonlyArray<Cost.Sent> =>
  messages.map((message) => ({
    text: JSON.stringify([message.role, message.parts]),
    tokens: TokenCounter.ofMessage(TokenCounter.estimating, message),
  }))

/** Replays messages under a strategy. The same input always gives the same calls. */
export const replay = async (
  messages: ReadonlyArray<Message.Message>,
  strategy: Strategy.Strategy,
  prices: Prices.Prices,
): Promise<ReadonlyArray<Call>> => {
  const { clock, now, moveTo } = TranscriptClock.make(messages[0]?.time ?? 0)
  const inMemory = withMargin(strategy, TokenCounter.marginOf(TokenCounter.estimating))
  const calls: Array<Call> = []
  let spent = Cost.nothing
  const program = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    let compactions = 0
    const compact = Effect.map(memory.compact("s", { which: "due" }), (outcomes) => {
      for (const outcome of outcomes) {
        if (outcome._tag === "Committed" || outcome._tag === "Pruned") compactions++
        if (outcome._tag !== "Committed") continue
        const { tokens, tokensBefore, tokensAfter } = outcome.committed
        // What left the context is what a model would have read to write the summary.
        spent = Cost.summarizer(spent, { input: tokensBefore - tokensAfter + tokens, output: tokens })
      }
    })
    /** What a memory does by itself while nothing is said. */
    const waitUntil = (time: number) =>
      Effect.gen(function* () {
        for (;;) {
          const due = Policy.nextCheck(inMemory, yield* memory.state("s"), {
            now: now(),
            asksInContext: false,
          })
          if (due === null || due >= time || due <= now()) break
          moveTo(due)
          yield* compact
        }
        moveTo(time)
      })
    for (const [index, message] of messages.entries()) {
      if (message.time !== undefined && index > 0) yield* waitUntil(message.time)
      let origin = {}
      if (message.role === "assistant") {
        const context = yield* memory.context("s")
        const { layout, tokens, prefix } = context
        origin = { prefix }
        const summary = layout
          .filter(({ section }) => section === "summary")
          .reduce((sum, part) => sum + part.tokens, 0)
        spent = Cost.call(spent, { time: now(), prompt: promptOf(context) }, prices)
        const dollars = Cost.total(spent, prices).total
        calls.push({ index, context, summary, messages: tokens - summary, compactions, dollars })
        compactions = 0
      }
      yield* memory.append("s", withoutPromptSize(message), origin)
      yield* compact
    }
  }).pipe(Effect.withClock(clock))
  const live = Memory.layer({ strategy, compaction: { mode: "manual" } }).pipe(
    Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
  )
  await Effect.runPromise(program.pipe(Effect.provide(live)))
  return calls
}
