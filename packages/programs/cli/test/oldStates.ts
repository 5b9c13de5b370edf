/** States of older programs, and what an import makes of them. */
import { EventLog, InMemoryEventLog, Memory, TokenCounter } from "@memfold/core"
import { echoing } from "@memfold/harness/engine"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Effect } from "effect"
import { expect } from "vitest"
import { eventsOf, type Imported } from "../src/import/events.js"
import type { OldState, OldSummary } from "../src/import/OldState.js"
import { write } from "../src/import/write.js"

const now = 1_800_000_000_000
/** How the states are imported. */
export const options = { session: "s", now, counter: TokenCounter.estimating }

/** The result of the import of a state. */
export const imported = (old: OldState): Imported => eventsOf(old, options)

/** A summary, active and of `[0, to)` unless said otherwise. */
export const summary = (id: string, to: number, rest: Partial<OldSummary> = {}): OldSummary => ({
  id,
  status: "active",
  text: `what ${id} says`,
  covers: to === 0 ? [] : [{ from: 0, to }],
  time: null,
  total: null,
  ...rest,
})

/** A summary of a range. */
export const block = (id: string, from: number, to: number, rest: Partial<OldSummary> = {}): OldSummary =>
  summary(id, to, { covers: [{ from, to }], ...rest })

/** Asks a memory over a log that has been imported into. */
export const withImport = <A, E>(
  { events }: Pick<Imported, "events">,
  use: (memory: Memory.Service, log: EventLog.Service) => Effect.Effect<A, E>,
  strategy = RollingBuffer(),
): Promise<A> =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    expect(yield* write(log, "s", "import-1", events)).toBe(true)
    const memory = yield* Memory.make({ strategy, compaction: { mode: "manual" } })
    return yield* use(memory, log)
  }).pipe(Effect.provide(echoing), Effect.scoped, Effect.provide(InMemoryEventLog.layer), Effect.runPromise)

/** The summaries, their statuses and ranges, as they were reported. */
export const became = ({ summaries }: Imported) =>
  summaries.map(({ id, is, range }) => [id, is, ...(range === null ? [] : [range.from, range.to])])

/** The segments of the active summary. */
export const segments = ({ state }: Imported) =>
  state.summary?.segments.map(({ kind, from, to, text }) => [kind, from, to, text])

/** How many messages were there at each commit. */
export const totals = ({ events }: Imported) => {
  let total = 0
  return events.flatMap(({ event }) => {
    if (event._tag === "MessageAppended") total++
    return event._tag === "SummaryCommitted" ? [[event.summary, total]] : []
  })
}
