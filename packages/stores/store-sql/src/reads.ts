/** Reads of the log: pages of records, heads, and lists of sessions. Each is one query. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import { type Database, integer, type Row, text } from "./Database.js"
import { describedBy } from "./description.js"
import type { Dialect } from "./Dialect.js"
import { together } from "./together.js"
import { batchIdOf, mostVersions, sessionsWithLast, versionOf } from "./queries.js"
import { activeColumns, activeRows } from "./summaries.js"

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
const columns = `${versionOf("events")} AS version, ${batchIdOf("events")} AS batch_id, events.time AS time, types.name AS type,
  schema_version, data, checksum`

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
const pageOf = (reverse: boolean, first = bound, last = bound): string => {
  const order = reverse ? "DESC" : "ASC"
  const range = (from: string, to: string) => `events.id >= ${from} AND events.id <= ${to}`
  const end = `coalesce((
    SELECT id FROM (
      SELECT id, sum(size) OVER (ORDER BY id ${order}) AS text FROM (
        SELECT events.id AS id, octet_length(data) AS size FROM events
        WHERE ${range(first, last)} ORDER BY events.id ${order} LIMIT ?
      ) AS sized WHERE size >= ?
    ) AS summed WHERE text >= ? ORDER BY id ${order} LIMIT 1), ${reverse ? first : last})`
  return `SELECT ${columns}
    FROM events LEFT JOIN types ON types.id = events.type
    WHERE ${reverse ? range(end, last) : range(first, end)}
    ORDER BY events.id ${order} LIMIT ?`
}

const [oldestFirst, newestFirst] = [pageOf(false), pageOf(true)]

/** What a page has besides its limit: see {@link pageOf}. */
const ends = (limit: number) => [limit, Math.floor(EventLog.pageText / limit), EventLog.pageText]

/** The parts of what a session is opened with, in the first column of the rows. */
const part = { head: 0, active: 1, mark: 2, record: 3 }

/**
 * The statement that a session is opened with: rows of records, and beside them others in the same columns. They have no order: to sort
 * them costs as much as to read them. What is materialized is short, and read again and again; the snapshot is read once.
 */
const openStatement = (dialect: Dialect, named: string, marked: string): string => {
  const first = "(SELECT id << 32 | coalesce(CAST(mark AS BIGINT), 1) FROM opened)"
  const last = `(SELECT id << 32 | ${mostVersions} FROM opened)`
  const snapshot = (column: string, id: string) =>
    `(SELECT ${column} FROM projections WHERE session = ${id} AND kind = 'snapshot' AND key = '')`
  return `WITH opened AS MATERIALIZED (
      SELECT id, name, last_version, ${snapshot("mark", "sessions.id")} AS mark FROM sessions WHERE name = ${named}
    )
    SELECT ${part.record} AS part, page.* FROM (${pageOf(false, first, last)}) AS page
    UNION ALL SELECT ${part.head}, last_version,
      (SELECT ${batchIdOf("last")} FROM events AS last WHERE last.id = opened.id << 32 | last_version),
      NULL, mark, NULL, ${snapshot("data", "opened.id")}, NULL FROM opened
    UNION ALL SELECT ${part.active}, NULL, NULL, NULL, NULL, NULL, CAST(${dialect.list}(${activeColumns(dialect, "opened")}) AS TEXT), NULL
      FROM opened JOIN summaries ON summaries.session = opened.id OR summaries.thread_id = opened.name WHERE is_active = TRUE
    UNION ALL SELECT ${part.mark}, last_version, NULL, NULL, NULL, NULL, NULL, NULL
      FROM sessions WHERE name = ${marked} AND NOT EXISTS (SELECT 1 FROM opened)`
}

/** What a session is opened with, of the rows of {@link openStatement}. */
const openedOf = (session: string, rows: ReadonlyArray<ReadonlyArray<unknown>>): EventLog.Opened => {
  const of: Readonly<Record<keyof typeof part, Array<ReadonlyArray<unknown>>>> = {
    head: [],
    active: [],
    mark: [],
    record: [],
  }
  const parts = [of.head, of.active, of.mark, of.record]
  for (const row of rows) parts[Number(row[0])]?.push(row.slice(1))
  const [head] = of.head
  const [version, batchId, , mark, , data] = head ?? []
  return {
    head: head === undefined ? null : { version: Number(version), batchId: String(batchId ?? "") },
    snapshot:
      typeof data === "string" ? { key: "", data, ...(typeof mark === "string" ? { mark } : {}) } : null,
    active: activeRows(of.active.map((columns) => String(columns[5]))),
    page: of.record
      .map((columns) => recordOf(session, columns))
      .toSorted((one, other) => one.version - other.version),
    ...(head === undefined ? { isMarked: of.mark.length > 0 } : {}),
  }
}

/** What a session is opened with, by one statement. */
export const opening = (database: Database): EventLog.Opening["ask"] => {
  const within = (limit: number) =>
    together(database, {
      operation: "open",
      named: (session) => [session, EventLog.markOf(session)],
      statement: (name) => openStatement(database.dialect, name(0), name(1)),
      parameters: (names) => [...names.slice(0, 1), ...ends(limit), limit, ...names.slice(1)],
      answer: openedOf,
    })
  // All pages of a memory have one limit.
  const byLimit = new Map<number, ReturnType<typeof within>>()
  return (session, limit) => {
    const ask = byLimit.get(limit) ?? within(limit)
    byLimit.set(limit, ask)
    return ask(session)
  }
}

/** The heads of sessions. */
const heads = (database: Database): EventLog.Service["head"] =>
  together(database, {
    operation: "head",
    named: (session) => [session],
    statement: (name) =>
      `SELECT last_version, coalesce(${batchIdOf("last")}, '') FROM ${sessionsWithLast} WHERE sessions.name = ${name(0)} LIMIT 1`,
    parameters: (names) => names,
    answer: (_session, [row]) =>
      row === undefined ? null : { version: Number(row[0]), batchId: String(row[1]) },
  })

const readingSessions = (
  database: Database,
  { query, lists } = database,
): Pick<EventLog.Service, "read" | "head" | "list"> => ({
  read: (session, { fromVersion, toVersion, reverse, limit }) => {
    const from = [session, Math.min(fromVersion, mostVersions)]
    const to = [session, Math.max(Math.min(toVersion, mostVersions), 0)]
    const end = [...from, ...to, ...ends(limit), ...(reverse ? from : to)]
    return Effect.map(
      lists({ operation: "read", session }, reverse ? newestFirst : oldestFirst, [
        ...(reverse ? [...end, ...to] : [...from, ...end]),
        limit,
      ]),
      (rows) => rows.map((row) => recordOf(session, row)),
    )
  },
  head: heads(database),
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
