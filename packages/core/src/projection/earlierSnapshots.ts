/**
 * Earlier snapshots: an edit, or a return to a branch, goes back to an earlier state. A few states are kept beside the newest
 * snapshot, the fewer the older they are, so that going back reads about as many events as it goes back.
 */
import { Option } from "effect"
import { batchIdOf } from "../event/EventCodec.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import type { Projection, RowProblem } from "./Projection.js"
import { isOfOtherFold, type StateInLog, stateIn, take, versionOf } from "./Snapshot.js"

/**
 * The fewest events after a snapshot before another one is saved. A snapshot is as large as the uncovered messages, and
 * reading this many events costs less than writing a snapshot.
 */
export const eventsBetweenSnapshots = 32

/**
 * The key of a snapshot: how often its place in the log, in steps of {@link eventsBetweenSnapshots}, can be halved. Each key has
 * the newest snapshot with it: of the snapshots of a long log, the newest few are there, and fewer and fewer of the older ones.
 */
const keyOf = (version: number): string => {
  const step = Math.max(Math.floor(version / eventsBetweenSnapshots), 1)
  return String(31 - Math.clz32(step & -step))
}

/** The row of a snapshot at a version as a row among the earlier ones. */
export const earlierRow = ({ data }: ProjectionRow, version: number): ProjectionRow => ({
  key: keyOf(version),
  data,
})

/** The states in some rows that a condition accepts, newest first. */
export function* newestFirst(
  session: string,
  rows: ReadonlyArray<ProjectionRow>,
  accepts: (state: StateInLog["state"]) => boolean,
): Generator<StateInLog, undefined> {
  for (const row of rows.toSorted((one, other) => (versionOf(other) ?? 0) - (versionOf(one) ?? 0))) {
    const found = Option.getOrNull(stateIn(session, row))
    if (found !== null && accepts(found.state)) yield found
  }
}

/** The states behind each batch of a log: all steps share one map, since a copy for each event would take quadratic time. */
interface Collected {
  readonly last: StateInLog
  /** Whether its batch has more than messages: snapshots are saved with commits and switches. */
  readonly canBeSaved: boolean
  readonly states: Map<number, StateInLog>
}

/** The earlier snapshots of a session. None follows from an append alone, and a repair drops them. */
export const earlierSnapshots: Projection<Collected> = {
  kind: "earlier-snapshot",
  start: (state) => ({ last: { state, batchId: null }, canBeSaved: false, states: new Map() }),
  step: (before, { recorded, after }) => {
    const { last, states } = before
    const next = { state: after, batchId: batchIdOf(recorded) }
    const isSameBatch = last.batchId === next.batchId
    const canBeSaved = (isSameBatch && before.canBeSaved) || recorded.event._tag !== "MessageAppended"
    if (isSameBatch) states.delete(last.state.version)
    if (canBeSaved) states.set(after.version, next)
    return { last: next, canBeSaved, states }
  },
  rows: () => [],
  problems: (stored, { last, states }) =>
    stored.flatMap((row): ReadonlyArray<RowProblem> => {
      if (isOfOtherFold(row)) return []
      const version = versionOf(row) ?? 0
      const state = version === last.state.version ? last : states.get(version)
      const taken = state === undefined ? null : take(state)
      const expected = taken === null ? undefined : earlierRow(taken, version)
      return expected?.data === row.data && expected.key === row.key
        ? []
        : [{ version, detail: "an earlier snapshot differs from the folded state of the log" }]
    }),
}
