/** What sessions are copied from. */
import { EventLog } from "@memfold/log"
import type { Effect, Stream } from "effect"

/** The source of a copy: a store, or an exported file. */
export interface Source {
  readonly version: (session: string) => Effect.Effect<number, EventLog.LogError>
  /** The records of a session, in order. The stream can run more than once. */
  readonly records: (
    session: string,
    range?: EventLog.ReadOptions,
  ) => Stream.Stream<EventLog.LogRecord, EventLog.LogError>
  /** Rows that may be copied as they are; none, where only the records are known. */
  readonly rows: (
    session: string,
    kind: "snapshot" | "description",
  ) => Effect.Effect<ReadonlyArray<EventLog.ProjectionRow>, EventLog.LogError>
}

/**
 * A store as the source of a copy.
 *
 * @param read - how its records are read: `EventLog.storedRecords` has those whose data are in an archive as they are in the store
 */
export const sourceOf = (log: EventLog.Service, read = EventLog.records): Source => ({
  version: (session) => EventLog.versionOf(log, session),
  records: (session, range) => read(log, session, range),
  rows: (session, kind) => log.projections.get(session, kind),
})
