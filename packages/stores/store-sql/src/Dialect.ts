/** What differs between databases. The log uses a database through `SqlClient` and a value of this type. */

/**
 * A database that the log can use. The queries of this package use the SQL that the databases share, and have `?` for each
 * parameter.
 */
export interface Dialect {
  /**
   * A statement as the database takes it, if it is not the statement itself: with `$1` for the first parameter, or with the
   * schema of the tables. See {@link numbered}.
   */
  readonly statement?: ((sql: string) => string) | undefined
  /** The statement that begins a transaction that writes. */
  readonly begin: string
  /**
   * The statement by which a transaction locks a session, which is its parameter, against other transactions and appends. A
   * database whose `begin` keeps all other writers away needs none.
   */
  readonly lock?: string | undefined
  /** The statements that create the tables, the indexes, the triggers and the views, in their order. */
  readonly tables: ReadonlyArray<string>
  /**
   * The statement of appends. Its parameter is a JSON list with an entry for each session: the session, the expected version,
   * the expected last batch id or null, the batch id, its hash or null, and a list of records. A record is a list of the time,
   * the type, the schema version, the data and the checksum or null.
   *
   * It inserts the records of each session that is as expected, and moves the session's last version. Its rows have a column
   * `appended`: the session of each batch that was inserted; further rows have null.
   */
  readonly append: string
  /**
   * How a session starts, which is a row in `sessions`. By default, a transaction for each session inserts the row, and the insert
   * answers with its number. See {@link SessionStart}.
   */
  readonly start?: SessionStart | undefined
  /** How the events of all sessions are read in one order. */
  readonly feed: FeedQuery
  /** The number of the session of a row of `events`, in the words of the index that finds batches. */
  readonly sessionOf: (events: string) => string
  /** Whether a subquery in FROM may name the tables in front of it; `false` by default. Then sessions that are opened at once are one statement. */
  readonly isLateral?: true | undefined
  /** The elements of a JSON list of lists, in a parameter: a table with `key`, the position from 0, and `value`. */
  readonly elements: string
  /** The function that makes a JSON list of its arguments. */
  readonly list: string
  /** The date that other programs read, of a time in milliseconds: an expression for an expression. */
  readonly date: (time: string) => string
  /** Whether a statement or transaction failed because another one has a lock or was faster: it can be tried again. */
  readonly isBusy: (cause: unknown) => boolean
  /** Whether a change was refused because two rows would have one mark. */
  readonly isDuplicate: (cause: unknown) => boolean
  /** Whether a name or a text was refused because the database never takes one of this length. */
  readonly isTooLong: (cause: unknown) => boolean
}

/**
 * How a session starts:
 *
 * - `append`: the statement of appends starts the sessions whose expected version is 0.
 * - `statement`: this statement gets the list of the appends, starts the sessions whose expected version is 0, and goes before
 *   the statement of appends in one transaction.
 * - `number`: a transaction for each session, in which an insert has no answer. This statement reads the number of the next session
 *   before, as `id`.
 */
export type SessionStart =
  | { readonly by: "append" }
  | { readonly by: "statement"; readonly statement: string }
  | { readonly by: "number"; readonly next: string }

/**
 * The feed of a database:
 *
 * - `from`: the tables, with a row of `events` and of `sessions` for each place in the feed
 * - `position`: the expressions of a position, whole numbers of 0 or more, by which the feed is ordered
 * - `behind`: the condition of a place behind a position, whose numbers are the parameters
 * - `begin`: what makes the table `feed` and enters the events that are there, where a database has none until somebody reads it
 * - `stamp`: what a transaction that moves the last version of a session sets beside it, and the column by which each event gets that
 */
export interface FeedQuery {
  readonly from: string
  readonly position: ReadonlyArray<string>
  readonly behind: string
  readonly begin?: ReadonlyArray<string> | undefined
  readonly stamp?: { readonly set: string; readonly column: string } | undefined
}

/** A statement with numbers for its parameters: `$1`, `$2`, and so on. */
export const numbered = (sql: string): string => {
  let position = 0
  return sql.replaceAll("?", () => `$${++position}`)
}
