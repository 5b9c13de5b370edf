/**
 * The tables, indexes, triggers and views of a file that follow from its log. Another program may drop or change them, as a
 * migration does that knows its own tables only. They are made again: the log has everything that was in them.
 */
import { EventLog } from "@memfold/log"
import {
  type Database,
  feedTables,
  fillFeed,
  logOf,
  type Row,
  sqlite,
  text,
  typeNumber,
} from "@memfold/store-sql"
import { Effect } from "effect"
import { refused } from "./checks.js"
import type { Options, ProjectionsOf } from "./Options.js"
import * as Unfinished from "./unfinished.js"

/** The statements that create what each file has. */
export const definitions: ReadonlyArray<string> = [...sqlite.tables, Unfinished.table]

/** The tables of the log itself: nothing can make them again. */
const ofLog: ReadonlySet<string> = new Set(["sessions", "types", "events"])

const created = [...definitions, ...feedTables].map((definition) => {
  const [, type = "", name = ""] =
    /^CREATE (?:UNIQUE )?(TABLE|INDEX|TRIGGER|VIEW) (\w+)/.exec(definition) ?? []
  return { type, name, definition }
})

/**
 * What a file lacks, or has with another definition, by the rows of its `sqlite_master`. Of the feed, which begins with its first reader,
 * only if there is any of it.
 */
export const lackedBy = (rows: ReadonlyArray<Row>) => {
  const found = new Map(rows.map((row) => [row["name"], row]))
  const isOfFeed = ({ definition }: { readonly definition: string }) => feedTables.includes(definition)
  const hasFeed = created.some((one) => isOfFeed(one) && found.has(one.name))
  return created
    .filter((one) => (hasFeed || !isOfFeed(one)) && found.get(one.name)?.["sql"] !== one.definition)
    .map((one) => ({ ...one, now: found.get(one.name)?.["type"] }))
}

const about = { operation: "open" }

/** What a file lacks of what follows from its log. Fails if a table of the log is missing. */
const differing = (file: string, { query }: Database) =>
  Effect.gen(function* () {
    const lacked = lackedBy(yield* query(about, "SELECT type, name, sql FROM sqlite_master"))
    const ofLogItself = lacked.filter(({ name }) => ofLog.has(name))
    const lost = ofLogItself.find(({ now }) => now === undefined)
    if (lost !== undefined)
      return yield* refused(file, `has lost its table ${lost.name}; restore the file from a backup`)
    // What reads a changed table of the log has been changed with it.
    return ofLogItself.length > 0 ? [] : lacked
  })

/** Writes the summary rows of all sessions. A session that cannot be read is left to `memfold verify`. */
const fillSummaries = (database: Database, projectionsOf: ProjectionsOf) =>
  Effect.gen(function* () {
    const log = logOf(database)
    const sessions = yield* database.query(
      about,
      `SELECT name FROM sessions WHERE id IN (
         SELECT session FROM events WHERE type = ${typeNumber("'SummaryCommitted'")})`,
    )
    yield* Effect.forEach(
      sessions,
      (row) =>
        Effect.gen(function* () {
          const session = text(row, "name")
          const head = yield* log.head(session)
          if (head === null) return
          const records = EventLog.records(log, session, { toVersion: head.version })
          const changes = yield* projectionsOf(session, records)
          yield* log.projections.put(
            session,
            head,
            changes.filter(({ kind }) => kind === "summary"),
          )
        }).pipe(
          Effect.retry({ times: 5, while: (error) => error instanceof EventLog.VersionConflict }),
          Effect.ignoreLogged,
        ),
      { discard: true },
    )
  })

/**
 * Makes again what a file lacks of what follows from its log, and what has another definition. Where the process ends before the
 * summary rows are written, and without `projectionsOf`, a memory writes those of each session when it opens the session.
 */
export const restore = (
  { filename: file, projectionsOf }: Pick<Options, "filename" | "projectionsOf">,
  database: Database,
): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    if ((yield* differing(file, database)).length === 0) return
    const restored = yield* database.transaction(about, (run) =>
      Effect.gen(function* () {
        // Looked at again under the lock: another process may have been first.
        const query: Database["query"] = (_about, sql, parameters) => Effect.orDie(run(sql, parameters))
        const list = yield* differing(file, { ...database, query })
        for (const { name, now } of list)
          if (now !== undefined) yield* run(`DROP ${String(now)} IF EXISTS ${name}`)
        const names = new Set(list.map(({ name }) => name))
        const dropped = (name: string) => names.has(name)
        // A dropped table has taken its indexes with it.
        const indexed = (definition: string) =>
          [...names].some((name) => definition.includes(` ON ${name} (`))
        for (const { type, name, definition } of created)
          if (dropped(name) || (type === "INDEX" && indexed(definition))) yield* run(definition)
        if (dropped("last_version_of_session"))
          yield* run(
            `UPDATE sessions SET last_version = max(last_version, coalesce(
               (SELECT max(events.id) & 0xffffffff FROM events
                WHERE events.id > sessions.id << 32 AND events.id < sessions.id + 1 << 32), 0))`,
          )
        if (dropped("feed") || dropped("feed_of_events")) {
          yield* run("DELETE FROM feed")
          yield* run(fillFeed)
        }
        // It listed rewrites whose old text may still be in the write-ahead log: the next look empties that.
        if (dropped("unfinished_rewrites"))
          yield* run("INSERT INTO unfinished_rewrites (session, batch_id) VALUES ('', '')")
        return names
      }),
    )
    if (restored.size === 0) return
    yield* Effect.annotateLogs(
      Effect.logWarning(
        "another program has dropped or changed tables that follow from the log; they are made again",
      ),
      { file, tables: [...restored].join(", ") },
    )
    if (restored.has("summaries") && projectionsOf !== undefined)
      yield* fillSummaries(database, projectionsOf)
  })

/** Whether an error of the database says that something is missing which can be made again. */
export const isMissing = (cause: unknown): boolean => {
  const message = cause instanceof Error ? cause.message : ""
  const [, name = ""] = /^no such (?:table|index): (?:main\.)?(\w+)$/.exec(message) ?? []
  return !ofLog.has(name) && created.some((one) => one.name === name)
}
