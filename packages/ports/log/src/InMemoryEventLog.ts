/**
 * The event log in memory: for tests, experiments and sessions that end with the process. It is the shortest complete store;
 * read it before you write one.
 */
import { Effect, Layer } from "effect"
import {
  type AppendOptions,
  type AppendResult,
  compareActivity,
  compareSessionIds,
  EventLog,
  type FedRecord,
  inPage,
  LogError,
  type LogPosition,
  type LogRecord,
  type NewRecord,
  type ProjectionChange,
  type ProjectionRow,
  type RewrittenRecord,
  type Service,
  type SessionInfo,
  VersionConflict,
  wrongPosition,
} from "./port.js"
import type { Description } from "./Projections.js"

/** The rows of a session by kind and key. */
type Rows = ReadonlyMap<string, ReadonlyMap<string, ProjectionRow>>

interface StoredSession {
  readonly records: Array<LogRecord>
  /** The batches that retries find at any version. */
  readonly batches: Map<string, AppendResult>
  rows: Rows
}

const newSession = (): StoredSession => ({ records: [], batches: new Map(), rows: new Map() })

/** The rows after changes; `null` if a change would leave two rows with one mark. */
const changed = (before: Rows, changes: ReadonlyArray<ProjectionChange>): Rows | null => {
  const after = new Map(before)
  for (const { kind, replace = false, drop = [], rows } of changes) {
    const ofKind = new Map(replace ? [] : after.get(kind))
    for (const key of drop) ofKind.delete(key)
    for (const row of rows) ofKind.set(row.key, row)
    const marks = [...ofKind.values()].flatMap(({ mark }) => mark ?? [])
    if (new Set(marks).size < marks.length) return null
    after.set(kind, ofKind)
  }
  return after
}

const positionOf = (stored: StoredSession | undefined): LogPosition => ({
  version: stored?.records.length ?? 0,
  batchId: stored?.records.at(-1)?.batchId ?? "",
})

const infoOf = ([session, { records, rows }]: readonly [string, StoredSession]): SessionInfo => {
  const stored = rows.get("description")?.get("")
  const { owner, title }: Partial<Description> =
    stored === undefined ? {} : (JSON.parse(stored.data) as Description)
  return {
    session,
    version: records.length,
    createdTime: records[0]?.time ?? 0,
    updatedTime: records.at(-1)?.time ?? 0,
    ...(owner == null ? {} : { owner }),
    ...(title == null ? {} : { title }),
  }
}

/** Replaces the data of records. */
const replaceIn = (records: Array<LogRecord>, replaced: ReadonlyArray<RewrittenRecord>): void => {
  for (const { version, ...change } of replaced) {
    const { checksum: _checksum, ...record } = records[version - 1]!
    records[version - 1] = { ...record, ...change }
  }
}

/** Makes a new, empty log. Each run makes another one. */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  const stored = new Map<string, StoredSession>()
  /** Each record in the order of the appends: the log that it is in, and its place there. */
  const fed: Array<{ readonly records: ReadonlyArray<LogRecord>; readonly at: number }> = []
  const refused = (operation: string, session: string) =>
    new LogError({
      operation,
      session,
      reason: "the change would leave two rows with one mark; nothing was written",
    })

  const write = (
    session: string,
    rewritten: ReadonlyArray<RewrittenRecord> | null,
    added: ReadonlyArray<NewRecord>,
    { expectedVersion, lastBatchId, batchId, retried = "anywhere", projections = [] }: AppendOptions,
  ): Effect.Effect<AppendResult, VersionConflict | LogError> =>
    Effect.suspend((): Effect.Effect<AppendResult, VersionConflict | LogError> => {
      const { records, batches, rows: before } = stored.get(session) ?? newSession()
      const result = {
        fromVersion: expectedVersion + 1,
        version: expectedVersion + added.length,
        duplicate: false,
      }
      const isInPlace =
        records[expectedVersion]?.batchId === batchId && records[expectedVersion - 1]?.batchId !== batchId
      const earlier = retried === "anywhere" ? batches.get(batchId) : isInPlace ? result : undefined
      if (earlier !== undefined) return Effect.succeed({ ...earlier, duplicate: true })
      const actualVersion = records.length
      if (
        actualVersion !== expectedVersion ||
        (lastBatchId ?? records.at(-1)?.batchId) !== records.at(-1)?.batchId
      )
        return Effect.fail(new VersionConflict({ session, expectedVersion, actualVersion }))
      const description = before.get("description")
      const kept: Rows =
        rewritten === null ? before : new Map(description === undefined ? [] : [["description", description]])
      const rows = changed(kept, projections)
      if (rows === null) return Effect.fail(refused("append", session))
      replaceIn(records, rewritten ?? [])
      // The fields of the record come last: in the other order, each object takes ten times as long.
      for (const record of added) {
        fed.push({ records, at: records.length })
        records.push({ session, batchId, version: records.length + 1, ...record })
      }
      if (retried === "anywhere") batches.set(batchId, result)
      stored.set(session, { records, batches, rows })
      return Effect.succeed(result)
    })

  /** The session, if its last record is at a position; none at version 0. */
  const storedAt = (session: string, at: LogPosition) =>
    Effect.suspend((): Effect.Effect<StoredSession | undefined, VersionConflict> => {
      const target = stored.get(session)
      const { version: actualVersion, batchId } = positionOf(target)
      return actualVersion === at.version && batchId === at.batchId
        ? Effect.succeed(target)
        : Effect.fail(new VersionConflict({ session, expectedVersion: at.version, actualVersion }))
    })

  return {
    append: (session, records, options) => write(session, null, records, options),
    rewrite: write,
    replace: (session, replaced, at) =>
      Effect.map(storedAt(session, at), (target) => replaceIn(target?.records ?? [], replaced)),
    read: (session, { fromVersion, toVersion, reverse, limit }) =>
      Effect.sync(() => {
        const range = stored.get(session)?.records.slice(fromVersion - 1, toVersion) ?? []
        return inPage((reverse ? range.toReversed() : range).slice(0, limit))
      }),
    head: (session) => Effect.sync(() => (stored.has(session) ? positionOf(stored.get(session)) : null)),
    list: ({ owner, after, limit }) =>
      Effect.sync(() => {
        const compare: typeof compareActivity =
          owner === undefined
            ? (one, other) => compareSessionIds(one.session, other.session)
            : compareActivity
        return [...stored]
          .map(infoOf)
          .filter((info) => owner === undefined || info.owner === owner)
          .filter((info) => after === undefined || compare(info, after) > 0)
          .toSorted(compare)
          .slice(0, limit)
      }),
    delete: (session, at) =>
      Effect.sync(() => {
        const last = stored.has(session) ? positionOf(stored.get(session)) : null
        const isThere = at === undefined || (last?.version === at.version && last.batchId === at.batchId)
        if (!isThere) return false
        // The feed goes past what is gone.
        stored.get(session)?.records.splice(0)
        return stored.delete(session)
      }),
    feed: ({ after = "0", limit }) =>
      Effect.suspend(() => {
        const start = Number(after)
        if (!Number.isInteger(start) || start < 0 || start > fed.length) return Effect.fail(wrongPosition())
        const page: Array<FedRecord> = []
        for (let at = start; at < fed.length && page.length < limit; at++) {
          const place = fed[at]!
          const record = place.records[place.at]
          if (record !== undefined) page.push({ record, position: String(at + 1) })
        }
        return Effect.succeed(page)
      }),
    feedEnd: Effect.sync(() => (fed.length === 0 ? null : String(fed.length))),
    projections: {
      endsWithProcess: true,
      get: (session, kind, filter) =>
        Effect.sync(() => {
          const rows = [...(stored.get(session)?.rows.get(kind)?.values() ?? [])]
          if (filter === undefined) return rows
          return rows.filter(({ key, mark }) =>
            "keys" in filter ? filter.keys.includes(key) : mark === filter.mark,
          )
        }),
      put: (session, at, changes) =>
        Effect.flatMap(storedAt(session, at), (target): Effect.Effect<void, LogError> => {
          if (target === undefined) return Effect.void
          const rows = changed(target.rows, changes)
          if (rows === null) return Effect.fail(refused("projections.put", session))
          target.rows = rows
          return Effect.void
        }),
      drop: (kind, session) =>
        Effect.sync(() => {
          for (const name of session === undefined ? [...stored.keys()] : [session]) {
            const target = stored.get(name)
            if (target !== undefined)
              target.rows = new Map([...target.rows].filter(([other]) => other !== kind))
          }
        }),
    },
  }
})

/**
 * Provides an in-memory log. Everything built with the same layer instance shares the log.
 *
 * @example
 * ```ts
 * import { EventLog, InMemoryEventLog } from "@memfold/log"
 * import { Effect, Stream } from "effect"
 *
 * const sessions = Effect.flatMap(EventLog.EventLog, (log) => Stream.runCollect(EventLog.sessions(log)))
 * const program = Effect.provide(sessions, InMemoryEventLog.layer)
 * ```
 */
export const layer: Layer.Layer<EventLog> = Layer.effect(EventLog, make)
