import type { EventLog } from "@memfold/log"
import type { Duration, Effect, Stream } from "effect"

/** Computes the projection rows of a session from its records, as the engine does. The records can be read twice. */
export type ProjectionsOf = (
  session: string,
  records: Stream.Stream<EventLog.LogRecord, EventLog.LogError>,
) => Effect.Effect<ReadonlyArray<EventLog.ProjectionChange>, Error>

/** How a file is opened. */
export interface Options {
  /** The path of the database file, or `:memory:` for a database that ends with the process. */
  readonly filename: string
  /** Whether to create a file that does not exist; `true` by default. */
  readonly create?: boolean
  /** Opens the file to read it; every write fails. `false` by default. */
  readonly readonly?: boolean
  /**
   * How durable an append is when it returns. `full` (default): it survives a power cut. `normal`: it survives a killed
   * process, but a power cut can lose the last appends, newest first; faster, because it does not wait for the disk.
   * With either, the file stays valid and no log gets a gap.
   */
  readonly synchronous?: "full" | "normal"
  /** How long a writer waits for the lock of another one; 30 seconds by default. */
  readonly busyTimeout?: Duration.DurationInput
  /**
   * Where another program has dropped the table of summaries, it is made again, and its rows are written with this. Without it, those
   * of a session are written when a memory opens the session next.
   *
   * @example
   * ```ts
   * import { Session } from "@memfold/core"
   * import * as SqliteEventLog from "@memfold/store-sqlite"
   *
   * export const live = SqliteEventLog.layer({
   *   filename: "chats.db",
   *   projectionsOf: (session, records) => Session.projectionsOf(session, Session.decodeRecords(records)),
   * })
   * ```
   */
  readonly projectionsOf?: ProjectionsOf
}
