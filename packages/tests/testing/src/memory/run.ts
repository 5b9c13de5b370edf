/**
 * Whole runs: a conversation is appended to a memory, and everything visible from outside is recorded. Laws are checked
 * on the recording.
 */
import { Chunk, Effect, Layer, Random, Stream } from "effect"
import {
  EchoSummarizer,
  EventLog,
  type EventCodec,
  InMemoryEventLog,
  Memory,
  type Message,
  type CompactionOutcome,
  type Render,
  Session,
  type Strategy,
  Summarizer,
  TokenCounter,
} from "@memfold/core"
import { quarter } from "../fakes/counter.js"
import { VirtualClock } from "./VirtualClock.js"

/** The state after an append, or after the compactions that followed it. */
export interface RunMoment {
  readonly settled: boolean
  readonly state: Session.SessionState
  readonly context: Render.Context
  /** The outcomes of the compactions. */
  readonly outcomes: ReadonlyArray<CompactionOutcome>
}

/** A run, from its first message to its last. */
export interface Run {
  readonly strategy: Strategy.Strategy
  readonly messages: ReadonlyArray<Message.Message>
  readonly events: ReadonlyArray<EventCodec.RecordedEvent>
  readonly moments: ReadonlyArray<RunMoment>
  readonly log: EventLog.Service
  /** The state as the memory had it in the end. */
  readonly state: Session.SessionState
  /** Asks a memory that is opened afterwards, over the same log and at the same time. */
  readonly reopened: <A, E>(ask: (memory: Memory.Service) => Effect.Effect<A, E>) => Promise<A>
}

/** The session that runs take place in. */
export const runSession = "s"

/**
 * Runs a conversation: each batch is appended at the time of its last message, then everything due is compacted. The log is
 * in memory, the time is virtual, and four characters count as a token.
 *
 * @param strategy the strategy of the memory
 * @param batches the messages, batch after batch
 * @param options `summarizer` writes the summaries; by default, a summary names the range that it covers
 * @returns the run; the promise is rejected with the error of an append, a compaction or a context
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { oneByOne, runOf } from "@memfold/testing"
 * import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const said = ["one", "two", "three"].map((text) => Message.user(text))
 * const { moments, state } = await runOf(RollingBuffer({ bufferSize: 1 }), oneByOne(said))
 * console.log(moments.length, state.coveredTo) // 6 2
 * ```
 */
export const runOf = (
  strategy: Strategy.Strategy,
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
  { summarizer = EchoSummarizer.make() }: { readonly summarizer?: Summarizer.Service } = {},
): Promise<Run> => {
  const time = new VirtualClock()
  const open = Memory.make({ strategy, compaction: { mode: "manual" } })
  const program = Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const memory = yield* open
    const seen: Array<Omit<RunMoment, "state"> & { readonly version: number }> = []
    const look = (settled: boolean, outcomes: ReadonlyArray<CompactionOutcome>) =>
      Effect.gen(function* () {
        const context = yield* memory.context(runSession)
        seen.push({ settled, outcomes, context, version: (yield* log.head(runSession))?.version ?? 0 })
      })
    for (const batch of batches) {
      time.now = Math.max(time.now, batch.at(-1)?.time ?? time.now)
      yield* memory.append(runSession, batch)
      yield* look(false, [])
      yield* look(true, yield* memory.compact(runSession, { which: "due" }))
    }
    const events = Chunk.toReadonlyArray(yield* Stream.runCollect(memory.events(runSession)))
    const states = [Session.empty(runSession)]
    for (const event of events) states.push(Session.evolve(states[states.length - 1]!, event))
    const moments = seen.map((moment): RunMoment => ({ ...moment, state: states[moment.version]! }))
    const state = yield* memory.state(runSession)
    const surroundings = yield* Effect.context<EventLog.EventLog | Summarizer.Summarizer>()
    const reopened: Run["reopened"] = (ask) =>
      Effect.flatMap(open, ask).pipe(
        Effect.scoped,
        Effect.provide(surroundings),
        Effect.withClock(time.clock),
        Effect.runPromise,
      )
    return { strategy, messages: batches.flat(), events, moments, log, state, reopened }
  })
  const services = Layer.mergeAll(
    InMemoryEventLog.layer,
    Layer.succeed(Summarizer.Summarizer, summarizer),
    Layer.succeed(TokenCounter.TokenCounter, quarter),
  )
  return program.pipe(
    Effect.scoped,
    Effect.provide(services),
    Effect.withClock(time.clock),
    Effect.withRandom(Random.make("runs")),
    Effect.runPromise,
  )
}

/** The compactions of a run: the event that started each, the state before, and the time. */
export const compactions = ({ events }: Run) =>
  events.flatMap(({ version, time, event }) =>
    event._tag === "CompactionStarted" ? [{ version, time, started: event }] : [],
  )
