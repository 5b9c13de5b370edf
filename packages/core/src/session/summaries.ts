/**
 * Every summary a session ever had, and what has become of each. The statuses follow from the states that the fold
 * goes through, and are computed here alone: for `memory.summaries`, for reverting, and for the rows that stores show.
 */
import { Effect, type Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { SummaryChanges, SummaryRow, SummaryStatus } from "../log/EventLog.js"
import { type Files, noFiles, type Segment } from "../summary/Summary.js"
import { body, type Wording } from "../summary/Wording.js"
import { evolve } from "./evolve.js"
import { type ReadTo, replay } from "./replay.js"
import type { SessionState, Summary } from "./SessionState.js"

export type { SummaryStatus } from "../log/EventLog.js"

/**
 * A summary as it was committed, and its status now.
 *
 * - `active`: shown in contexts; at most one of a session
 * - `superseded`: a newer one replaced it, or the session was cleared; it stays readable
 * - `invalid`: unusable or taken back; it counts as never committed
 */
export interface SummaryRecord {
  readonly id: string
  /** The event that committed it. */
  readonly version: number
  readonly status: SummaryStatus
  /** The summary that replaced it. */
  readonly supersededBy: string | null
  /** It covers the messages `[0, coveredTo)` since the start or the last clear. */
  readonly coveredTo: number
  /** How many messages there were when it was committed. */
  readonly total: number
  /** How many of its segments it took over unchanged from the summary before it. */
  readonly carried: number
  readonly segments: ReadonlyArray<Segment>
  readonly files: Files
  readonly wording: Wording
  /** The text without its heading; empty if it cannot be read any more. */
  readonly text: string
  readonly tokens: number
  /** When it was committed, in milliseconds since the epoch. */
  readonly time: number
}

const recordOf = (
  summary: Summary,
  status: SummaryStatus,
  supersededBy: string | null = null,
): SummaryRecord => ({ ...summary, status, supersededBy, text: body(summary.wording, summary) })

const unreadable: Wording = { role: "system", heading: "", between: "", beforeTurnPrefix: "" }

/** The record of a commit that the fold did not use. `last` is the newest summary before it, used or not. */
const invalidRecord = (
  { event, version, time, id }: RecordedEvent,
  { total }: SessionState,
  last: Pick<SummaryRecord, "segments"> | null,
): SummaryRecord => {
  if (event._tag !== "SummaryCommitted") {
    const nothing = { coveredTo: 0, total, carried: 0, segments: [], files: noFiles, tokens: 0 }
    return recordOf({ id, version, time, wording: unreadable, ...nothing }, "invalid")
  }
  const { summary, coveredTo, carried, wording, tokens, files = noFiles } = event
  const segments = [...(last?.segments.slice(0, carried) ?? []), ...event.segments]
  return recordOf(
    { id: summary, version, time, coveredTo, total, carried, wording, tokens, files, segments },
    "invalid",
  )
}

/** What an event did to the summaries: the records it added or changed. */
const changesOf = (
  recorded: RecordedEvent,
  { before, after, skipped }: { before: SessionState; after: SessionState; skipped: boolean },
  last: Pick<SummaryRecord, "segments"> | null = before.summary,
): ReadonlyArray<SummaryRecord> => {
  const { event, version } = recorded
  const unusable = after.damaged.length > before.damaged.length
  const takenBack =
    skipped && event._tag === "SummaryCommitted" && before.running?.compaction === event.compaction
  if (unusable || takenBack) return [invalidRecord(recorded, before, last)]
  if (after.summary === before.summary) return []
  const next = after.summary?.version === version ? after.summary : null
  return [
    ...(before.summary === null ? [] : [recordOf(before.summary, "superseded", next?.id)]),
    ...(next === null ? [] : [recordOf(next, "active")]),
  ]
}

/** A commit that can be taken back: a summary, or outputs that were pruned without one. */
export interface Commit {
  readonly version: number
  readonly summary: string | null
}

/** The past of a session: its version, its summaries, and the commits since the start or the last clear. */
export interface History {
  readonly version: number
  /** Oldest first. */
  readonly summaries: ReadonlyArray<SummaryRecord>
  readonly commits: ReadonlyArray<Commit>
}

/** The commits after one more event. */
const commitsAfter = (
  commits: ReadonlyArray<Commit>,
  { event, version }: RecordedEvent,
  skipped: boolean,
) => {
  if (event._tag === "SessionCleared") return []
  if (skipped) return commits
  if (event._tag === "SummaryCommitted") return [...commits, { version, summary: event.summary }]
  return event._tag === "ToolOutputsPruned" ? [...commits, { version, summary: null }] : commits
}

/** The past of a session, from its events. */
export const historyOf = <E, R>(session: string, read: ReadTo<E, R>): Effect.Effect<History, E, R> =>
  replay(session, read, {
    start: () => ({ records: new Map<number, SummaryRecord>(), commits: [] as ReadonlyArray<Commit> }),
    step: ({ records, commits }, recorded, change) => {
      const isCommit = recorded.event._tag === "SummaryCommitted"
      const last = isCommit ? ([...records.values()].at(-1) ?? null) : null
      for (const one of changesOf(recorded, change, last)) records.set(one.version, one)
      return { records, commits: commitsAfter(commits, recorded, change.skipped) }
    },
  }).pipe(
    Effect.map(({ state, collected: { records, commits } }) => ({
      version: state.version,
      summaries: [...records.values()],
      commits,
    })),
  )

/** A text that grows with every block it takes over. */
const inBlocks = ({ segments, carried }: SummaryRecord): boolean =>
  segments.slice(0, carried).some(({ kind }) => kind === "block")

/** A record as a store shows it. Half a surrogate pair is replaced: other programs read these rows. */
const rowOf = (record: SummaryRecord): SummaryRow => {
  const { version, id, status, supersededBy, coveredTo, total, segments, carried, tokens, time } = record
  const own = segments.slice(carried).map(({ text }) => text)
  const prefixes = segments.filter(({ kind }) => kind === "turn-prefix").map(({ text }) => text)
  const text = status === "superseded" && inBlocks(record) ? own.join("\n\n") : record.text
  return {
    version,
    id,
    status,
    supersededBy,
    coveredTo: coveredTo,
    total,
    text: text.toWellFormed(),
    turnPrefix: prefixes.length === 0 ? null : prefixes.join("\n\n").toWellFormed(),
    tokens,
    time,
  }
}

/** The rows of all summaries in a history. */
export const allRows = ({ summaries }: History): SummaryChanges => ({
  replace: true,
  rows: summaries.map(rowOf),
})

/**
 * The rows for events that were not appended by the engine: a copy, an import. The stream may be read twice, and must
 * end at the same event both times.
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 *
 * const rowsAt = (log: EventLog.Service, session: string, version: number) =>
 *   Session.summaryRows(session, Session.readEvents(log, session, { toVersion: version }))
 * ```
 */
export const summaryRows = <E, R>(
  session: string,
  events: Stream.Stream<RecordedEvent, E, R>,
): Effect.Effect<SummaryChanges, E, R> =>
  Effect.map(
    historyOf(session, () => events),
    allRows,
  )

/** The row of the active summary alone. */
export const activeRow = ({ summary }: SessionState): SummaryChanges => ({
  replace: true,
  rows: summary === null ? [] : [rowOf(recordOf(summary, "active"))],
})

/** The state after more events, and how they change the rows; nearly always, they do not. */
export const foldWithRows = (
  state: SessionState,
  events: ReadonlyArray<RecordedEvent>,
): { readonly state: SessionState; readonly changes: SummaryChanges | undefined } => {
  const rows = new Map<number, SummaryRow>()
  let before = state
  for (const recorded of events) {
    const after = evolve(before, recorded)
    for (const one of changesOf(recorded, { before, after, skipped: false }))
      rows.set(one.version, rowOf(one))
    before = after
  }
  return {
    state: before,
    changes: rows.size === 0 ? undefined : { replace: false, rows: [...rows.values()] },
  }
}
