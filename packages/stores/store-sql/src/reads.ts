/** Reads of the log: pages of records, heads, and lists of sessions. Each is one query. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import { type Database, integer, type Row, text } from "./Database.js"
import { describedBy } from "./description.js"
import { batchIdOf, mostVersions, sessionsWithLast, versionOf } from "./queries.js"

/** The record of a row of `events`, whose columns are in the order of `read`. */
const recordOf = (
  session: string,
  [version, batchId, time, type, schemaVersion, data, checksum]: ReadonlyArray<unknown>,
): EventLog.LogRecord => {
  const record = {
    session,
    version: Number(version),
    batchId: String(batchId),
    time: Number(time),
    type: String(type),
    schemaVersion: Number(schemaVersion),
    data: String(data),
  }
  return checksum === null ? record : Object.assign(record, { checksum: Number(checksum) })
}

const infoOf = (row: Row): EventLog.SessionInfo => ({
  session: text(row, "name"),
  version: integer(row, "version"),
  createdTime: integer(row, "created_at"),
  updatedTime: integer(row, "updated_at"),
  ...describedBy(row),
})

/** The condition of a list, its order, and its parameters. */
const listing = ({ owner, after }: EventLog.ListOptions): readonly [string, ReadonlyArray<unknown>] => {
  if (owner === undefined)
    return after === undefined ? ["ORDER BY name", []] : ["WHERE name > ? ORDER BY name", [after.session]]
  const updated = "coalesce(last.time, created_at)"
  const newestFirst = `ORDER BY ${updated} DESC, name`
  return after === undefined
    ? [`WHERE owner = ? ${newestFirst}`, [owner]]
    : [
        `WHERE owner = ? AND (${updated} < ? OR (${updated} = ? AND name > ?)) ${newestFirst}`,
        [owner, after.updatedTime, after.updatedTime, after.session],
      ]
}

/** The columns of a record, in the order of {@link recordOf}. */
const columns = `${versionOf("events")}, ${batchIdOf("events")}, events.time, types.name, schema_version, data, checksum`

const feedTable = "SELECT name FROM sqlite_master WHERE name = 'feed'"

/** Begins the feed of a database that has none yet. */
const beginFeed = ({ transaction }: Database, begin: ReadonlyArray<string>) =>
  transaction({ operation: "feed" }, (run) =>
    Effect.gen(function* () {
      // Looked at under the lock: another reader may have begun it.
      const found = yield* run(feedTable)
      if (found.length === 0) yield* Effect.forEach(begin, (statement) => run(statement), { discard: true })
    }),
  ).pipe(
    Effect.mapError(
      ({ operation, reason, cause }) =>
        new EventLog.LogError({
          operation,
          reason: `the feed begins when a process that may write reads it first; read it there once (${reason})`,
          cause,
        }),
    ),
  )

/**
 * Begins the feed unless there is one; looked at once in a process. It is asked for rather than read: a client of SQL may keep a
 * statement that could not be prepared.
 */
const feedBegun = (database: Database): Effect.Effect<void, EventLog.LogError> => {
  const { begin } = database.dialect.feed
  let isThere = begin === undefined
  return Effect.suspend(() =>
    isThere || begin === undefined
      ? Effect.void
      : database.lists({ operation: "feed" }, feedTable, []).pipe(
          Effect.flatMap((found) => (found.length > 0 ? Effect.void : beginFeed(database, begin))),
          Effect.tap(() => Effect.sync(() => void (isThere = true))),
        ),
  )
}

/** Reads a page of the feed, and its end. */
const feeding = (database: Database): Required<Pick<EventLog.Service, "feed" | "feedEnd">> => {
  const begun = feedBegun(database)
  const { dialect, lists } = database
  const { feed } = dialect
  const about = { operation: "feed" }
  const size = feed.position.length
  const last = Effect.suspend(() =>
    lists(
      about,
      `SELECT ${feed.position.join(", ")} FROM ${feed.from} WHERE ${feed.behind}
       ORDER BY ${feed.position.map((one) => `${one} DESC`).join(", ")} LIMIT 1`,
      feed.position.map(() => 0),
    ),
  ).pipe(Effect.map(([row]) => (row === undefined ? null : row.join("."))))
  const read: NonNullable<EventLog.Service["feed"]> = ({ after, limit }) => {
    const numbers = after === undefined ? feed.position.map(() => 0) : after.split(".").map(Number)
    if (numbers.length !== size || !numbers.every((one) => Number.isSafeInteger(one) && one >= 0))
      return EventLog.wrongPosition()
    const page = Effect.map(
      lists(
        about,
        `SELECT ${feed.position.join(", ")}, sessions.name AS session, ${columns}
         FROM ${feed.from} LEFT JOIN types ON types.id = events.type
         WHERE ${feed.behind} ORDER BY ${feed.position.join(", ")} LIMIT ?`,
        [...numbers, limit],
      ),
      (rows) =>
        rows.map((row) => ({
          record: recordOf(String(row[size]), row.slice(size + 1)),
          position: row.slice(0, size).join("."),
        })),
    )
    return Effect.zipRight(begun, page)
  }
  return { feed: read, feedEnd: Effect.zipRight(begun, last) }
}

/** The methods of the log of a database that read it. */
export const reads = (
  database: Database,
): Required<Pick<EventLog.Service, "read" | "head" | "list" | "feed" | "feedEnd">> => ({
  ...readingSessions(database),
  ...feeding(database),
})

/** The number that the row of a version has in `events`. */
const bound = "(SELECT id FROM sessions WHERE name = ?) << 32 | ?"

/**
 * The statement of a page. A scan of lengths finds the row that the page ends with, if the limit is not reached first: a database has
 * the length of a text beside it. Rows so short that a whole page of them has less text than a page may have do not count.
 */
const pageOf = (reverse: boolean): string => {
  const order = reverse ? "DESC" : "ASC"
  const range = (from: string, to: string) => `events.id >= ${from} AND events.id <= ${to}`
  const end = `coalesce((
    SELECT id FROM (
      SELECT id, sum(size) OVER (ORDER BY id ${order}) AS text FROM (
        SELECT events.id AS id, octet_length(data) AS size FROM events
        WHERE ${range(bound, bound)} ORDER BY events.id ${order} LIMIT ?
      ) AS sized WHERE size >= ?
    ) AS summed WHERE text >= ? ORDER BY id ${order} LIMIT 1), ${bound})`
  return `SELECT ${columns}
    FROM events LEFT JOIN types ON types.id = events.type
    WHERE ${reverse ? range(end, bound) : range(bound, end)}
    ORDER BY events.id ${order} LIMIT ?`
}

const [oldestFirst, newestFirst] = [pageOf(false), pageOf(true)]

const readingSessions = ({ query, lists }: Database): Pick<EventLog.Service, "read" | "head" | "list"> => ({
  read: (session, { fromVersion, toVersion, reverse, limit }) => {
    const from = [session, Math.min(fromVersion, mostVersions)]
    const to = [session, Math.max(Math.min(toVersion, mostVersions), 0)]
    const { pageText } = EventLog
    const end = [...from, ...to, limit, Math.floor(pageText / limit), pageText, ...(reverse ? from : to)]
    return Effect.map(
      lists({ operation: "read", session }, reverse ? newestFirst : oldestFirst, [
        ...(reverse ? [...end, ...to] : [...from, ...end]),
        limit,
      ]),
      (rows) => rows.map((row) => recordOf(session, row)),
    )
  },
  head: (session) =>
    Effect.map(
      query(
        { operation: "head", session },
        `SELECT last_version AS version, coalesce(${batchIdOf("last")}, '') AS batch_id FROM ${sessionsWithLast}
         WHERE sessions.name = ?`,
        [session],
      ),
      ([row]) =>
        row === undefined ? null : { version: integer(row, "version"), batchId: text(row, "batch_id") },
    ),
  list: (options) => {
    const [condition, parameters] = listing(options)
    return Effect.map(
      query(
        { operation: "list" },
        `SELECT name, last_version AS version, created_at, coalesce(last.time, created_at) AS updated_at, owner, title
         FROM ${sessionsWithLast} ${condition} LIMIT ?`,
        [...parameters, options.limit],
      ),
      (rows) => rows.map(infoOf),
    )
  },
})
