/** Measures a session of 1,000,000 messages against one of 100: opening it, and its context. */
import { EventLog, type Event, Memory, Session, Wording } from "@memfold/core"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Exit, Scope } from "effect"
import { claim, event, median, milliseconds, told } from "./measure.js"

/** Opens the store with the session `s`. */
export type OpenLog = Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope>

/**
 * Writes one session of `size` messages, compacted as it grew, with the snapshots of the engine. It writes to the log
 * directly, in large batches.
 */
export const fillSession = (
  open: OpenLog,
  size: number,
  eventAt: (index: number) => Event.MessageAppended = event,
): Promise<void> =>
  Effect.gen(function* () {
    const log = yield* open
    const sessions = Session.make(log)
    const batch = Math.min(size, 2_000)
    for (let from = 0; from < size; from += batch) {
      const add = (events: ReadonlyArray<Event.Event>) =>
        sessions.transact("s", () => ({ events, answer: undefined }))
      yield* add(Array.from({ length: batch }, (_, position) => eventAt(from + position)))
      const to = from + batch - 40
      const coveredTo = from === 0 ? 0 : from - 40
      const names = { compaction: `k${from}`, summary: `m${from}` }
      yield* add([
        {
          _tag: "CompactionStarted",
          compaction: names.compaction,
          strategy: "sliding-window",
          reason: "backlog",
          from: coveredTo,
          to,
          tailFrom: to,
          parts: [{ kind: "history", from: coveredTo, to }],
          leaseUntil: 4_000_000_000_000,
        },
      ])
      yield* add([
        {
          _tag: "SummaryCommitted",
          ...names,
          coveredTo: to,
          carried: 0,
          segments: [{ kind: "history", from: 0, to, text: "What was said so far. ".repeat(40) }],
          wording: Wording.conversationSummary,
          summarizer: "bench",
          calls: 1,
          tokens: 220,
          tokensBefore: 24 * batch,
          tokensAfter: 1_180,
        },
        ...(from === 0
          ? []
          : [
              {
                _tag: "SummarySuperseded" as const,
                summary: `m${from - batch}`,
                by: names.summary,
              },
            ]),
      ])
    }
    const { coveredTo, total } = yield* sessions.load("s")
    if (total !== size || coveredTo !== size - 40) throw new Error("the session is not what it should be")
  }).pipe(Effect.scoped, Effect.runPromise)

/** A memory, and how to close it. */
const opened = async (open: OpenLog) => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* open
      return yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "manual" } }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
        Effect.provideService(EventLog.EventLog, log),
      )
    }).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Median milliseconds of opening a store for a first context, and of a context, for each of them in turn. */
const reads = async (stores: ReadonlyArray<OpenLog>) => {
  const times = stores.map(() => ({ open: [] as Array<number>, context: [] as Array<number> }))
  for (let turn = 0; turn < 120; turn++) {
    for (const [position, store] of stores.entries()) {
      let now: Awaited<ReturnType<typeof opened>> | undefined
      const open = await milliseconds(async () => {
        now = await opened(store)
        await Effect.runPromise(now.memory.context("s"))
      })
      const context = await milliseconds(() => Effect.runPromise(now!.memory.context("s")))
      await now?.close()
      if (turn < 20) continue
      times[position]?.open.push(open)
      times[position]?.context.push(context)
    }
  }
  return times.map(({ open, context }) => ({ open: median(open), context: median(context) }))
}

const sizes = [100, 1_000_000] as const

/** Fills two stores. Returns whether the large session costs about as much as the small one. */
export const large = async (
  name: string,
  open: (size: number, use: "fill" | "read") => OpenLog,
): Promise<boolean> => {
  console.log(`\n${name}: a session of 1,000,000 messages against one of 100`)
  for (const size of sizes) {
    const time = await milliseconds(() => fillSession(open(size, "fill"), size))
    if (size > 100) told("written", `${Math.round(time / 1_000)} s`)
  }
  const [few, many] = await reads(sizes.map((size) => open(size, "read")))
  if (few === undefined || many === undefined) throw new Error("the measurement did not finish")
  told("open, and a first context, 100 messages", `${few.open.toFixed(2)} ms`)
  told("context, 100 messages", `${few.context.toFixed(2)} ms`)
  const outcomes = [
    claim("open, and a first context", many.open / few.open, 1.5),
    claim("context", many.context / few.context, 1.5),
  ]
  return outcomes.every(Boolean)
}
