/**
 * The table `summaries`: the rows of kind `summary`, for people and other programs. Any program can change it, so
 * what is read is checked as far as a row can show that it was changed. The engine compares the rest with the log.
 */
import { EventLog } from "@memfold/log"
import type { SummaryRow, SummaryStatus } from "@memfold/log/Projections"
import { Effect } from "effect"
import { integer, type Row, text, textOrNull } from "./Database.js"
import type { Dialect } from "./Dialect.js"
import { filtered, isListed, keyList, type RowTable } from "./RowTable.js"

const statuses: ReadonlySet<string> = new Set(["active", "superseded", "invalid"])

/** The columns that must hold whole numbers, which a database may not enforce. */
const numbers = ["version", "compact_up_to_index", "compacted_at", "time", "tokens"]

/** A column of truth values as a number, which a database may return as a boolean; `null` where it has none. */
const flag = (row: Row, column: string): number | null => (row[column] === null ? null : integer(row, column))

/** Whether the columns of a row agree with each other: some of them say the same in the words of other programs. */
const isConsistent = (row: Row): boolean =>
  row["session"] === row["id"] &&
  row["thread_id"] === row["name"] &&
  statuses.has(text(row, "status")) &&
  flag(row, "is_active") === (row["status"] === "active" ? 1 : 0) &&
  flag(row, "is_split_turn") === (row["split_turn_prefix"] === null ? 0 : 1) &&
  row["created_at"] === row["created"] &&
  numbers.every((column) => Number.isSafeInteger(row[column]))

const summaryOf = (row: Row): SummaryRow => ({
  version: integer(row, "version"),
  id: text(row, "summary_id"),
  status: text(row, "status") as SummaryStatus,
  supersededBy: textOrNull(row, "superseded_by"),
  coveredTo: integer(row, "compact_up_to_index"),
  total: integer(row, "compacted_at"),
  text: text(row, "summary_text"),
  turnPrefix: textOrNull(row, "split_turn_prefix"),
  tokens: integer(row, "tokens"),
  time: integer(row, "time"),
})

const rowOf = (row: Row): EventLog.ProjectionRow => {
  const summary = summaryOf(row)
  return {
    key: summary.id,
    data: JSON.stringify(summary),
    ...(summary.status === "active" ? { mark: "active" } : {}),
  }
}

/** The values of a row in the order of `add`. Half a surrogate pair is not valid text for other programs. */
const valuesOf = ({ key, data, mark }: EventLog.ProjectionRow) => {
  const summary = JSON.parse(data) as SummaryRow
  return [
    key,
    summary.text.toWellFormed(),
    summary.coveredTo,
    summary.total,
    summary.turnPrefix === null ? 0 : 1,
    summary.turnPrefix?.toWellFormed() ?? null,
    mark === "active" ? 1 : 0,
    summary.time,
    summary.status,
    summary.supersededBy,
    summary.version,
    summary.tokens,
  ]
}

/** What is read of a row beside the session that has it, in the order of {@link activeColumns}. */
const own =
  "session thread_id summary_id summary_text compact_up_to_index compacted_at time status superseded_by is_active is_split_turn split_turn_prefix created_at version tokens".split(
    " ",
  )

/** The columns of a row as a statement has them that makes a list of each: the row is joined with a session. */
export const activeColumns = ({ date }: Dialect, session: string): string =>
  [
    `${session}.id`,
    `${session}.name`,
    date("summaries.time"),
    ...own.map((name) => `summaries.${name}`),
  ].join(", ")

/** The rows of lists with {@link activeColumns}, as JSON; `null` if another program has changed one. */
export const activeRows = (lists: ReadonlyArray<string>): ReadonlyArray<EventLog.ProjectionRow> | null => {
  const rows = lists.map((list): Row => {
    const columns = JSON.parse(list) as ReadonlyArray<unknown>
    return Object.fromEntries(["id", "name", "created", ...own].map((name, at) => [name, columns[at]]))
  })
  return rows.every(isConsistent) ? rows.map(rowOf) : null
}

export const summaries: RowTable = {
  get: ({ dialect, query }, session, filter) => {
    // A mark is asked for in the words of the indexes: a session may have thousands of rows.
    const isMarked = "is_active = TRUE AND ? = 'active'"
    const [condition, parameters] = filtered(dialect, filter, "summary_id", isMarked)
    // The rows of the session, and rows that only have its name.
    return Effect.flatMap(
      query(
        { operation: "projections.get", session },
        `SELECT summaries.*, sessions.id, sessions.name, ${dialect.date("summaries.time")} AS created
         FROM sessions JOIN summaries ON summaries.session = sessions.id OR summaries.thread_id = sessions.name
         WHERE sessions.name = ? ${condition} ORDER BY summaries.version`,
        [session, ...parameters],
      ),
      (rows) =>
        rows.every(isConsistent)
          ? Effect.succeed(rows.map(rowOf))
          : new EventLog.LogError({
              operation: "projections.get",
              session,
              reason:
                "another program has changed a row of the table summaries; memfold repair writes the rows again",
            }),
    )
  },
  drop: (dialect, run, session, keys) => {
    if (session === undefined) return run("DELETE FROM summaries")
    const { id, name } = session
    return keys === undefined
      ? run("DELETE FROM summaries WHERE session = ? OR thread_id = ?", [id, name])
      : run(`DELETE FROM summaries WHERE session = ? AND ${isListed(dialect, "summary_id")}`, [
          id,
          keyList(keys),
        ])
  },
  add: (dialect, run, { id, name }, rows) =>
    run(
      `INSERT INTO summaries
         (session, thread_id, summary_id, summary_text, compact_up_to_index, compacted_at, is_split_turn, split_turn_prefix,
          is_active, created_at, time, status, superseded_by, version, tokens)
       SELECT CAST(? AS BIGINT), ?, value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT),
         CAST(value ->> 4 AS BOOLEAN), value ->> 5, CAST(value ->> 6 AS BOOLEAN), ${dialect.date("value ->> 7")}, CAST(value ->> 7 AS BIGINT), value ->> 8,
         value ->> 9, CAST(value ->> 10 AS BIGINT), CAST(value ->> 11 AS BIGINT)
       FROM ${dialect.elements}`,
      [id, name, JSON.stringify(rows.map(valuesOf))],
    ),
}
