/**
 * Projections: rows that follow from the log of a session. A projection is a pure value, so its rows can be computed with an
 * append, and again from the whole log, to be compared with the stored ones.
 */
import type { RecordedEvent } from "../event/EventCodec.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import type { SessionState } from "../session/SessionState.js"

export interface EventStep {
  readonly recorded: RecordedEvent
  readonly before: SessionState
  readonly after: SessionState
  /** Whether the event is a commit that a later event declares invalid. */
  readonly skipped: boolean
}

/** What a stored row says, which anybody can change; nothing if it is no JSON. */
export const parsedRow = <Row>({ data }: ProjectionRow): Partial<Row> => {
  try {
    return (JSON.parse(data) as Row | null) ?? {}
  } catch {
    return {}
  }
}

/** What is wrong with stored rows: the version of an event that they belong to, and the problem, without text of the session. */
export interface RowProblem {
  readonly version: number
  readonly detail: string
}

/** The rows of a kind, computed from events one after the other. */
export interface Projection<Collected> {
  readonly kind: string
  /** What has been collected before the first event that follows a state. */
  readonly start: (state: SessionState) => Collected
  readonly step: (collected: Collected, step: EventStep) => Collected
  /** The rows that were added or changed since the start: all rows, if the start was the empty state. */
  readonly rows: (collected: Collected) => ReadonlyArray<ProjectionRow>
  /** The problems of the stored rows of a session whose whole log, up to `until`, has been collected. */
  readonly problems: (stored: ReadonlyArray<ProjectionRow>, collected: Collected) => ReadonlyArray<RowProblem>
  /** The version that stored rows follow from, if they may be behind the log; the newest one by default. */
  readonly until?: (stored: ReadonlyArray<ProjectionRow>) => number | undefined
}

/** The rows that follow from events after a state. */
export const rowsOf = <Collected>(
  { start, step, rows }: Projection<Collected>,
  before: SessionState,
  steps: ReadonlyArray<EventStep>,
): ReadonlyArray<ProjectionRow> => rows(steps.reduce(step, start(before)))
