/** The owner and the title of sessions: two columns of the table `sessions`, and the list of an owner's sessions. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import type { Database } from "./Database.js"
import { integer, type Row, type RunNow, text, textOrNull } from "./Row.js"

/** The entry of a row with `name`, `version`, `created_at`, `updated_at`, `owner` and `title`. */
export const infoOf = (row: Row): EventLog.SessionInfo => ({
  session: text(row, "name"),
  version: integer(row, "version"),
  createdTime: integer(row, "created_at"),
  updatedTime: integer(row, "updated_at"),
  ...EventLog.described(descriptionOf(row)),
})

const descriptionOf = (row: Row): EventLog.Description => ({
  owner: textOrNull(row, "owner"),
  title: textOrNull(row, "title"),
})

/** Sets the owner and the title of a session. */
export const describe = (run: RunNow, id: number, { owner, title }: EventLog.Description): unknown =>
  run("UPDATE sessions SET owner = ?, title = ? WHERE id = ?", [owner, title, id])

/**
 * The sessions of an owner. An index finds them, and the end of each log says when it was active: an append need not
 * write that anywhere else.
 */
export const owned = (
  database: Database,
  owner: string,
  { limit, after }: EventLog.OwnedOptions,
): Effect.Effect<ReadonlyArray<EventLog.SessionInfo>, EventLog.LogError> =>
  database
    .query(
      "owned",
      `SELECT name, last_version AS version, created_at, coalesce(time, created_at) AS updated_at, owner, title
       FROM sessions LEFT JOIN events ON events.id = sessions.id << 32 | last_version
       WHERE owner = ? ${after === undefined ? "" : "AND (updated_at < ? OR (updated_at = ? AND name > ?))"}
       ORDER BY updated_at DESC, name LIMIT ?`,
      after === undefined
        ? [owner, limit]
        : [owner, after.updatedTime, after.updatedTime, after.session, limit],
    )
    .pipe(Effect.map((rows) => rows.map(infoOf)))

/** The stored owner and title of a session. */
export const description = (
  database: Database,
  session: string,
): Effect.Effect<EventLog.Description | null, EventLog.LogError> =>
  database
    .query("description", "SELECT owner, title FROM sessions WHERE name = ?", [session])
    .pipe(Effect.map(([row]) => (row === undefined ? null : descriptionOf(row))))
