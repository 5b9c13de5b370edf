/**
 * The table `summaries`: the rows that came with appends, for people and other programs. Any program can change it, so
 * what is read is checked as far as a row can show that it was changed. The engine compares the rest with the log.
 */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import type { Database } from "./Database.js"
import { integer, type Row, type RunNow, text, textOrNull } from "./Row.js"

/** A session by its number and its name. */
export interface Session {
  readonly id: number
  readonly name: string
}

const statuses: ReadonlyArray<string> = [
  "active",
  "superseded",
  "invalid",
] satisfies Array<EventLog.SummaryStatus>

/** The columns that must hold whole numbers, which SQLite does not enforce. */
const numbers = ["version", "compact_up_to_index", "compacted_at", "time", "tokens"]

/** Whether the columns of a row agree with each other: some of them say the same in the words of other programs. */
const isConsistent = (row: Row): boolean =>
  row["session"] === row["id"] &&
  row["thread_id"] === row["name"] &&
  statuses.includes(text(row, "status")) &&
  integer(row, "is_active") === (row["status"] === "active" ? 1 : 0) &&
  integer(row, "is_split_turn") === (row["split_turn_prefix"] === null ? 0 : 1) &&
  row["created_at"] === row["created"] &&
  numbers.every((column) => Number.isSafeInteger(row[column]))

const rowOf = (row: Row): EventLog.SummaryRow => ({
  version: integer(row, "version"),
  id: text(row, "summary_id"),
  status: text(row, "status") as EventLog.SummaryStatus,
  supersededBy: textOrNull(row, "superseded_by"),
  coveredTo: integer(row, "compact_up_to_index"),
  total: integer(row, "compacted_at"),
  text: text(row, "summary_text"),
  turnPrefix: textOrNull(row, "split_turn_prefix"),
  tokens: integer(row, "tokens"),
  time: integer(row, "time"),
})

/** When a summary was made, as other programs expect a time. */
const created = (time: string): string => `datetime(CAST(${time} AS INTEGER) / 1000, 'unixepoch')`

/** The rows of a session, and those that only say they are of it. */
const query = (activeOnly: boolean): string =>
  `SELECT summaries.*, sessions.id, sessions.name, ${created("summaries.time")} AS created
   FROM sessions JOIN summaries ON summaries.session = sessions.id OR summaries.thread_id = sessions.name
   WHERE sessions.name = ?${activeOnly ? " AND is_active = 1" : ""} ORDER BY summaries.version`

/** Reads the summary rows of a session. */
export const read = (
  database: Database,
  session: string,
  { activeOnly = false }: EventLog.SummariesOptions = {},
): Effect.Effect<ReadonlyArray<EventLog.SummaryRow>, EventLog.LogError> =>
  Effect.flatMap(database.query("summaries", query(activeOnly), [session]), (rows) =>
    rows.every(isConsistent)
      ? Effect.succeed(rows.map(rowOf))
      : new EventLog.LogError({
          operation: "summaries",
          session,
          reason:
            "another program has changed a row of the table summaries; memfold repair writes the rows again",
        }),
  )

/** Changes the summary rows of a session. Unique indexes refuse a second active row, and a second row with one id. */
export const change = (
  run: RunNow,
  { id, name }: Session,
  { replace, rows }: EventLog.SummaryChanges,
): void => {
  if (replace) run("DELETE FROM summaries WHERE session = ? OR thread_id = ?", [id, name])
  // All are deleted before the first is inserted: in between, two rows of the change could be active.
  for (const { version } of rows)
    run("DELETE FROM summaries WHERE session = ? AND version = ?", [id, version])
  for (const row of rows) {
    run(
      `INSERT INTO summaries
         (summary_id, thread_id, summary_text, compact_up_to_index, compacted_at, is_split_turn, split_turn_prefix,
          is_active, created_at, status, superseded_by, session, version, time, tokens)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${created("?")}, ?, ?, ?, ?, ?, ?)`,
      [
        row.id,
        name,
        // Other programs read these columns, and half a surrogate pair is not valid text for them.
        row.text.toWellFormed(),
        row.coveredTo,
        row.total,
        row.turnPrefix === null ? 0 : 1,
        row.turnPrefix?.toWellFormed() ?? null,
        row.status === "active" ? 1 : 0,
        row.time,
        row.status,
        row.supersededBy,
        id,
        row.version,
        row.time,
        row.tokens,
      ],
    )
  }
}
