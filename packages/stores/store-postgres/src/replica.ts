/**
 * Reads of a session from a standby. The primary says where a session is, and the standby answers if it has replayed as much: nothing that
 * this process has written or seen is ever missing. Otherwise, and while the standby is away, the primary answers.
 */
import { SqlError } from "@effect/sql/SqlError"
import type { EventLog } from "@memfold/log"
import { Newest } from "@memfold/log/Newest"
import { batchIdOf, type Database, database, logOf, sessionsWithLast, type Use } from "@memfold/store-sql"
import { Clock, Effect, FiberRef, type Scope } from "effect"
import { postgres } from "./dialect.js"
import { reasonOf } from "./reasons.js"

/** Where a session was when the primary was asked, in bytes of the write-ahead log too, and the time of that. */
interface Seen extends EventLog.LogPosition {
  readonly replayed: number
  readonly at: number
}

/** How long an answer of the primary holds, in milliseconds: the parts of one operation ask once. */
const holds = 100

/** What is known of so many sessions is kept. */
const capacity = 10_000

/** A standby that fails is left alone for a second, and twice as long each time, up to this; in milliseconds. */
const longestRest = 30_000

const replayed = (place: string): string => `CAST(${place} - '0/0' AS BIGINT)`

/** Whatever a transaction can see is in the write-ahead log in front of the place where the next record goes. A standby has no such place. */
const headQuery = `SELECT last_version AS version, coalesce(${batchIdOf("last")}, '') AS batch_id,
    CASE WHEN NOT pg_is_in_recovery() THEN ${replayed("pg_current_wal_insert_lsn()")} END AS replayed
  FROM ${sessionsWithLast} WHERE sessions.name = ?`

/** The place in the write-ahead log is not enough: a standby of another server has one as well. */
const hasQuery = `SELECT pg_is_in_recovery() AS follows,
    coalesce(${replayed("pg_last_wal_replay_lsn()")} >= CAST(? AS BIGINT), FALSE) AND EXISTS (
      SELECT 1 FROM sessions JOIN events AS known ON known.id = sessions.id << 32 | CAST(? AS BIGINT)
      WHERE sessions.name = ? AND ${batchIdOf("known")} = ?) AS has`

const behind = new Error("it has not replayed what was seen")

const isBehind = ({ cause }: EventLog.LogError): boolean =>
  cause instanceof SqlError && cause.cause === behind

/** What this process knows of sessions. Whatever is written here puts a mark in place of what was known: the primary is asked again. */
const knowledge = () => {
  let known = new Newest<Seen | symbol>(capacity)
  const of = (session: string): Seen | undefined => {
    const entry = known.get(session)
    return typeof entry === "object" ? entry : undefined
  }
  return {
    of,
    forget: (session: string) => known.set(session, Symbol(session)),
    forgetAll: () => {
      known = new Newest(capacity)
    },
    /** Begins to ask the primary. What was written meanwhile is perhaps not in its answer, which then counts for nothing. */
    asking: (session: string) => {
      const [all, before] = [known, known.get(session)]
      return (seen: Seen) => {
        const now = of(session)
        if (known !== all || (now === undefined && known.get(session) !== before)) return
        const isSame = now?.version === seen.version && now.batchId === seen.batchId
        // The place grows with the writes of all sessions: the earliest with the same head is enough.
        if (isSame) known.set(session, { ...seen, replayed: Math.min(now.replayed, seen.replayed) })
        else if (now === undefined || now.replayed <= seen.replayed) known.set(session, seen)
      }
    },
  }
}

/** Leaves a standby alone that fails. After a pause, one reader tries it again, and the others when it has answered. */
const resting = (name: string) => {
  let [until, pause] = [Number.NEGATIVE_INFINITY, 0]
  return {
    isAway: (now: number): boolean => {
      if (now < until) return true
      if (pause > 0) until = now + pause
      return false
    },
    answered: () => {
      ;[until, pause] = [Number.NEGATIVE_INFINITY, 0]
    },
    failed: ({ reason }: EventLog.LogError) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const isFirst = pause === 0
        if (isFirst || now >= until - pause) pause = Math.min(Math.max(2 * pause, 1_000), longestRest)
        until = now + pause
        return isFirst
          ? Effect.annotateLogs(Effect.logWarning("the primary answers for the replica"), { name, reason })
          : Effect.void
      }),
  }
}

/** The reads of a session on a standby, which fail with {@link behind} where it has not what was seen. */
const readsOf = (use: Use, schema: string, name: string) =>
  Effect.gen(function* () {
    const needed = yield* FiberRef.make<readonly [session: string, seen: Seen] | null>(null)
    const dialect = postgres(schema)
    const check = dialect.statement?.(hasQuery) ?? hasQuery
    const checked: Use = (body) =>
      use((connection) =>
        Effect.gen(function* () {
          const [session, { version, batchId, replayed: place }] = (yield* FiberRef.get(needed))!
          const parameters = [place, version, session, batchId]
          const [row] = yield* connection.execute(check, parameters, undefined)
          const { follows, has } = row as { readonly follows: boolean; readonly has: boolean }
          const cause = !follows ? new Error("it is no standby") : has ? null : behind
          return yield* cause === null ? body(connection) : Effect.fail(new SqlError({ cause }))
        }),
      )
    const log = logOf(database(checked, { dialect, reasonOf: reasonOf(name), reading: Effect.disconnect }))
    return (session: string, seen: Seen) => ({
      read: (page: EventLog.PageOptions) => Effect.locally(log.read(session, page), needed, [session, seen]),
      get: (kind: string, filter?: EventLog.RowFilter) =>
        Effect.locally(log.projections.get(session, kind, filter), needed, [session, seen]),
    })
  })

/**
 * Reads the records and the projection rows of sessions from a standby, where it has what was seen. All else stays with the primary: heads,
 * lists, the feed, and what writes.
 *
 * @param log - the log of the primary
 * @param primary - its database
 * @param standby - the connections of the standby, and its name for errors
 */
export const withReplica = (
  log: EventLog.Service,
  primary: Database,
  { use, schema, name }: { readonly use: Use; readonly schema: string; readonly name: string },
): Effect.Effect<EventLog.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    const known = knowledge()
    const rest = resting(name)
    const standby = yield* readsOf(use, schema, name)
    type Reads = ReturnType<typeof standby>

    const head: EventLog.Service["head"] = (session) =>
      Effect.gen(function* () {
        const learn = known.asking(session)
        const at = yield* Clock.currentTimeMillis
        const [row] = yield* primary.query({ operation: "head", session }, headQuery, [session])
        if (row === undefined || row["replayed"] === null) known.forget(session)
        if (row === undefined) return null
        const position = { version: Number(row["version"]), batchId: String(row["batch_id"]) }
        if (row["replayed"] !== null) learn({ ...position, replayed: Number(row["replayed"]), at })
        return position
      })

    const seenOf = (session: string, now: number) =>
      Effect.suspend(() => {
        const seen = known.of(session)
        return seen !== undefined && Math.abs(now - seen.at) < holds
          ? Effect.succeed(seen)
          : Effect.map(head(session), () => known.of(session))
      })

    const reading = <A>(
      session: string,
      there: (reads: Reads) => Effect.Effect<A, EventLog.LogError>,
      here: Effect.Effect<A, EventLog.LogError>,
    ): Effect.Effect<A, EventLog.LogError> =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const seen = rest.isAway(now) ? undefined : yield* seenOf(session, now)
        const answer = seen === undefined ? null : yield* Effect.either(there(standby(session, seen)))
        if (answer?._tag === "Right" || (answer !== null && isBehind(answer.left))) rest.answered()
        else if (answer !== null) yield* rest.failed(answer.left)
        if (answer?._tag === "Right") return answer.right
        const read = yield* here
        // The caller has now seen what the primary has: the standby must not answer with less.
        known.forget(session)
        if (answer !== null && isBehind(answer.left)) yield* Effect.ignore(head(session))
        return read
      })

    const writing =
      (session: string) =>
      <A, E>(write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.ensuring(
          write,
          Effect.sync(() => known.forget(session)),
        )

    const { append, rewrite, replace, delete: remove, read, projections } = log
    return {
      ...log,
      head,
      read: (session, page) => reading(session, (reads) => reads.read(page), read(session, page)),
      append: (session, records, options) => writing(session)(append(session, records, options)),
      rewrite: (session, rewritten, records, options) =>
        writing(session)(rewrite(session, rewritten, records, options)),
      ...(replace && {
        replace: (session, replaced, at) => writing(session)(replace(session, replaced, at)),
      }),
      delete: (session, at) => writing(session)(remove(session, at)),
      projections: {
        ...projections,
        get: (session, kind, filter) =>
          reading(session, (reads) => reads.get(kind, filter), projections.get(session, kind, filter)),
        put: (session, at, changes) => writing(session)(projections.put(session, at, changes)),
        drop: (kind, session) =>
          session === undefined
            ? Effect.ensuring(projections.drop(kind), Effect.sync(known.forgetAll))
            : writing(session)(projections.drop(kind, session)),
      },
    }
  })
