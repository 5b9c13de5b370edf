/** Memories for tests: a log of their own, a summarizer that says what it covers. */
import { Effect, Layer, type Scope } from "effect"
import {
  EchoSummarizer,
  EventLog,
  SummaryMode,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  Summarizer,
  Trigger,
} from "@memfold/core"

export { gated } from "@memfold/testing/fakes"

/** Writes nothing but the range it was asked to cover. */
export const echo: Summarizer.Service = EchoSummarizer.make()

/** Provides {@link echo} to a memory. */
export const echoing: Layer.Layer<Summarizer.Summarizer> = Layer.succeed(Summarizer.Summarizer, echo)

/** A memory over a log, with {@link echo}. It ends with the scope. */
export const memoryOver = (
  log: EventLog.Service,
  options: Memory.Options,
): Effect.Effect<Memory.Service, never, Scope.Scope> =>
  Memory.make(options).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, echo),
  )

/** Runs a program with a memory over a fresh log in memory. */
export const withMemory = (
  options: Memory.Options,
  summarizer: Summarizer.Service = echo,
): Layer.Layer<Memory.Memory | EventLog.EventLog | Summarizer.Summarizer> =>
  Memory.layer(options).pipe(
    Layer.provideMerge(InMemoryEventLog.layer),
    Layer.provideMerge(Layer.succeed(Summarizer.Summarizer, summarizer)),
  )

/** Compacts by fours and keeps two messages. */
export const pairs = Strategy.make({
  name: "pairs",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

/** Compacts four messages at a time into blocks, and keeps two. */
export const blocks = Strategy.make({
  name: "blocks",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(2),
  batchSize: { to: (view, tailFrom) => Math.min(tailFrom, view.coveredTo + 4) },
  summaryMode: SummaryMode.blocks,
})

/** Messages of a context without the ids of summaries: a fork, and what is committed again, has new ones. */
export const withoutSummaryIds = (messages: ReadonlyArray<Message.Message>) =>
  messages.map(({ metadata, ...message }) => {
    const { summaryId: _summaryId, ...memfold } = (metadata?.["memfold"] ?? {}) as Record<string, unknown>
    return { ...message, memfold }
  })

/** `count` messages of ordinary length, from the user and the assistant in turn. */
export const said = (count: number, from = 0) =>
  Array.from({ length: count }, (_, position) => {
    const text = `message number ${from + position} says something of ordinary length`
    return position % 2 === 0 ? Message.user(text) : Message.assistant(text)
  })
