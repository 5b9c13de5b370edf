/** The simplest log: a list for each session, however slow. Stores are compared with it. */
import { EventLog } from "@memfold/core"

interface Kept {
  records: Array<EventLog.LogRecord>
  snapshot: EventLog.Snapshot | null
}

/** The result of an append. */
export type Answer = EventLog.AppendResult | "VersionConflict"

/** A log without Effect: its operations run at once. */
export class NaiveLog {
  private readonly kept = new Map<string, Kept>()

  append(
    session: string,
    records: ReadonlyArray<EventLog.NewRecord>,
    options: EventLog.AppendOptions,
    rewritten: ReadonlyArray<EventLog.RewrittenRecord> = [],
  ): Answer {
    const { records: before, snapshot } = this.kept.get(session) ?? { records: [], snapshot: null }
    const applied = before.filter(({ batchId }) => batchId === options.batchId)
    const [first] = applied
    if (first !== undefined)
      return { fromVersion: first.version, version: applied.at(-1)?.version ?? 0, duplicate: true }
    const another = options.lastBatchId !== undefined && before.at(-1)?.batchId !== options.lastBatchId
    if (before.length !== options.expectedVersion || another) return "VersionConflict"
    const changed = before.map((record) => {
      const change = rewritten.find(({ version }) => version === record.version)
      if (change === undefined) return record
      const { checksum: _checksum, ...rest } = record
      return { ...rest, ...change }
    })
    const added = records.map((record, position) => ({
      ...record,
      session,
      batchId: options.batchId,
      version: before.length + position + 1,
    }))
    this.kept.set(session, {
      records: [...changed, ...added],
      snapshot: rewritten.length > 0 ? null : snapshot,
    })
    return { fromVersion: before.length + 1, version: before.length + records.length, duplicate: false }
  }

  read(
    session: string,
    { fromVersion = 1, toVersion = Number.MAX_SAFE_INTEGER, reverse = false }: EventLog.ReadOptions = {},
  ): ReadonlyArray<EventLog.LogRecord> {
    const found = (this.kept.get(session)?.records ?? []).filter(
      ({ version }) => version >= fromVersion && version <= toVersion,
    )
    return reverse ? found.toReversed() : found
  }

  version(session: string): number {
    return this.kept.get(session)?.records.length ?? 0
  }

  lastCommit(session: string): string | undefined {
    return this.kept.get(session)?.records.at(-1)?.batchId
  }

  saveSnapshot(session: string, snapshot: EventLog.Snapshot): void {
    const kept = this.kept.get(session)
    const last = kept?.records.at(-1)
    if (kept !== undefined && last?.version === snapshot.version && last.batchId === snapshot.batchId) {
      kept.snapshot = snapshot
    }
  }

  loadSnapshot(session: string): EventLog.Snapshot | null {
    return this.kept.get(session)?.snapshot ?? null
  }

  sessions(): ReadonlyArray<EventLog.SessionInfo> {
    return [...this.kept]
      .map(([session, { records }]) => ({
        session,
        version: records.length,
        createdTime: records[0]?.time ?? 0,
        updatedTime: records.at(-1)?.time ?? 0,
      }))
      .toSorted((one, other) => EventLog.compareSessionIds(one.session, other.session))
  }

  delete(session: string): boolean {
    return this.kept.delete(session)
  }
}
