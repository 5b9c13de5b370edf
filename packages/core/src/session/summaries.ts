/**
 * All summaries that a session ever had, with their status. This is the only place that computes a status, from the
 * states during a fold: for `memory.summaries`, for reverts and for the summary rows in stores.
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
 * A summary as it was committed, and its present status.
 *
 * - `active`: part of the context; at most one of a session
 * - `superseded`: replaced by a newer summary, or by a clear; still readable
 * - `invalid`: damaged or taken back; it counts as never committed
 */
export interface SummaryRecord {
  readonly id: string
  /** The version of the event that committed it. */
  readonly version: number
  readonly status: SummaryStatus
  /** The id of the summary that replaced it, if one did. */
  readonly supersededBy: string | null
  /** It covers the messages `[0, coveredTo)`. */
  readonly coveredTo: number
  /** How many messages the session had when it was committed. */
  readonly total: number
  /** How many of its segments, from the first one, it keeps unchanged from the previous summary. */
  readonly carried: number
  readonly segments: ReadonlyArray<Segment>
  /** The positions of the segments that contexts show; all of them if absent. */
  readonly shown?: ReadonlyArray<number> | undefined
  /** The files that tools read and changed in the messages it covers. */
  readonly files: Files
  readonly wording: Wording
  /** The text without its heading; empty if the event is damaged. */
  readonly text: string
  /** Its tokens in a context, wording included. */
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

/** The record of a commit that the fold did not apply. `last` is the newest summary before it, of any status. */
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

/** The records of summaries that an event added or changed. */
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

/** A commit that can be reverted: of a summary, or of pruned outputs without one (`summary` is `null`). */
export interface Commit {
  /** The version of its event. */
  readonly version: number
  readonly summary: string | null
}

/** The history of a session: its version, all its summaries, and the commits since the start or the last clear. */
export interface History {
  readonly version: number
  /** Oldest first. */
  readonly summaries: ReadonlyArray<SummaryRecord>
  /** Oldest first. */
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

/**
 * Computes the history of a session from its events.
 *
 * @param read reads the events from the first one up to a version; it is called twice if a commit was invalidated
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 *
 * const historyOf = (log: EventLog.Service, session: string) =>
 *   Session.historyOf(session, (toVersion) =>
 *     Session.readEvents(log, session, toVersion === undefined ? {} : { toVersion }),
 *   )
 * ```
 */
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

/** Whether a summary keeps blocks of the previous one: its whole text grows with each compaction. */
const inBlocks = ({ segments, carried }: SummaryRecord): boolean =>
  segments.slice(0, carried).some(({ kind }) => kind === "block")

/** The summary row of a record. Lone surrogates are replaced, because other programs read these rows. */
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

/**
 * The rows of all summaries in a history. They replace the stored ones. A store has one row for an id: if another program
 * committed an id twice, it is the row of the active summary, or of the newer one.
 */
export const allRows = ({ summaries }: History): SummaryChanges => {
  const byId = new Map<string, SummaryRecord>()
  for (const record of summaries) {
    if (byId.get(record.id)?.status !== "active") byId.set(record.id, record)
  }
  return {
    replace: true,
    rows: [...byId.values()].map(rowOf).toSorted((one, other) => one.version - other.version),
  }
}

/**
 * Computes the summary rows for events that the engine did not append, as in a copy or an import. Append them together
 * with the events.
 *
 * @param events all events of the session, from the first one; the stream may run twice and must end at the same event
 * both times
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

/** The row of the active summary only. It replaces all stored rows. */
export const activeRow = ({ summary }: SessionState): SummaryChanges => ({
  replace: true,
  rows: summary === null ? [] : [rowOf(recordOf(summary, "active"))],
})

/** The state after more events, and the changes to the summary rows; `undefined` if there are none. */
export const foldWithRows = (
  state: SessionState,
  events: ReadonlyArray<RecordedEvent>,
): { readonly next: SessionState; readonly summaries: SummaryChanges | undefined } => {
  const rows = new Map<number, SummaryRow>()
  let before = state
  for (const recorded of events) {
    const after = evolve(before, recorded)
    for (const one of changesOf(recorded, { before, after, skipped: false }))
      rows.set(one.version, rowOf(one))
    before = after
  }
  return {
    next: before,
    summaries: rows.size === 0 ? undefined : { replace: false, rows: [...rows.values()] },
  }
}
