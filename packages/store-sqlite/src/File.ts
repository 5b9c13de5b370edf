/** An open file of a log. */
import type { EventLog } from "@memfold/log"
import type { Database } from "@memfold/store-sql"
import type { Effect } from "effect"

/** An open file. */
export interface File extends Database {
  /**
   * Moves the write-ahead log into the file and empties it, if no other connection uses it at this moment; otherwise
   * `false`. It does not wait.
   */
  readonly checkpoint: (operation: string) => Effect.Effect<boolean, EventLog.LogError>
  /** Copies the database, page by page, to a file that does not exist. */
  readonly copy: (to: string) => Effect.Effect<void, EventLog.LogError>
}
