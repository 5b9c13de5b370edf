/**
 * Projection rows: what follows from the log of a session, stored beside it. A snapshot, the summaries for people, the owner
 * and the title, and the parts of a full-text index are projections (see `projection/` in this package).
 *
 * The engine computes the rows, and can compute them again from the log: a store keeps them, and understands none of them. Two
 * kinds are also for people and other programs, and a store may give them a readable form of their own: `summary`
 * ({@link SummaryRow}) and `description` ({@link Description}), whose owner a store lists sessions by.
 */
import type { Effect } from "effect"
import type { LogError, LogPosition, VersionConflict } from "./LogRecord.js"

/** A row of a projection. */
export interface ProjectionRow {
  /** Identifies the row among the rows of its kind in its session. */
  readonly key: string
  /** Well-formed text, which the store keeps verbatim. Only the projection reads it. */
  readonly data: string
  /**
   * At most one row of a kind in a session has a mark; a store refuses a change that would leave two with one mark. The active
   * summary has the mark `active` (law L1).
   */
  readonly mark?: string | undefined
}

/** A change of the rows of one kind. A row replaces the row with its key, or is added. */
export interface ProjectionChange {
  /** The kind of the rows: `snapshot`, `summary`, `description`, `index`, or a word of a later projection. */
  readonly kind: string
  /** Drops every row of the kind in the session first. */
  readonly replace?: boolean | undefined
  /** The keys of rows to drop. */
  readonly drop?: ReadonlyArray<string> | undefined
  readonly rows: ReadonlyArray<ProjectionRow>
}

/** Which rows of a kind to read: the rows with these keys, or the row with this mark. */
export type RowFilter = { readonly keys: ReadonlyArray<string> } | { readonly mark: string }

/** The projection rows of a store. A session that does not exist has none. */
export interface Projections {
  /**
   * The rows of a kind in a session, in any order: all of them, or the rows that a filter names. Fails with a {@link LogError}
   * if another program has changed rows of a readable form so that they cannot be read.
   */
  readonly get: (
    session: string,
    kind: string,
    filter?: RowFilter,
  ) => Effect.Effect<ReadonlyArray<ProjectionRow>, LogError>
  /**
   * Makes changes, all or none, if the last record of the session is at the position that the rows were computed for. Fails with
   * {@link VersionConflict} if the session has moved on, or was deleted and started again, and with {@link LogError} if the
   * store fails or a change would leave two rows with one mark. For a session that does not exist (version 0), it does nothing.
   */
  readonly put: (
    session: string,
    at: LogPosition,
    changes: ReadonlyArray<ProjectionChange>,
  ) => Effect.Effect<void, VersionConflict | LogError>
  /** Whether the rows end with the process: then nothing is written ahead of its use. `false` by default. */
  readonly endsWithProcess?: boolean
  /** Drops the rows of a kind in a session; without a session, in all sessions. */
  readonly drop: (kind: string, session?: string) => Effect.Effect<void, LogError>
}

/**
 * The status of a summary. At most one summary of a session is active.
 *
 * - `active`: part of the context
 * - `superseded`: replaced by a newer summary; still readable
 * - `invalid`: damaged or taken back; it counts as never committed
 */
export type SummaryStatus = "active" | "superseded" | "invalid"

/**
 * The JSON data of a row of kind `summary`: a summary in readable form. The key of the row is the id. The engine writes the
 * rows with the events that they follow from, and never reads them to decide anything.
 */
export interface SummaryRow {
  /** The version of the event that committed the summary. */
  readonly version: number
  readonly id: string
  readonly status: SummaryStatus
  /** The id of the summary that replaced this one. */
  readonly supersededBy: string | null
  /** The summary covers the messages `[0, coveredTo)`. */
  readonly coveredTo: number
  /** How many messages the session had when the summary was committed. */
  readonly total: number
  /**
   * The text of the whole summary, without its heading. For a superseded summary in blocks, only the blocks that it
   * added: earlier blocks are in the rows before it.
   */
  readonly text: string
  /** The text of the split turn's first part; `null` if the summary has none. */
  readonly turnPrefix: string | null
  /** The tokens of the summary in a context, wording included. */
  readonly tokens: number
  /** When the summary was committed, in milliseconds since the epoch. */
  readonly time: number
}

/**
 * The JSON data of the only row of kind `description`, whose key is empty: the owner of a session, which is an id of the
 * application, and its title; `null` without one.
 */
export interface Description {
  readonly owner: string | null
  readonly title: string | null
}
