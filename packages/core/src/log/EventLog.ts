/**
 * The interface that every store implements: an append-only log per session.
 *
 * The log is the source of truth, and its version check is the lock between writers. A store keeps records in order,
 * accepts an append only at the expected version, and stores snapshots and summary rows unchanged. It never decodes an
 * event: only the engine does.
 */
import { Context, type Effect, type Option, Schema, type Stream } from "effect"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type { FullTextStore } from "./FullText.js"

export { type PageRange, readInPages } from "./pages.js"

/** One stored event. `data` is JSON text and is stored verbatim. */
export interface LogRecord {
  readonly session: string
  /** Its position in the session's log, from 1, without gaps. */
  readonly version: number
  /** The id of the batch that it was appended with. */
  readonly batchId: string
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  /** The type of the event, for example `MessageAppended`. */
  readonly type: string
  /** The schema version that `data` was written in. */
  readonly schemaVersion: number
  readonly data: string
  /** The CRC-32 of the record (see `EventCodec.checksumOf`); absent on imported records without one. */
  readonly checksum?: number
}

/** A record to append: the log adds the session, the version and the batch id. */
export type NewRecord = Omit<LogRecord, "session" | "version" | "batchId">

/**
 * The status of a summary. At most one summary of a session is active.
 *
 * - `active`: part of the context
 * - `superseded`: replaced by a newer summary; still readable
 * - `invalid`: damaged or taken back; it counts as never committed
 */
export type SummaryStatus = "active" | "superseded" | "invalid"

/**
 * A summary in readable form, stored next to the log for people and other programs. The engine writes the rows together
 * with the events that they are derived from, and never reads them to decide anything.
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

/** How an append changes the summary rows of its session. A row replaces the row of the same version, or is added. */
export interface SummaryChanges {
  /** Removes every row of the session first. */
  readonly replace: boolean
  readonly rows: ReadonlyArray<SummaryRow>
}

/**
 * The owner of a session, which is an id of the application, and its title; `null` without one. Derived from the log, like
 * the summary rows.
 */
export interface Description {
  readonly owner: string | null
  readonly title: string | null
}

/** A place in an owner's list of sessions: after this session, which was last active at this time. */
export type OwnedPlace = Pick<SessionInfo, "session" | "updatedTime">

/** Which of an owner's sessions to read: at most `limit`, those after a place; without one, from the newest. */
export interface OwnedOptions {
  readonly limit: number
  readonly after?: OwnedPlace | undefined
}

/**
 * How to append a batch.
 *
 * - `expectedVersion`: the version of the session that the records were decided on; 0 for a new session
 * - `lastBatchId`: the batch id of the record at `expectedVersion`, if the writer knows it. It detects a session that
 *   was deleted and started again: the new log can have the same length
 * - `batchId`: the id of this batch. A retry, which has the same id, writes nothing and returns the first result: a
 *   caller that did not get the answer can safely retry
 * - `retried`: which retries find the batch. `anywhere` (the default): those at any version. `in-place`: those with the same
 *   `expectedVersion`, records and `retried`; a store needs no index of such batch ids
 * - `summaries`: the changes to the summary rows, in the same transaction. The store refuses a change that would leave
 *   two active rows, or two rows with one id
 * - `description`: the owner and the title of the session from now on; without it, they stay
 */
export interface AppendOptions {
  readonly expectedVersion: number
  readonly lastBatchId?: string | undefined
  readonly batchId: string
  readonly retried?: "anywhere" | "in-place" | undefined
  readonly summaries?: SummaryChanges | undefined
  readonly description?: Description | undefined
}

/**
 * The versions of an appended batch, both ends included. `duplicate` says that the batch had been appended before and
 * that nothing was written.
 */
export interface AppendResult {
  readonly fromVersion: number
  readonly version: number
  readonly duplicate: boolean
}

/** A place in a session's log: a version, and the batch id of the record there. Together they identify the log. */
export interface LogPosition {
  readonly version: number
  readonly batchId: string
}

/** Which summary rows to read. `activeOnly`: only the active one, which stores find at once; all by default. */
export interface SummariesOptions {
  readonly activeOnly?: boolean
}

/** A range of versions, both ends included. Without options, the whole log. */
export interface ReadOptions {
  readonly fromVersion?: number
  readonly toVersion?: number
  /** Newest first; oldest first by default. */
  readonly reverse?: boolean
}

/** A cached state of a session. It is disposable: without it, the session is folded from its log. */
export interface Snapshot {
  /** The version of the fold that made it; a fold of another version ignores it. */
  readonly foldVersion: number
  /** The version of the session that it is the state of. */
  readonly version: number
  /** The batch id of the record at that version: it identifies the log that was folded. */
  readonly batchId: string
  /** The encoded state; only the engine reads it. */
  readonly data: string
}

/** An entry in the list of sessions. */
export interface SessionInfo {
  readonly session: string
  /** The version of its last event. */
  readonly version: number
  /** The times of its first and its last event, in milliseconds since the epoch. */
  readonly createdTime: number
  readonly updatedTime: number
  /** Its owner and its title; absent without one. */
  readonly owner?: string
  readonly title?: string
}

/**
 * The session is not at the expected version: another writer appended first, or the session was deleted and started
 * again. Read the new events and decide again.
 */
export class VersionConflict extends Schema.TaggedError<VersionConflict>()("VersionConflict", {
  session: Schema.String,
  expectedVersion: Schema.Number,
  actualVersion: Schema.Number,
}) {
  override get message(): string {
    return `Session "${this.session}" is at version ${this.actualVersion}, not ${this.expectedVersion}`
  }
}

/** The store failed. `reason` says why and what to do about it; `operation` names the method of the log. */
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

/**
 * New data for a stored record, with the schema version that it is written in, and its checksum. Without a checksum, the
 * record has none afterwards.
 */
export type RewrittenRecord = Pick<LogRecord, "version" | "schemaVersion" | "data" | "checksum">

/** UTF-16 sorts surrogate pairs before U+E000 to U+FFFF, UTF-8 after them: this swaps the two ranges. */
const inOrder = (unit: number): number =>
  unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800

/**
 * Compares two session ids by code point, which is the byte order of UTF-8. Stores list sessions in this order.
 *
 * @returns a negative number if `one` comes first, a positive number if `other` does, 0 if they are equal
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/core"
 *
 * console.log(["chat-2", "chat-1"].toSorted(EventLog.compareSessionIds))
 * ```
 */
export const compareSessionIds = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const order = inOrder(one.charCodeAt(at)) - inOrder(other.charCodeAt(at))
    if (order !== 0) return order
  }
  return one.length - other.length
}

/**
 * Compares two entries of an owner's list: the newer activity first, then by {@link compareSessionIds}.
 *
 * @returns a negative number if `one` comes first, a positive number if `other` does
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/core"
 *
 * console.log(EventLog.compareActivity({ session: "a", updatedTime: 2 }, { session: "b", updatedTime: 1 })) // -1
 * ```
 */
export const compareActivity = (one: OwnedPlace, other: OwnedPlace): number =>
  other.updatedTime - one.updatedTime || compareSessionIds(one.session, other.session)

/** The fields of an entry for a description. */
export const described = ({ owner, title }: Description): Pick<SessionInfo, "owner" | "title"> => ({
  ...(owner === null ? {} : { owner }),
  ...(title === null ? {} : { title }),
})

/** The methods of a store. The shared suite of `@memfold/testing` tests that an implementation obeys the laws. */
export interface Service {
  /**
   * Appends a batch: all of its records or none. It checks the batch id first, then the expected version.
   *
   * Fails with {@link VersionConflict} if the session is at another version, and with {@link LogError} if the store
   * fails.
   */
  readonly append: (
    session: string,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /**
   * Replaces the data of records and appends a batch, all or nothing. It also removes the snapshot and the summary rows,
   * and then writes the rows in the options. Only redaction uses it. Batch id and expected version are checked as in
   * `append`, and it fails with the same errors. The old data can no longer be read; `finishRewrites` removes what is
   * left of it in the store's files.
   */
  readonly rewrite: (
    session: string,
    rewritten: ReadonlyArray<RewrittenRecord>,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /**
   * Removes what is left of the data that rewrites of a session replaced: in a write-ahead log, an append-only file, a
   * snapshot file. It waits for that, and fails with a {@link LogError} if it takes too long, for instance because another
   * process still reads the old data. Which rewrites are not finished is stored with the log, and the store goes on trying
   * by itself. A store whose rewrites leave nothing behind leaves this method out.
   */
  readonly finishRewrites?: (session: string) => Effect.Effect<void, LogError>
  /** The records of a session in order; none if the session does not exist. See {@link readInPages}. */
  readonly read: (session: string, options?: ReadOptions) => Stream.Stream<LogRecord, LogError>
  /**
   * The version of a session and the batch id of the record there; `null` if the session does not exist. A memory asks this
   * before each context, to see that what it has cached is still the newest. Without it, it reads the last record instead.
   */
  readonly head?: (session: string) => Effect.Effect<Pick<LogRecord, "version" | "batchId"> | null, LogError>
  /** The version of a session; 0 if it does not exist. */
  readonly version: (session: string) => Effect.Effect<number, LogError>
  /**
   * Stores a snapshot if its version and batch id are those of the last record. Any other snapshot is ignored: the log
   * may have been rewritten, or deleted and started again, since the snapshot was taken.
   */
  readonly saveSnapshot: (session: string, snapshot: Snapshot) => Effect.Effect<void, LogError>
  /** The stored snapshot of a session, if there is one. */
  readonly loadSnapshot: (session: string) => Effect.Effect<Option.Option<Snapshot>, LogError>
  /**
   * The summary rows of a session, by version; with `activeOnly`, at most the active one. Fails with a {@link LogError} if
   * another program has changed them so that they are no rows any more.
   */
  readonly summaries: (
    session: string,
    options?: SummariesOptions,
  ) => Effect.Effect<ReadonlyArray<SummaryRow>, LogError>
  /**
   * Replaces all summary rows of a session, if the session is where they were computed from the log: the rows that
   * another program has damaged, added or removed are as they should be again. A session that does not exist has no rows.
   *
   * Fails with {@link VersionConflict} if the session has moved on, and with {@link LogError} if the store fails.
   */
  readonly replaceSummaries: (
    session: string,
    rows: ReadonlyArray<SummaryRow>,
    at: LogPosition,
  ) => Effect.Effect<void, VersionConflict | LogError>
  /** All sessions, ordered by {@link compareSessionIds}. */
  readonly sessions: Stream.Stream<SessionInfo, LogError>
  /**
   * The sessions of an owner, the one with the newest last event first; those of the same time ordered by
   * {@link compareSessionIds}. A store finds them without looking at the sessions of others.
   */
  readonly owned: (
    owner: string,
    options: OwnedOptions,
  ) => Effect.Effect<ReadonlyArray<SessionInfo>, LogError>
  /** The stored owner and title of a session; `null` if the session does not exist. */
  readonly description: (session: string) => Effect.Effect<Description | null, LogError>
  /**
   * Replaces the stored owner and title of a session, if the session is where they were read from the log. Fails like
   * `replaceSummaries`.
   */
  readonly replaceDescription: (
    session: string,
    description: Description,
    at: LogPosition,
  ) => Effect.Effect<void, VersionConflict | LogError>
  /** Deletes a session with its records, snapshot and summary rows; `false` if it does not exist. */
  readonly delete: (session: string) => Effect.Effect<boolean, LogError>
  /**
   * Checks the files of the store itself, and returns what is wrong in words: damage of an index, for instance, which the
   * records of a session do not show. It may read the whole store. A store without such a check leaves it out.
   */
  readonly integrity?: Effect.Effect<ReadonlyArray<string>, LogError>
  /** Where the store keeps full-text indexes. A store that keeps none leaves it out: recall then keeps them in the process. */
  readonly fullText?: FullTextStore<LogError>
  /**
   * Emits when any process has written to a session, and once at the start; it may emit once for several writes. A store
   * without notifications leaves it out, and subscribers poll instead.
   */
  readonly changes?: (session: string) => Stream.Stream<void, LogError>
}

/**
 * The event log in use. Provide `InMemoryEventLog.layer`, or the layer of a store package.
 *
 * @example
 * ```ts
 * import { EventLog, InMemoryEventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const log = yield* EventLog.EventLog
 *   return yield* log.version("chat-1")
 * })
 * Effect.runPromise(Effect.provide(program, InMemoryEventLog.layer)).then(console.log) // 0
 * ```
 */
export class EventLog extends Context.Tag("@memfold/core/EventLog")<EventLog, Service>() {}
