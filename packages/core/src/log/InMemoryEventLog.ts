/**
 * The event log in memory: for tests, experiments and sessions that end with the process.
 */
import { Effect, Layer, Option, Stream } from "effect"
import type {
  AppendOptions,
  AppendResult,
  Description,
  LogPosition,
  LogRecord,
  NewRecord,
  RewrittenRecord,
  Service,
  SessionInfo,
  Snapshot,
  SummaryChanges,
  SummaryRow,
} from "./EventLog.js"
import {
  compareActivity,
  compareSessionIds,
  described,
  EventLog,
  LogError,
  VersionConflict,
} from "./EventLog.js"

interface Stored {
  readonly records: Array<LogRecord>
  /** The batches that retries find at any version. */
  readonly batches: Map<string, AppendResult>
  snapshot: Snapshot | null
  summaries: ReadonlyMap<number, SummaryRow>
  description: Description
}

/** The summary rows after a change, or what is wrong with them. */
const changedRows = (
  before: ReadonlyMap<number, SummaryRow>,
  { replace, rows }: SummaryChanges,
): ReadonlyMap<number, SummaryRow> | string => {
  const after = new Map(replace ? [] : before)
  for (const row of rows) after.set(row.version, row)
  const all = [...after.values()]
  if (all.filter(({ status }) => status === "active").length > 1) return "two active summaries"
  return new Set(all.map(({ id }) => id)).size < all.length ? "two summaries with one id" : after
}

/** Whether a batch begins behind a version. */
const beginsAt = (records: ReadonlyArray<LogRecord> | undefined, version: number, batchId: string): boolean =>
  records?.[version]?.batchId === batchId && records[version - 1]?.batchId !== batchId

/** The error for rows that are refused. */
const refused = (operation: string, session: string, problem: string) =>
  new LogError({ operation, session, reason: `the change would leave ${problem}; nothing was written` })

/** Makes a new, empty log. Each run makes another one. */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  const stored = new Map<string, Stored>()

  const slice = (session: string, from = 1, to = Number.POSITIVE_INFINITY): ReadonlyArray<LogRecord> =>
    stored.get(session)?.records.slice(Math.max(from, 1) - 1, Math.max(to, 0)) ?? []

  const write = (
    session: string,
    rewritten: ReadonlyArray<RewrittenRecord>,
    records: ReadonlyArray<NewRecord>,
    { expectedVersion, lastBatchId, batchId, retried = "anywhere", summaries, description }: AppendOptions,
  ): Effect.Effect<AppendResult, VersionConflict | LogError> =>
    Effect.suspend((): Effect.Effect<AppendResult, VersionConflict | LogError> => {
      const existing = stored.get(session)
      const inPlace = {
        fromVersion: expectedVersion + 1,
        version: expectedVersion + records.length,
        duplicate: false,
      }
      const before =
        retried === "anywhere"
          ? existing?.batches.get(batchId)
          : beginsAt(existing?.records, expectedVersion, batchId)
            ? inPlace
            : undefined
      if (before !== undefined) return Effect.succeed({ ...before, duplicate: true })
      const actual = existing?.records.length ?? 0
      const replaced = lastBatchId !== undefined && existing?.records.at(-1)?.batchId !== lastBatchId
      if (actual !== expectedVersion || replaced)
        return Effect.fail(new VersionConflict({ session, expectedVersion, actualVersion: actual }))
      const target: Stored = existing ?? {
        records: [],
        batches: new Map(),
        snapshot: null,
        summaries: new Map(),
        description: { owner: null, title: null },
      }
      const kept = rewritten.length > 0 ? new Map<number, SummaryRow>() : target.summaries
      const rows = summaries === undefined ? kept : changedRows(kept, summaries)
      if (typeof rows === "string") return refused("append", session, rows)
      target.summaries = rows
      target.description = description ?? target.description
      for (const { version, ...change } of rewritten) {
        const record = target.records[version - 1]
        if (record === undefined) continue
        const { checksum: _checksum, ...kept } = record
        target.records[version - 1] = { ...kept, ...change }
      }
      if (rewritten.length > 0) target.snapshot = null
      for (const record of records) {
        target.records.push({ ...record, session, batchId, version: target.records.length + 1 })
      }
      if (retried === "anywhere") target.batches.set(batchId, inPlace)
      stored.set(session, target)
      return Effect.succeed(inPlace)
    })

  const infoOf = ([session, { records, description }]: readonly [string, Stored]): SessionInfo => ({
    session,
    version: records.length,
    createdTime: records[0]?.time ?? 0,
    updatedTime: records.at(-1)?.time ?? 0,
    ...described(description),
  })

  /** A session that is still at a place; `null` if there is none. */
  const at = (
    session: string,
    { version, batchId }: LogPosition,
  ): Effect.Effect<Stored | null, VersionConflict> =>
    Effect.suspend(() => {
      const target = stored.get(session)
      const actualVersion = target?.records.length ?? 0
      return actualVersion !== version || (target !== undefined && target.records.at(-1)?.batchId !== batchId)
        ? new VersionConflict({ session, expectedVersion: version, actualVersion })
        : Effect.succeed(target ?? null)
    })

  return {
    append: (session, records, options) => write(session, [], records, options),
    rewrite: write,
    read: (session, { fromVersion, toVersion, reverse = false } = {}) =>
      Stream.suspend(() => {
        const records = slice(session, fromVersion, toVersion)
        return Stream.fromIterable(reverse ? records.toReversed() : records)
      }),
    head: (session) =>
      Effect.sync(() => {
        const last = stored.get(session)?.records.at(-1)
        return last === undefined ? null : { version: last.version, batchId: last.batchId }
      }),
    version: (session) => Effect.sync(() => stored.get(session)?.records.length ?? 0),
    saveSnapshot: (session, snapshot) =>
      Effect.sync(() => {
        const target = stored.get(session)
        const last = target?.records.at(-1)
        if (target === undefined || last === undefined) return
        if (last.version === snapshot.version && last.batchId === snapshot.batchId) target.snapshot = snapshot
      }),
    loadSnapshot: (session) => Effect.sync(() => Option.fromNullable(stored.get(session)?.snapshot)),
    summaries: (session, { activeOnly = false } = {}) =>
      Effect.sync(() =>
        [...(stored.get(session)?.summaries.values() ?? [])]
          .filter(({ status }) => !activeOnly || status === "active")
          .toSorted((one, other) => one.version - other.version),
      ),
    replaceSummaries: (session, rows, place) =>
      Effect.flatMap(at(session, place), (target) => {
        const replaced = changedRows(new Map(), { replace: true, rows })
        if (target === null) return Effect.void
        if (typeof replaced === "string") return refused("replaceSummaries", session, replaced)
        target.summaries = replaced
        return Effect.void
      }),
    owned: (owner, { limit, after }) =>
      Effect.sync(() =>
        [...stored]
          .filter(([, { description }]) => description.owner === owner)
          .map(infoOf)
          .filter((info) => after === undefined || compareActivity(info, after) > 0)
          .toSorted(compareActivity)
          .slice(0, limit),
      ),
    description: (session) => Effect.sync(() => stored.get(session)?.description ?? null),
    replaceDescription: (session, description, place) =>
      Effect.map(at(session, place), (target) => {
        if (target !== null) target.description = description
      }),
    sessions: Stream.suspend(() =>
      Stream.fromIterable(
        [...stored]
          .filter(([, { records }]) => records.length > 0)
          .map(infoOf)
          .toSorted((one, other) => compareSessionIds(one.session, other.session)),
      ),
    ),
    delete: (session) => Effect.sync(() => stored.delete(session)),
  }
})

/**
 * Provides an in-memory log. Everything built with the same layer instance shares the log.
 *
 * @example
 * ```ts
 * import { EventLog, InMemoryEventLog } from "@memfold/core"
 * import { Effect, Stream } from "effect"
 *
 * const sessions = Effect.flatMap(EventLog.EventLog, (log) => Stream.runCollect(log.sessions))
 * const program = Effect.provide(sessions, InMemoryEventLog.layer)
 * ```
 */
export const layer: Layer.Layer<EventLog> = Layer.effect(EventLog, make)
