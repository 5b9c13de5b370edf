/**
 * Every summary a session ever had, with the status each has now (reference design 4). A fold of its own: the state
 * of a session keeps the active one alone.
 */
import { Effect, Stream } from "effect"
import type { CompactionStarted } from "../event/Event.js"
import type { Recorded } from "../event/EventCodec.js"
import { body, type Wording } from "../summary/Wording.js"
import type { Voids } from "./evolve.js"
import { type Files, fits, type Segment } from "../summary/Summary.js"

/**
 * - `active`: shown in contexts; at most one of a session
 * - `superseded`: a newer one took its place, or the session was cleared; kept to be read
 * - `invalid`: it could not be used, and counts as never made
 */
export type SummaryStatus = "active" | "superseded" | "invalid"

/** A summary as it was committed, and what has become of it. */
export interface SummaryRecord {
  readonly id: string
  /** The event that committed it. */
  readonly seq: number
  readonly status: SummaryStatus
  /** The summary that took its place. */
  readonly supersededBy: string | null
  /** It covers the messages `[0, through)` since the start or the last clear. */
  readonly through: number
  /** How many messages there were when it was committed. */
  readonly total: number
  readonly segments: ReadonlyArray<Segment>
  readonly files: Files
  readonly wording: Wording
  /** The text without its heading; empty if it cannot be read any more. */
  readonly text: string
  readonly tokens: number
  /** When it was committed, in milliseconds since the epoch. */
  readonly at: number
}

interface History {
  readonly records: ReadonlyArray<SummaryRecord>
  readonly running: CompactionStarted | null
  readonly total: number
}

const nothing: History = { records: [], running: null, total: 0 }

/** The one that is active now. */
const activeOf = ({ records }: History) => records.findLast(({ status }) => status === "active")

const withStatus = (
  history: History,
  status: SummaryStatus,
  which: (record: SummaryRecord) => boolean,
  supersededBy: string | null = null,
): History => ({
  ...history,
  records: history.records.map((record) => (which(record) ? { ...record, status, supersededBy } : record)),
})

const unreadable = (id: string, { seq, at }: Recorded, total: number): SummaryRecord => ({
  id,
  seq,
  status: "invalid",
  supersededBy: null,
  through: 0,
  total,
  segments: [],
  files: { read: [], modified: [] },
  wording: { role: "system", heading: "", between: "", beforeTurnPrefix: "" },
  text: "",
  tokens: 0,
  at,
})

/** The history after one more event, without the commits that count as never made. */
const step = (history: History, recorded: Recorded, voids: Voids): History => {
  const { event, seq, at, id } = recorded
  const { running, total } = history
  switch (event._tag) {
    case "MessageAppended":
      return { ...history, total: total + 1 }
    case "CompactionStarted":
      return { ...history, running: event }
    case "CompactionFailed":
    case "CompactionReleased":
      return running?.compaction === event.compaction ? { ...history, running: null } : history
    case "ToolOutputsPruned":
      // One that covers nothing came for the sake of this alone.
      return running?.compaction === event.compaction && running.from === running.to
        ? { ...history, running: null }
        : history
    case "SummaryCommitted": {
      if (running?.compaction !== event.compaction) return history
      const before = activeOf(history)
      const usable =
        !voids.has(seq) &&
        event.through >= (before?.through ?? 0) &&
        event.through <= total &&
        fits(before?.segments ?? [], event)
      // What cannot be used was written onto the one before it all the same, whatever has become of that.
      const carried = (usable ? before : history.records.at(-1))?.segments.slice(0, event.carried) ?? []
      const segments = [...carried, ...event.segments]
      const files = event.files ?? { read: [], modified: [] }
      const record: SummaryRecord = {
        id: event.summary,
        seq,
        status: usable ? "active" : "invalid",
        supersededBy: null,
        through: event.through,
        total,
        segments,
        files,
        wording: event.wording,
        text: body(event.wording, { segments, files }),
        tokens: event.tokens,
        at,
      }
      const replaced = usable
        ? withStatus(history, "superseded", (one) => one.status === "active", event.summary)
        : history
      return { ...replaced, running: null, records: [...replaced.records, record] }
    }
    case "DamagedSummary":
      return { ...history, running: null, records: [...history.records, unreadable(id, recorded, total)] }
    case "SessionCleared": {
      const cleared = withStatus(history, "superseded", ({ status }) => status === "active")
      return { ...cleared, running: null, total: 0 }
    }
    // What was taken back is known beforehand; which one superseded which follows from the commits.
    case "SummaryInvalidated":
    case "MessageRedacted":
    case "SummarySuperseded":
    case "CompactionsHeld":
    case "FactsLearned":
    case "FactRetired":
    case "UnknownEvent":
      return history
  }
}

/**
 * The summaries in the events of a session, oldest first. The events are run through a second time where a summary
 * was declared invalid that had been active.
 */
export const summariesOf = <E, R>(
  events: Stream.Stream<Recorded, E, R>,
): Effect.Effect<ReadonlyArray<SummaryRecord>, E, R> => {
  const pass = (voids: Voids) =>
    Effect.suspend(() => {
      const found = new Set<number>()
      return Stream.runFold(events, nothing, (history, recorded) => {
        const { event, seq } = recorded
        if (event._tag === "SummaryInvalidated" && event.seq < seq) found.add(event.seq)
        return step(history, recorded, voids)
      }).pipe(Effect.map(({ records }) => ({ records, found })))
    })
  return Effect.gen(function* () {
    const { records, found } = yield* pass(new Set())
    const again = records.some(({ seq, status }) => status !== "invalid" && found.has(seq))
    return again ? (yield* pass(found)).records : records
  })
}
