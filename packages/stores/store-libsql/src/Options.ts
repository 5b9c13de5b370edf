/** How a libSQL database is opened. */
export interface Options {
  /**
   * Where the database is: `libsql://HOST` for Turso, `http://HOST:PORT` (`https:`, `ws:`, `wss:`) for a server of your own. A file
   * is refused: `@memfold/store-sqlite` opens it.
   */
  readonly url: string
  /** The token of a database on a server. */
  readonly authToken?: string
  /** Creates the tables if there are none; `true` by default. */
  readonly create?: boolean
  /**
   * Opens the database to read it: every write fails, and tables of a newer memfold are read, too. `false` by default.
   */
  readonly readonly?: boolean
  /** How long a write waits for the lock of other writers, in milliseconds; 30 seconds by default. */
  readonly busyTimeout?: number
}
