/**
 * Every summary a session ever had, with the status each has now (reference design 4). A fold of its own: the state
 * of a session keeps the active one alone.
 */
import { Effect, Stream } from "effect"
import type { Files, Segment } from "../event/Event.js"
import type { Recorded } from "../event/EventCodec.js"
import { body, type Wording } from "../render/Wording.js"
import { fits } from "./segments.js"

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
  readonly running: string | null
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

/** The history after one more event. */
const step = (history: History, recorded: Recorded): History => {
  const { event, seq, at, id } = recorded
  const { running, total } = history
  switch (event._tag) {
    case "MessageAppended":
      return { ...history, total: total + 1 }
    case "CompactionStarted":
      return { ...history, running: event.compaction }
    case "CompactionFailed":
    case "CompactionReleased":
      return running === event.compaction ? { ...history, running: null } : history
    case "SummaryCommitted": {
      if (running !== event.compaction) return history
      const before = activeOf(history)
      const carried = before?.segments.slice(0, event.carried) ?? []
      const segments = [...carried, ...event.segments]
      const files = event.files ?? { read: [], modified: [] }
      const usable =
        event.through >= (before?.through ?? 0) &&
        event.through <= total &&
        fits(before?.segments ?? [], event)
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
    case "SummaryInvalidated": {
      const gone = history.records.find((record) => record.seq === event.seq)
      if (gone === undefined || gone.status === "invalid") return history
      const rest = withStatus(history, "invalid", (record) => record.seq === event.seq)
      // What an active one had replaced is back.
      const back = rest.records.findLast((record) => record.supersededBy === gone.id)
      return gone.status === "active" && back !== undefined
        ? withStatus(rest, "active", (record) => record.seq === back.seq)
        : rest
    }
    case "SessionCleared": {
      const cleared = withStatus(history, "superseded", ({ status }) => status === "active")
      return { ...cleared, running: null, total: 0 }
    }
    // Which one superseded which follows from the commits.
    case "SummarySuperseded":
    case "ToolOutputsPruned":
    case "FactsLearned":
    case "FactRetired":
    case "UnknownEvent":
      return history
  }
}

/** The summaries in the events of a session, oldest first. */
export const summariesOf = <E, R>(
  events: Stream.Stream<Recorded, E, R>,
): Effect.Effect<ReadonlyArray<SummaryRecord>, E, R> =>
  Stream.runFold(events, nothing, step).pipe(Effect.map(({ records }) => records))
