/**
 * All summaries that a session ever had, with their status. This is the only place that computes a status, from the
 * states during a fold: for `memory.summaries`, for reverts and for the summary rows in stores.
 */
import type { RecordedEvent } from "../event/EventCodec.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import type { SummaryRow, SummaryStatus } from "@memfold/log/Projections"
import { noFiles } from "../summary/Summary.js"
import { body, type Wording } from "../summary/Wording.js"
import { type EventStep, parsedRow, type Projection, type RowProblem } from "./Projection.js"
import type { SessionState, Summary } from "../session/SessionState.js"

export type { SummaryStatus } from "@memfold/log/Projections"

/**
 * A summary as it was committed, and its present status.
 *
 * - `active`: part of the context; at most one of a session
 * - `superseded`: replaced by a newer summary, by a clear, or left with its branch; still readable
 * - `invalid`: damaged or taken back; it counts as never committed
 */
export interface SummaryRecord extends Summary {
  readonly status: SummaryStatus
  /** The id of the summary that replaced it, if one did. */
  readonly supersededBy: string | null
  /** The text without its heading; empty if the event is damaged. */
  readonly text: string
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
    const nothing = { coveredTo: 0, total, carried: 0, segments: [], origins: [], files: noFiles, tokens: 0 }
    return recordOf({ id, version, time, wording: unreadable, ...nothing }, "invalid")
  }
  const { summary, coveredTo, carried, wording, tokens, files = noFiles } = event
  const segments = [...(last?.segments.slice(0, carried) ?? []), ...event.segments]
  return recordOf(
    {
      id: summary,
      version,
      time,
      coveredTo,
      total,
      carried,
      wording,
      tokens,
      files,
      segments,
      // It covers nothing, so nothing says what it rests on.
      origins: segments.map(() => "external" as const),
    },
    "invalid",
  )
}

/** The records of summaries that an event added or changed. `last` is the newest summary before it, of any status. */
const changesOf = (
  { recorded, before, after, skipped }: EventStep,
  last: Pick<SummaryRecord, "segments"> | null,
): ReadonlyArray<SummaryRecord> => {
  const { event, version } = recorded
  const unusable = after.damaged.length > before.damaged.length
  const takenBack =
    skipped && event._tag === "SummaryCommitted" && before.running?.compaction === event.compaction
  if (unusable || takenBack) return [invalidRecord(recorded, before, last)]
  if (after.summary === before.summary) return []
  if (event._tag === "BranchSwitched")
    return [
      ...(before.summary === null || before.summary.id === after.summary?.id
        ? []
        : [recordOf(before.summary, "superseded")]),
      ...(after.summary === null ? [] : [recordOf(after.summary, "active")]),
    ]
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
  /** A summary covers the messages `[0, coveredTo)`; 0 for pruned outputs. */
  readonly coveredTo: number
}

/** The commits of the branch in force, oldest first, and of the branches that were left, by their ids. */
export interface Commits {
  readonly inForce: ReadonlyArray<Commit>
  readonly left: ReadonlyMap<number, ReadonlyArray<Commit>>
}

export const noCommits: Commits = { inForce: [], left: new Map() }

/** The history of a session: its version, all its summaries, and the commits of its branches. */
export interface History {
  readonly version: number
  /** Oldest first. */
  readonly summaries: ReadonlyArray<SummaryRecord>
  /** The commits of the branch in force, oldest first. */
  readonly commits: ReadonlyArray<Commit>
  /** The commits of each branch that was left, oldest first. */
  readonly left: ReadonlyArray<ReadonlyArray<Commit>>
}

export const commitsAfter = (
  commits: Commits,
  { recorded: { event, version }, before, after, skipped }: EventStep,
): Commits => {
  const { inForce } = commits
  if (after.branch.id !== before.branch.id) {
    const left = new Map(commits.left).set(before.branch.id, inForce)
    if (event._tag !== "BranchSwitched") return { inForce: [], left }
    const all = left.get(after.branch.id) ?? inForce
    return {
      inForce: all.filter((one) => one.version <= event.version && one.coveredTo <= event.index),
      left,
    }
  }
  if (skipped) return commits
  if (event._tag === "SummaryCommitted") {
    const { summary, coveredTo } = event
    return { ...commits, inForce: [...inForce, { version, summary, coveredTo }] }
  }
  return event._tag === "ToolOutputsPruned"
    ? { ...commits, inForce: [...inForce, { version, summary: null, coveredTo: 0 }] }
    : commits
}

/** Whether a summary keeps blocks of the previous one: its whole text grows with each compaction. */
const inBlocks = ({ segments, carried }: SummaryRecord): boolean =>
  segments.slice(0, carried).some(({ kind }) => kind === "block")

/** A text without lone surrogates and NUL characters: other programs read it, and not every database keeps these. */
const legible = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd")

const readable = (record: SummaryRecord): SummaryRow => {
  const { version, id, status, supersededBy, coveredTo, total, segments, carried, tokens, time } = record
  const own = segments.slice(carried).map(({ text }) => text)
  const prefixes = segments.filter(({ kind }) => kind === "turn-prefix").map(({ text }) => text)
  const text = status === "superseded" && inBlocks(record) ? own.join("\n\n") : record.text
  return {
    version,
    id: legible(id),
    status,
    supersededBy: supersededBy === null ? null : legible(supersededBy),
    coveredTo: coveredTo,
    total,
    text: legible(text),
    turnPrefix: prefixes.length === 0 ? null : legible(prefixes.join("\n\n")),
    tokens,
    time,
  }
}

const rowOf = (record: SummaryRecord): ProjectionRow => {
  const row = { key: legible(record.id), data: JSON.stringify(readable(record)) }
  return record.status === "active" ? { ...row, mark: "active" } : row
}

/** The records of summaries by the versions of their commits, and the newest of them. */
interface Collected {
  readonly records: ReadonlyMap<number, SummaryRecord>
  readonly last: Pick<SummaryRecord, "segments"> | null
}

/** All records that were collected, oldest first. */
export const recordsOf = ({ records }: Collected): ReadonlyArray<SummaryRecord> => [...records.values()]

/** The fields of a row, each with its name in messages. */
const fields: ReadonlyArray<readonly [field: keyof SummaryRow, name: string]> = [
  ["id", "id"],
  ["status", "status"],
  ["supersededBy", "successor"],
  ["coveredTo", "coverage"],
  ["total", "number of messages"],
  ["text", "text"],
  ["turnPrefix", "split turn"],
  ["tokens", "tokens"],
  ["time", "time"],
]

/** The problems of stored rows, which anybody can change. */
export const summaryProblems = (
  stored: ReadonlyArray<ProjectionRow>,
  expected: ReadonlyArray<ProjectionRow>,
): ReadonlyArray<RowProblem> => {
  const byVersion = new Map(stored.map((row) => [parsedRow<SummaryRow>(row).version, row]))
  const versions = new Set<number | undefined>()
  const differing = expected.flatMap((row): ReadonlyArray<RowProblem> => {
    const right = parsedRow<SummaryRow>(row)
    const { version = 0 } = right
    versions.add(version)
    const found = byVersion.get(version)
    if (found === undefined) return [{ version, detail: "the summary row of this event is missing" }]
    const there = parsedRow<SummaryRow>(found)
    const names = fields.flatMap(([field, name]) => (there[field] === right[field] ? [] : [name]))
    if (names.length > 0)
      return [
        { version, detail: `the summary row of this event differs from the log in its ${names.join(", ")}` },
      ]
    return found.key === row.key && found.mark === row.mark
      ? []
      : [{ version, detail: "the summary row of this event differs from the log in its status" }]
  })
  const unknown = [...byVersion.keys()]
    .filter((version) => !versions.has(version))
    .map((version = 0) => ({ version, detail: "there is a summary row, but the log has no summary here" }))
  return [...differing, ...unknown].toSorted((one, other) => one.version - other.version)
}

/**
 * The rows of the summaries of a session, for people and other programs. A session has one row for an id: if another program
 * committed an id twice, it is the row of the active summary, or of the newer one.
 */
export const summaries: Projection<Collected> = {
  kind: "summary",
  start: ({ summary }) => ({ records: new Map(), last: summary }),
  step: (collected, step) => {
    const changed = changesOf(step, collected.last)
    if (changed.length === 0) return collected
    const records = new Map(collected.records)
    for (const one of changed) records.set(one.version, one)
    return { records, last: changed.at(-1) ?? null }
  },
  rows: (collected) => {
    const byId = new Map<string, SummaryRecord>()
    for (const record of recordsOf(collected)) {
      if (byId.get(record.id)?.status !== "active") byId.set(record.id, record)
    }
    return [...byId.values()].map(rowOf)
  },
  problems: (stored, collected) => summaryProblems(stored, summaries.rows(collected)),
}

/** The row of the active summary of a state; none without a summary. */
export const activeRow = ({ summary }: SessionState): ReadonlyArray<ProjectionRow> =>
  summary === null ? [] : [rowOf(recordOf(summary, "active"))]
