/** A log the naive way: a list for each session, and no thought of speed. Stores are held against it. */
import { EventLog } from "@memfold/core"

interface Kept {
  records: Array<EventLog.LogRecord>
  snapshot: EventLog.Snapshot | null
}

/** What an append comes to. */
export type Answer = EventLog.Appended | "VersionConflict"

/** A log that does at once what it is told. */
export class NaiveLog {
  private readonly kept = new Map<string, Kept>()

  append(
    session: string,
    records: ReadonlyArray<EventLog.NewRecord>,
    options: EventLog.AppendOptions,
    rewritten: ReadonlyArray<EventLog.Rewritten> = [],
  ): Answer {
    const { records: before, snapshot } = this.kept.get(session) ?? { records: [], snapshot: null }
    const applied = before.filter(({ commit }) => commit === options.commit)
    const [first] = applied
    if (first !== undefined) return { from: first.seq, version: applied.at(-1)?.seq ?? 0, duplicate: true }
    const another = options.after !== undefined && before.at(-1)?.commit !== options.after
    if (before.length !== options.expected || another) return "VersionConflict"
    const changed = before.map((record) => {
      const change = rewritten.find(({ seq }) => seq === record.seq)
      if (change === undefined) return record
      const { checksum: _checksum, ...rest } = record
      return { ...rest, ...change }
    })
    const added = records.map((record, position) => ({
      ...record,
      session,
      commit: options.commit,
      seq: before.length + position + 1,
    }))
    this.kept.set(session, {
      records: [...changed, ...added],
      snapshot: rewritten.length > 0 ? null : snapshot,
    })
    return { from: before.length + 1, version: before.length + records.length, duplicate: false }
  }

  read(
    session: string,
    { from = 1, to = Number.MAX_SAFE_INTEGER, reverse = false }: EventLog.ReadOptions = {},
  ): ReadonlyArray<EventLog.LogRecord> {
    const found = (this.kept.get(session)?.records ?? []).filter(({ seq }) => seq >= from && seq <= to)
    return reverse ? found.toReversed() : found
  }

  version(session: string): number {
    return this.kept.get(session)?.records.length ?? 0
  }

  lastCommit(session: string): string | undefined {
    return this.kept.get(session)?.records.at(-1)?.commit
  }

  saveSnapshot(session: string, snapshot: EventLog.Snapshot): void {
    const kept = this.kept.get(session)
    const last = kept?.records.at(-1)
    if (kept !== undefined && last?.seq === snapshot.version && last.commit === snapshot.commit) {
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
        createdAt: records[0]?.at ?? 0,
        updatedAt: records.at(-1)?.at ?? 0,
      }))
      .toSorted((one, other) => EventLog.byId(one.session, other.session))
  }

  delete(session: string): boolean {
    return this.kept.delete(session)
  }
}
