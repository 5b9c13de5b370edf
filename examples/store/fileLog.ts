import { EventLog } from "@memfold/log"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** What the file of a session has. */
interface Stored {
  readonly session: string
  readonly records: ReadonlyArray<EventLog.LogRecord>
  readonly rows: ReadonlyArray<EventLog.ProjectionRow & { readonly kind: string }>
}

/** The rows after changes. Throws if two rows would have one mark. */
const changed = (before: Stored["rows"], changes: ReadonlyArray<EventLog.ProjectionChange>) => {
  let all = before
  for (const { kind, replace = false, drop = [], rows } of changes) {
    const gone = new Set([...drop, ...rows.map(({ key }) => key)])
    const stays = all.filter((row) => row.kind !== kind || !(replace || gone.has(row.key)))
    all = [...stays, ...rows.map((row) => ({ ...row, kind }))]
    const marks = all.flatMap((row) => (row.kind === kind ? (row.mark ?? []) : []))
    if (new Set(marks).size < marks.length) throw new Error(`two rows of kind "${kind}" would have one mark`)
  }
  return all
}

const infoOf = ({ session, records, rows }: Stored): EventLog.SessionInfo => {
  const description = rows.find(({ kind }) => kind === "description")?.data ?? "{}"
  const { owner, title } = JSON.parse(description) as { owner?: string | null; title?: string | null }
  const [createdTime = 0, updatedTime = 0] = [records[0]?.time, records.at(-1)?.time]
  const described = { ...(owner == null ? {} : { owner }), ...(title == null ? {} : { title }) }
  return { session, version: records.length, createdTime, updatedTime, ...described }
}

const attempt = <A>(operation: string, session: string | undefined, run: () => A) =>
  Effect.try({
    try: run,
    catch: (cause) => new EventLog.LogError({ operation, session, reason: String(cause), cause }),
  })

/** A store with one JSON file for each session. One process has it open at a time. */
const make = (folder: string): EventLog.Service => {
  mkdirSync(folder, { recursive: true })
  const fileOf = (session: string) =>
    join(folder, `${createHash("sha256").update(session).digest("hex")}.json`)
  const parse = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Stored
  const load = (session: string): Stored =>
    existsSync(fileOf(session)) ? parse(fileOf(session)) : { session, records: [], rows: [] }
  const save = (stored: Stored) => {
    writeFileSync(join(folder, "next"), JSON.stringify(stored))
    renameSync(join(folder, "next"), fileOf(stored.session)) // all or nothing
  }
  const conflict = ({ session, records }: Stored, expectedVersion: number) =>
    Effect.fail(new EventLog.VersionConflict({ session, expectedVersion, actualVersion: records.length }))

  const write = (
    session: string,
    rewritten: ReadonlyArray<EventLog.RewrittenRecord> | null,
    added: ReadonlyArray<EventLog.NewRecord>,
    { expectedVersion, lastBatchId, batchId, retried, projections = [] }: EventLog.AppendOptions,
  ) => {
    const before = load(session)
    const { length } = before.records
    const batch = before.records.filter((record) => record.batchId === batchId)
    const [fromVersion, version] = [batch[0]?.version, batch.at(-1)?.version]
    if (fromVersion !== undefined && version !== undefined)
      if (retried !== "in-place" || fromVersion === expectedVersion + 1)
        return Effect.succeed({ fromVersion, version, duplicate: true })
    const last = before.records.at(-1)?.batchId
    if (length !== expectedVersion || (lastBatchId ?? last) !== last) return conflict(before, expectedVersion)
    const records = before.records.map((record) => {
      const change = rewritten?.find((one) => one.version === record.version)
      const { checksum: _checksum, ...rest } = record
      return change === undefined ? record : { ...rest, ...change }
    })
    const news = added.map((record, at) => ({ ...record, session, batchId, version: length + at + 1 }))
    const rows = before.rows.filter(({ kind }) => rewritten === null || kind === "description")
    save({ session, records: [...records, ...news], rows: changed(rows, projections) })
    return Effect.succeed({ fromVersion: length + 1, version: length + added.length, duplicate: false })
  }

  return {
    append: (session, records, options) =>
      Effect.flatten(attempt("append", session, () => write(session, null, records, options))),
    rewrite: (session, rewritten, records, options) =>
      Effect.flatten(attempt("rewrite", session, () => write(session, rewritten, records, options))),
    read: (session, { fromVersion, toVersion, reverse, limit }) =>
      attempt("read", session, () => {
        const range = load(session).records.slice(fromVersion - 1, toVersion)
        return (reverse ? range.toReversed() : range).slice(0, limit)
      }),
    head: (session) =>
      attempt("head", session, () => {
        const last = load(session).records.at(-1)
        return last === undefined ? null : { version: last.version, batchId: last.batchId }
      }),
    list: ({ owner, after, limit }) =>
      attempt("list", undefined, () => {
        const compare = (one: EventLog.SessionPosition, other: EventLog.SessionPosition) =>
          owner === undefined
            ? EventLog.compareSessionIds(one.session, other.session)
            : EventLog.compareActivity(one, other)
        return readdirSync(folder)
          .flatMap((name) => (name.endsWith(".json") ? infoOf(parse(join(folder, name))) : []))
          .filter((info) => owner === undefined || info.owner === owner)
          .filter((info) => after === undefined || compare(info, after) > 0)
          .toSorted(compare)
          .slice(0, limit)
      }),
    delete: (session, at) =>
      attempt("delete", session, () => {
        const last = load(session).records.at(-1)
        const isAt = at === undefined || (last?.version === at.version && last.batchId === at.batchId)
        if (last === undefined || !isAt) return false
        rmSync(fileOf(session))
        return true
      }),
    projections: {
      get: (session, kind, filter) =>
        attempt("projections.get", session, () =>
          load(session)
            .rows.filter((row) => row.kind === kind)
            .filter((row) => {
              if (filter === undefined) return true
              return "keys" in filter ? filter.keys.includes(row.key) : filter.mark === row.mark
            })
            .map(({ kind: _kind, ...row }) => row),
        ),
      put: (session, at, changes) =>
        Effect.flatten(
          attempt("projections.put", session, () => {
            const before = load(session)
            const last = before.records.at(-1) ?? { version: 0, batchId: "" }
            if (last.version !== at.version || last.batchId !== at.batchId)
              return conflict(before, at.version)
            if (last.version > 0) save({ ...before, rows: changed(before.rows, changes) })
            return Effect.void
          }),
        ),
      drop: (kind, session) =>
        attempt("projections.drop", session, () => {
          const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
          for (const stored of names.map((name) => parse(join(folder, name))))
            if (session === undefined || stored.session === session)
              save({ ...stored, rows: stored.rows.filter((row) => row.kind !== kind) })
        }),
    },
  }
}

export const layer = (folder: string): Layer.Layer<EventLog.EventLog> =>
  Layer.sync(EventLog.EventLog, () => make(folder))
