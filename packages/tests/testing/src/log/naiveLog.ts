/** The simplest log: a list for each session, however slow. Stores are compared with it. */
import { EventLog } from "@memfold/core"

type Row = EventLog.ProjectionRow & { readonly kind: string }

interface StoredSession {
  readonly records: ReadonlyArray<EventLog.LogRecord>
  readonly rows: ReadonlyArray<Row>
}

/** The result of an append; `Refused` if a projection change would leave two rows with one mark. */
export type Answer = EventLog.AppendResult | "VersionConflict" | "Refused"

/** The rows after changes; `null` if a change would leave two rows with one mark. */
const changed = (
  before: ReadonlyArray<Row>,
  changes: ReadonlyArray<EventLog.ProjectionChange>,
): ReadonlyArray<Row> | null => {
  let all = before
  for (const { kind, replace, drop, rows } of changes) {
    const added = new Set(rows.map(({ key }) => key))
    const goes = ({ key }: Row) => replace === true || drop?.includes(key) === true || added.has(key)
    all = [
      ...all.filter((row) => row.kind !== kind || !goes(row)),
      ...rows.map((row): Row => ({ ...row, kind })),
    ]
    const marks = all.flatMap((row) => (row.kind === kind ? (row.mark ?? []) : []))
    if (new Set(marks).size < marks.length) return null
  }
  return all
}

const infoOf = (session: string, { records, rows }: StoredSession): EventLog.SessionInfo => {
  const stored = rows.find(({ kind }) => kind === "description")?.data ?? "{}"
  const { owner = null, title = null } = JSON.parse(stored) as Partial<Record<string, string | null>>
  return {
    session,
    version: records.length,
    createdTime: records[0]?.time ?? 0,
    updatedTime: records.at(-1)?.time ?? 0,
    ...(owner === null ? {} : { owner }),
    ...(title === null ? {} : { title }),
  }
}

/** A log without Effect: its operations run at once. */
export class NaiveLog {
  private readonly stored = new Map<string, StoredSession>()

  /** Appends a batch; with `rewritten`, it is a rewrite. */
  append(
    session: string,
    records: ReadonlyArray<EventLog.NewRecord>,
    options: EventLog.AppendOptions,
    rewritten: ReadonlyArray<EventLog.RewrittenRecord> | null = null,
  ): Answer {
    const before = this.stored.get(session) ?? { records: [], rows: [] }
    const applied = before.records.filter(({ batchId }) => batchId === options.batchId)
    const [first] = applied
    if (first !== undefined)
      return { fromVersion: first.version, version: applied.at(-1)?.version ?? 0, duplicate: true }
    const length = before.records.length
    const another =
      options.lastBatchId !== undefined && before.records.at(-1)?.batchId !== options.lastBatchId
    if (length !== options.expectedVersion || another) return "VersionConflict"
    const stays = before.rows.filter(({ kind }) => rewritten === null || kind === "description")
    const rows = changed(stays, options.projections ?? [])
    if (rows === null) return "Refused"
    const old = before.records.map((record) => {
      const change = rewritten?.find(({ version }) => version === record.version)
      if (change === undefined) return record
      const { checksum: _checksum, ...rest } = record
      return { ...rest, ...change }
    })
    const added = records.map((record, position) => ({
      ...record,
      session,
      batchId: options.batchId,
      version: length + position + 1,
    }))
    this.stored.set(session, { records: [...old, ...added], rows })
    return { fromVersion: length + 1, version: length + records.length, duplicate: false }
  }

  read(
    session: string,
    { fromVersion = 1, toVersion = Number.MAX_SAFE_INTEGER, reverse = false }: EventLog.ReadOptions = {},
    limit = Number.MAX_SAFE_INTEGER,
  ): ReadonlyArray<EventLog.LogRecord> {
    const inOrder = (this.stored.get(session)?.records ?? []).filter(
      ({ version }) => version >= fromVersion && version <= toVersion,
    )
    return (reverse ? inOrder.toReversed() : inOrder).slice(0, limit)
  }

  head(session: string): EventLog.LogPosition | null {
    const last = this.stored.get(session)?.records.at(-1)
    return last === undefined ? null : { version: last.version, batchId: last.batchId }
  }

  version(session: string): number {
    return this.head(session)?.version ?? 0
  }

  list({
    owner,
    after,
    limit = Number.MAX_SAFE_INTEGER,
  }: Partial<EventLog.ListOptions> = {}): ReadonlyArray<EventLog.SessionInfo> {
    const compare = (one: EventLog.SessionPosition, other: EventLog.SessionPosition) =>
      owner === undefined
        ? EventLog.compareSessionIds(one.session, other.session)
        : EventLog.compareActivity(one, other)
    return [...this.stored]
      .map(([session, stored]) => infoOf(session, stored))
      .filter((info) => owner === undefined || info.owner === owner)
      .filter((info) => after === undefined || compare(info, after) > 0)
      .toSorted(compare)
      .slice(0, limit)
  }

  delete(session: string): boolean {
    return this.stored.delete(session)
  }

  /** The rows of a kind, by key. */
  rows(session: string, kind: string): ReadonlyArray<EventLog.ProjectionRow> {
    return (this.stored.get(session)?.rows ?? [])
      .filter((row) => row.kind === kind)
      .map(({ key, data, mark }) => ({ key, data, mark }))
  }

  put(
    session: string,
    at: EventLog.LogPosition,
    changes: ReadonlyArray<EventLog.ProjectionChange>,
  ): "done" | "VersionConflict" | "Refused" {
    const before = this.stored.get(session)
    const { version, batchId } = this.head(session) ?? { version: 0, batchId: "" }
    if (at.version !== version || at.batchId !== batchId) return "VersionConflict"
    if (before === undefined) return "done"
    const rows = changed(before.rows, changes)
    if (rows === null) return "Refused"
    this.stored.set(session, { ...before, rows })
    return "done"
  }

  drop(kind: string, session?: string): void {
    for (const [name, { records, rows }] of this.stored) {
      if (session !== undefined && session !== name) continue
      this.stored.set(name, { records, rows: rows.filter((row) => row.kind !== kind) })
    }
  }
}
