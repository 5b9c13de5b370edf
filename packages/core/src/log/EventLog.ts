/**
 * The port that every store implements: an append-only log per session.
 *
 * The log is the source of truth and the lock. A store keeps records in order, compares versions so that exactly one
 * of two writers wins, and keeps snapshots and summary rows as it gets them. It never decodes an event: only the
 * engine does.
 */
import { Context, type Effect, type Option, Schema, type Stream } from "effect"
import type { NonEmptyReadonlyArray } from "effect/Array"

/** One stored event. `data` is JSON text and is stored verbatim. */
export interface LogRecord {
  readonly session: string
  /** Its place in the session's log: contiguous, from 1. */
  readonly version: number
  /** The batch it was appended with. */
  readonly batchId: string
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  readonly type: string
  /** The version of the schema that `data` was written with. */
  readonly schemaVersion: number
  readonly data: string
  /** The CRC-32 of what `checksumOf` covers; none on records that were written without one. */
  readonly checksum?: number
}

/** A record before the log has given it its place. */
export type NewRecord = Omit<LogRecord, "session" | "version" | "batchId">

/** The status of a summary: at most one of a session is active. */
export type SummaryStatus = "active" | "superseded" | "invalid"

/**
 * A summary as the store shows it to people, next to the log. The engine makes the rows and hands them over with the
 * events they come from; it never reads them to decide anything.
 */
export interface SummaryRow {
  /** The version of the event that committed the summary. It identifies the row within its session. */
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
   * The text of the whole summary, without its heading. A superseded summary in blocks has the text it added itself:
   * the blocks before it are in the rows before it.
   */
  readonly text: string
  /** The text of the split turn's first part; `null` if the summary has none. */
  readonly turnPrefix: string | null
  readonly tokens: number
  /** When the summary was committed, in milliseconds since the epoch. */
  readonly time: number
}

/** How an append changes the summary rows of its session. Rows are replaced by version, or added. */
export interface SummaryChanges {
  /** Removes every row of the session first. */
  readonly replace: boolean
  readonly rows: ReadonlyArray<SummaryRow>
}

/**
 * How to append.
 *
 * - `expected`: the version (the last sequence number, 0 for a new session) the records were decided on
 * - `after`: the commit of the record at `expected`, if the writer knows it. A log that was deleted and started again
 *   can have the same length, but is another log
 * - `commit`: the id of this batch. Appending it a second time changes nothing and returns the first result, so a
 *   caller who never got the answer can safely ask again
 * - `summaries`: what changes in the summary rows, in the same transaction. The store refuses a change that would
 *   leave two active rows
 */
export interface AppendOptions {
  readonly expectedVersion: number
  readonly lastBatchId?: string | undefined
  readonly batchId: string
  readonly summaries?: SummaryChanges | undefined
}

/** Where a batch stands: `[from, version]`. `duplicate` when the commit had been applied before. */
export interface AppendResult {
  readonly fromVersion: number
  readonly version: number
  readonly duplicate: boolean
}

/** A range of sequence numbers, both ends included; everything when empty. */
export interface ReadOptions {
  readonly fromVersion?: number
  readonly toVersion?: number
  /** Newest first. */
  readonly reverse?: boolean
}

/** A cached fold. Disposable: losing one costs time, never data. */
export interface Snapshot {
  /** The version of the fold that made it; another fold ignores it. */
  readonly foldVersion: number
  /** The last sequence number folded in. */
  readonly version: number
  /** The commit of that record: it says of which log this is a fold. */
  readonly batchId: string
  readonly data: string
}

/** A session as a list shows it. */
export interface SessionInfo {
  readonly session: string
  /** Its last sequence number. */
  readonly version: number
  /** When its first and last events were written, in milliseconds since the epoch. */
  readonly createdTime: number
  readonly updatedTime: number
}

/** Somebody else appended first, or the session was begun anew. Read on from `expected` and decide again. */
export class VersionConflict extends Schema.TaggedError<VersionConflict>()("VersionConflict", {
  session: Schema.String,
  expectedVersion: Schema.Number,
  actualVersion: Schema.Number,
}) {
  override get message(): string {
    return `Session "${this.session}" is at version ${this.actualVersion}, not ${this.expectedVersion}`
  }
}

/** The store could not do its work. `reason` says what is wrong and what to do about it. */
export class LogError extends Schema.TaggedError<LogError>()("LogError", {
  operation: Schema.String,
  session: Schema.optional(Schema.String),
  reason: Schema.String,
  cause: Schema.optional(Schema.Defect),
}) {
  override get message(): string {
    const session = this.session === undefined ? "" : ` of session "${this.session}"`
    return `The event log failed at ${this.operation}${session}: ${this.reason}`
  }
}

/** The data of one record, and its checksum or none, to stand in place of what it has. */
export type RewrittenRecord = Pick<LogRecord, "version" | "data" | "checksum">

/** UTF-16 puts what it writes with two units before U+E000 to U+FFFF; so they change places here. */
const inOrder = (unit: number): number =>
  unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800

/** Compares the ids of two sessions as stores list them: by code point, which is how UTF-8 orders its bytes. */
export const compareSessionIds = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const order = inOrder(one.charCodeAt(at)) - inOrder(other.charCodeAt(at))
    if (order !== 0) return order
  }
  return one.length - other.length
}

/** What a store implements. Its contract is the laws: the shared suite runs over every implementation. */
export interface Service {
  /**
   * Appends all records or none. The commit id is looked at first, the expected version second.
   */
  readonly append: (
    session: string,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /**
   * Replaces the data of records and appends others, all or nothing, and leaves no trace of the old data: it removes
   * the snapshot, and the summary rows unless the options replace them. Only redaction uses it; everything else
   * appends. Commit id and expected version are checked as by `append`.
   */
  readonly rewrite: (
    session: string,
    rewritten: ReadonlyArray<RewrittenRecord>,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /** The records of a session in order; nothing for a session that does not exist. */
  readonly read: (session: string, options?: ReadOptions) => Stream.Stream<LogRecord, LogError>
  /** The last sequence number; 0 for a session that does not exist. */
  readonly version: (session: string) => Effect.Effect<number, LogError>
  /**
   * Keeps a snapshot if it is of the log as it is now: of its last record, and of the commit that record has. Any other
   * is ignored, because the log may have been rewritten, or begun anew, since it was taken.
   */
  readonly saveSnapshot: (session: string, snapshot: Snapshot) => Effect.Effect<void, LogError>
  readonly loadSnapshot: (session: string) => Effect.Effect<Option.Option<Snapshot>, LogError>
  /** The summary rows of a session, by version. */
  readonly summaries: (session: string) => Effect.Effect<ReadonlyArray<SummaryRow>, LogError>
  /** Every session, ordered by the code points of its id (as UTF-8 orders bytes): see {@link byId}. */
  readonly sessions: Stream.Stream<SessionInfo, LogError>
  /** Removes a session with everything it had; `false` if there was none. */
  readonly delete: (session: string) => Effect.Effect<boolean, LogError>
  /**
   * Tells that a session was written to, by whatever process, and once when it begins to listen; several writes may be
   * told as one. For stores that hear of it; subscribers of the others look now and then.
   */
  readonly changes?: (session: string) => Stream.Stream<void, LogError>
}

/** The event log in use. Provide `InMemoryEventLog.layer`, or the layer of a store package. */
export class EventLog extends Context.Tag("@memfold/core/EventLog")<EventLog, Service>() {}
