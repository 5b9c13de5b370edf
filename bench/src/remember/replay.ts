/** A conversation under a strategy: what its calls cost, and what stands in its contexts when a question is asked. */
import {
  Cost,
  CurrentSummarizer,
  ExtractiveSummarizer,
  InMemoryEventLog,
  Memory,
  Message,
  Policy,
  type Prices,
  Prompt,
  type Render,
  type Strategy,
  type Summarizer,
  TokenCounter,
} from "@memfold/core"
import { Clock, Effect, Layer } from "effect"
import type { Conversation, Question } from "./locomo.js"

/** What is asked for besides the cost. */
export interface ReplayOptions {
  /** The tokens that each context may recall by itself; 0 for none. */
  readonly automatic: number
  /** The questions are asked after each of these numbers of messages, if their evidence has been said. */
  readonly asked: ReadonlyArray<number>
  /** What a search on demand finds for a question after so many messages. */
  readonly found?: (question: Question, total: number) => string
}

/** What a replay came to. The shares of evidence are sums over `questions`, each from 0 to 1. */
export interface Replayed {
  readonly spent: ReadonlyArray<Cost.Spent>
  readonly compactions: number
  readonly questions: number
  /** The tokens of the contexts, summed over the questions. */
  readonly tokens: number
  /** The tokens of all calls. */
  readonly sent: number
  readonly said: number
  readonly newest: number
  readonly found: number
}

/** A clock that shows the time of the conversation. */
const clockAt = (start: number) => {
  const real = Clock.make()
  let now = start
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    sleep: (duration) => real.sleep(duration),
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(now) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
  }
  return { clock, now: () => now, moveTo: (time: number) => (now = Math.max(now, time)) }
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/** The sentences of a text. */
export const sentencesOf = (text: string): ReadonlyArray<string> =>
  Array.from(sentences.segment(text), ({ segment }) => segment.trim()).filter((one) => one !== "")

/** The share of these sentences that a text has word for word. */
const shareSaid = (said: string, wanted: ReadonlyArray<string>): number =>
  wanted.filter((sentence) => said.includes(sentence)).length / wanted.length

const textOf = (messages: ReadonlyArray<Message.Message>): string => messages.map(Message.text).join("\n")

const counter = TokenCounter.estimating

/** The newest messages that fit into a number of tokens. */
const newestWithin = (messages: ReadonlyArray<Message.Message>, tokens: number): string => {
  let from = messages.length
  for (let left = tokens; from > 0; from--) {
    left -= TokenCounter.ofMessage(counter, messages[from - 1]!)
    if (left < 0) break
  }
  return textOf(messages.slice(from))
}

/** A summarizer whose calls are counted as those of a model: its prompt, and the text that it wrote. */
const counted = (count: (tokens: { readonly input: number; readonly output: number }) => void) => {
  const extractive = ExtractiveSummarizer.make()
  const summarizer: Summarizer.Service = {
    ...extractive,
    summarize: (request) =>
      Effect.tap(extractive.summarize(request), ({ text }) =>
        Effect.sync(() => {
          const { system, user } = Prompt.forRequest(request)
          count({ input: counter.count(system) + counter.count(user), output: counter.count(text) })
        }),
      ),
  }
  return summarizer
}

/** The messages of a prompt, as the cost of a call needs them. */
const sentOf = ({ messages }: Render.Context): ReadonlyArray<Cost.Sent> =>
  messages.map(({ role, parts, ...message }) => ({
    text: `${role}: ${Message.text({ role, parts, ...message })}`,
    tokens: TokenCounter.ofMessage(counter, { role, parts, ...message }),
  }))

/** Replays a conversation; what it costs is counted by each of the prices. */
export const replay = async (
  { messages, questions }: Conversation,
  strategy: Strategy.Strategy,
  prices: ReadonlyArray<Prices.Prices>,
  { automatic, asked, found }: ReplayOptions,
): Promise<Replayed> => {
  let spent = prices.map((): Cost.Spent => Cost.nothing)
  const sums = {
    compactions: 0,
    questions: 0,
    tokens: 0,
    sent: 0,
    said: 0,
    newest: 0,
    found: 0,
  }
  const { clock, now, moveTo } = clockAt(messages[0]?.time ?? 0)
  const wantedOf = ({ evidence }: Question) =>
    evidence.flatMap((index) => sentencesOf(Message.text(messages[index]!)))

  const program = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const compact = Effect.map(memory.compactDue("s"), (outcomes) => {
      sums.compactions += outcomes.filter(({ _tag }) => _tag === "Committed" || _tag === "Pruned").length
    })
    /** What a memory does by itself when nothing is said for a while. */
    const waitUntil = (time: number) =>
      Effect.gen(function* () {
        for (let checks = 0; checks < 8; checks++) {
          const due = Policy.nextCheck(strategy, yield* memory.state("s"), { now: now() })
          if (due === null || due >= time) break
          moveTo(due)
          yield* compact
        }
        moveTo(time)
      })
    const ask = (asking: ReadonlyArray<Question>, total: number) =>
      Effect.gen(function* () {
        const context = yield* memory.context("s")
        const shown = textOf(context.messages)
        const last = newestWithin(messages.slice(0, total), context.tokens)
        for (const question of asking) {
          const wanted = wantedOf(question)
          sums.questions++
          sums.tokens += context.tokens
          sums.said += shareSaid(shown, wanted)
          sums.newest += shareSaid(last, wanted)
          if (found !== undefined) sums.found += shareSaid(`${shown}\n${found(question, total)}`, wanted)
        }
      })

    for (const [index, message] of messages.entries()) {
      if (message.time !== undefined && index > 0) yield* waitUntil(message.time)
      if (message.role === "assistant") {
        const context = yield* memory.context("s", automatic === 0 ? {} : { recall: { tokens: automatic } })
        const call = { time: now(), prompt: sentOf(context) }
        sums.sent += context.tokens
        spent = spent.map((before, at) => Cost.call(before, call, prices[at]!))
      }
      yield* memory.append("s", message)
      yield* compact
      const total = index + 1
      if (asked.includes(total))
        yield* ask(
          questions.filter(({ evidence }) => evidence.every((at) => at < total)),
          total,
        )
    }
  }).pipe(Effect.withClock(clock))

  const summarizer = counted((tokens) => {
    spent = spent.map((before) => Cost.summarizer(before, tokens))
  })
  const live = Memory.layer({ strategy, compaction: "manual" }).pipe(
    Layer.provide(InMemoryEventLog.layer),
    Layer.provide(Layer.succeed(CurrentSummarizer, summarizer)),
  )
  await Effect.runPromise(program.pipe(Effect.provide(live)))
  return { spent, ...sums }
}
