/** What tests ask of a log, and logs that answer something else than was written. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"

/** A summary row as its projection row has it. */
export interface SummaryRow {
  readonly version: number
  readonly id: string
  readonly status: "active" | "superseded" | "invalid"
  readonly supersededBy: string | null
  readonly coveredTo: number
  readonly total: number
  readonly text: string
  readonly turnPrefix: string | null
  readonly tokens: number
  readonly time: number
}

/** The row of the snapshot of a session; `null` without one. */
export const snapshotOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.projections.get(session, "snapshot"), ([row]) => row ?? null)

/** The version of the state in a snapshot. */
export const versionIn = ({ data }: EventLog.ProjectionRow): number =>
  Number(/"version":(\d+)/.exec(data)?.[1])

/** The summary rows of a session, by version. */
export const summariesOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.projections.get(session, "summary"), (rows) =>
    rows
      .map(({ data }) => JSON.parse(data) as SummaryRow)
      .toSorted((one, other) => one.version - other.version),
  )

/** Summary rows as projection rows. */
export const summaryRows = (rows: ReadonlyArray<SummaryRow>): ReadonlyArray<EventLog.ProjectionRow> =>
  rows.map((row) => ({
    key: row.id,
    data: JSON.stringify(row),
    ...(row.status === "active" ? { mark: "active" } : {}),
  }))

/** Puts rows in place of all rows of a kind, at the head of the session. */
export const replaceRows = (
  log: EventLog.Service,
  session: string,
  kind: string,
  rows: ReadonlyArray<EventLog.ProjectionRow>,
) =>
  Effect.gen(function* () {
    const head = (yield* log.head(session)) ?? { version: 0, batchId: "" }
    yield* log.projections.put(session, head, [{ kind, replace: true, rows }])
  })

/** The log with other projections. */
export const withProjections = (
  log: EventLog.Service,
  changed: Partial<EventLog.Projections>,
): EventLog.Service => ({ ...log, projections: { ...log.projections, ...changed } })

/** The log without its snapshots. */
export const withoutSnapshots = (log: EventLog.Service): EventLog.Service =>
  withProjections(log, {
    get: (session, kind, filter) =>
      kind === "snapshot" ? Effect.succeed([]) : log.projections.get(session, kind, filter),
  })

/** The log whose records are read as something else than was written. */
export const withRecords = (
  log: EventLog.Service,
  change: (records: ReadonlyArray<EventLog.LogRecord>) => ReadonlyArray<EventLog.LogRecord>,
): EventLog.Service => ({
  ...log,
  read: (session, page) => Effect.map(log.read(session, page), change),
})
