/**
 * The interface that every store implements: an append-only log per session, and rows that follow from it.
 *
 * The log is the source of truth, and its version check is the lock between writers. A store keeps records in order,
 * accepts an append only at the expected version, and keeps projection rows beside the log. It never decodes an event: only
 * the engine does. `InMemoryEventLog.ts` is the shortest complete store.
 */
import { Context, type Effect, type Stream } from "effect"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type { Erasure } from "./Erasure.js"
import type { LogError, LogPosition, LogRecord, NewRecord, VersionConflict } from "./LogRecord.js"
import type { ProjectionChange, ProjectionRow, Projections } from "./Projections.js"

export * from "./Erasure.js"
export * from "./LogRecord.js"
export type { ProjectionChange, ProjectionRow, Projections, RowFilter } from "./Projections.js"

/**
 * How to append a batch.
 *
 * - `expectedVersion`: the version of the session that the records were decided on; 0 for a new session
 * - `lastBatchId`: the batch id of the record at `expectedVersion`, if the writer knows it. It detects a session that
 *   was deleted and started again: the new log can have the same length
 * - `batchId`: the id of this batch. A retry, which has the same id, writes nothing and returns the first result: a
 *   caller that did not get the answer can safely retry
 * - `retried`: which retries find the batch. `anywhere` (the default): a retry at any version. `in-place`: a retry with an
 *   equal `expectedVersion`, records and `retried`; a store needs no index of such batch ids
 * - `projections`: changes to projection rows, in the transaction of the append
 */
export interface AppendOptions {
  readonly expectedVersion: number
  readonly lastBatchId?: string | undefined
  readonly batchId: string
  readonly retried?: "anywhere" | "in-place" | undefined
  readonly projections?: ReadonlyArray<ProjectionChange> | undefined
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

/** A range of versions, both ends included. Without options, the whole log. */
export interface ReadOptions {
  readonly fromVersion?: number
  readonly toVersion?: number
  /** Newest first; oldest first by default. */
  readonly reverse?: boolean
}

/** The page to read: the first records of a range, in its order, and at most `limit` of them (1 or more), see {@link isLastPage}. */
export interface PageOptions extends Required<ReadOptions> {
  readonly limit: number
}

/** The page with the record of a version alone. */
export const oneRecord = (version: number): PageOptions => ({
  fromVersion: version,
  toVersion: version,
  reverse: false,
  limit: 1,
})

/**
 * How much data a page of a log has at most, in bytes of what is stored or in UTF-16 code units of its text: behind the record that
 * reaches it, a store ends the page. Records that are small beside the rest need not be counted, if all of them together are not
 * longer than that.
 */
export const pageText = 3 * 2 ** 20

/** The least text of a page that was ended by {@link pageText}: of three bytes for a character, and of what a layer sealed below. */
const leastText = 2 ** 19

/** The position of the record with which the text of some records reaches a length; -1 if it does not. */
const reaching = (records: ReadonlyArray<LogRecord>, length: number): number => {
  let text = 0
  return records.findIndex(({ data }) => (text += data.length) >= length)
}

/** The first of some records, as many as a page has. */
export const inPage = (records: ReadonlyArray<LogRecord>): ReadonlyArray<LogRecord> => {
  const last = reaching(records, pageText)
  return last < 0 ? records : records.slice(0, last + 1)
}

/**
 * Whether nothing is behind a page in its range: it has fewer records than were asked for, and so little text that the store did not end
 * it for that.
 *
 * @param page - the records that {@link Service.read} answered with
 * @param limit - how many were asked for at most
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.isLastPage([], 512)) // true
 * ```
 */
export const isLastPage = (page: ReadonlyArray<LogRecord>, limit: number): boolean =>
  page.length < limit && reaching(page, leastText) < 0

/** What a session is opened with, all of one moment: see {@link Service.open}. */
export interface Opened {
  /** As {@link Service.head} answers it. */
  readonly head: LogPosition | null
  /** The row of kind `snapshot` whose key is empty; `null` without one. */
  readonly snapshot: ProjectionRow | null
  /** The rows of kind `summary` with the mark `active`; `null` if they cannot be used. */
  readonly active: ReadonlyArray<ProjectionRow> | null
  /** The page, oldest first, that begins with the version that is the mark of the snapshot; with the first version without one. */
  readonly page: ReadonlyArray<LogRecord>
  /** For a session without a head, whether the store has the mark of an archive for it (`markOf`); absent if it has not looked. */
  readonly isMarked?: boolean
}

/** How a store answers at once what a session is opened with: see {@link Service.open}. */
export interface Opening {
  /** The methods that need not be asked. A log that has others is asked by its own, as a layer that hands this on has them. */
  readonly inPlaceOf: Pick<Service, "head" | "read" | "projections">
  /** Asks the store. `limit` is that of the page, as for {@link Service.read}. */
  readonly ask: (session: string, limit: number) => Effect.Effect<Opened, LogError>
}

/** How a log answers at once what a session is opened with; `undefined` if it cannot, or if a layer has replaced a method. */
export const openingOf = ({ head, read, projections, open }: Service): Opening["ask"] | undefined =>
  open !== undefined &&
  open.inPlaceOf.head === head &&
  open.inPlaceOf.read === read &&
  open.inPlaceOf.projections === projections
    ? open.ask
    : undefined

/** The log, which can answer at once what a session is opened with, in place of its methods. */
export const withOpening = <Log extends Service>(log: Log, ask: Opening["ask"]): Log => ({
  ...log,
  open: { inPlaceOf: log, ask },
})

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

/** A position in a list of sessions: behind this session, which was last active at this time. */
export type SessionPosition = Pick<SessionInfo, "session" | "updatedTime">

/**
 * Which sessions to list.
 *
 * - `owner`: only the sessions of this owner, the newest activity first (see {@link compareActivity}). Without an owner, all
 *   sessions, ordered by {@link compareSessionIds}
 * - `after`: only the sessions behind this position in the order; all by default
 * - `limit`: the most sessions, 1 or more
 */
export interface ListOptions {
  readonly owner?: string | undefined
  readonly after?: SessionPosition | undefined
  readonly limit: number
}

/**
 * Which page of the feed to read: the records behind a position, from the first one by default, and at most `limit` of them (1 or
 * more). A position is text of the store, which nobody else reads.
 */
export interface FeedOptions {
  readonly after?: string | undefined
  readonly limit: number
}

/** A record in the feed of all sessions, and its position there: who has taken it asks for what is behind. */
export interface FedRecord {
  readonly record: LogRecord
  readonly position: string
  /** Why nobody can read the record here: then its `data` is empty. A group gives it up, and can have it once it can be read. */
  readonly unreadable?: string
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
 * import { EventLog } from "@memfold/log"
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
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.compareActivity({ session: "a", updatedTime: 2 }, { session: "b", updatedTime: 1 })) // -1
 * ```
 */
export const compareActivity = (one: SessionPosition, other: SessionPosition): number =>
  other.updatedTime - one.updatedTime || compareSessionIds(one.session, other.session)

/** The methods of a store. The shared suite of `@memfold/testing` tests that an implementation obeys the laws. */
export interface Service {
  /**
   * Appends a batch: all of its records and projection changes, or nothing. It checks the batch id first, then the expected
   * version.
   *
   * Fails with {@link VersionConflict} if the session is at another version, and with {@link LogError} if the store
   * fails, or if a projection change would leave two rows with one mark.
   */
  readonly append: (
    session: string,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /**
   * Reads a page of records; an empty one if the session does not exist. It ends at the limit, or sooner behind the record that reaches
   * {@link pageText}: fewer records are the last ones if {@link isLastPage} says so.
   */
  readonly read: (session: string, page: PageOptions) => Effect.Effect<ReadonlyArray<LogRecord>, LogError>
  /**
   * The version of a session and the batch id of the record there; `null` if the session does not exist. A memory asks this
   * before each context, to see that its cached state is still the newest. If the log has lost the record at that version,
   * the batch id is empty.
   */
  readonly head: (session: string) => Effect.Effect<LogPosition | null, LogError>
  /**
   * What a memory asks for when it opens a session that it has not cached, as one question in place of four: a store that can answer
   * it by one request to its server has it. It answers what `head`, `projections.get` and `read` answer at that moment, and a memory
   * asks these where it fails, or where a layer over the store has others.
   */
  readonly open?: Opening
  /** Lists sessions. A store finds the sessions of an owner without looking at the sessions of others. */
  readonly list: (options: ListOptions) => Effect.Effect<ReadonlyArray<SessionInfo>, LogError>
  /**
   * Deletes a session with its records and projection rows; `false` if it does not exist.
   *
   * @param at - the last record that the session must have: at another one, nothing is deleted, and the answer is `false`. Whatever
   *   its last record is, by default
   */
  readonly delete: (session: string, at?: LogPosition) => Effect.Effect<boolean, LogError>
  /**
   * Replaces the data of records and appends a batch, all or nothing. It also drops all projection rows of the session but
   * its description, and then makes the projection changes in the options. Only redaction uses it. Batch id and expected
   * version are checked as in `append`, and it fails with the same errors. The old data can no longer be read;
   * `finishRewrites` removes what is left of it in the store's files.
   */
  readonly rewrite: (
    session: string,
    rewritten: ReadonlyArray<RewrittenRecord>,
    records: NonEmptyReadonlyArray<NewRecord>,
    options: AppendOptions,
  ) => Effect.Effect<AppendResult, VersionConflict | LogError>
  /**
   * Replaces the data of records in place, all or nothing, if the last record of the session is at the position. Head, times, batch
   * ids and rows stay as they are. An archive puts the place of a record in its stead so, and the record back. Fails with
   * {@link VersionConflict} at another position, and with {@link LogError} if the store fails. A store that cannot leaves it out.
   */
  readonly replace?: (
    session: string,
    replaced: ReadonlyArray<RewrittenRecord>,
    at: LogPosition,
  ) => Effect.Effect<void, VersionConflict | LogError>
  /**
   * Removes what is left of the data that rewrites of a session replaced: in a write-ahead log, an append-only file, a
   * backup file of the server. It waits for that, and fails with a {@link LogError} if it takes too long, for instance because
   * another process still reads the old data. Which rewrites are not finished is stored with the log, and the store goes on
   * trying by itself. A store whose rewrites leave nothing behind leaves this method out.
   */
  readonly finishRewrites?: (session: string) => Effect.Effect<void, LogError>
  /**
   * Emits when any process has written to a session, and once at the start; it may emit once for several writes. A store
   * without notifications leaves it out, and subscribers poll instead.
   */
  readonly changes?: (session: string) => Stream.Stream<void, LogError>
  /**
   * Reads a page of the feed: the records of all sessions, with the records of each session in the order of their versions. Behind a position
   * that was answered comes every record that had not come up to it, also where transactions are committed in another order than
   * they began. An empty page says that there is nothing behind the position yet. Records of deleted sessions are not in it,
   * and a rewritten one has its new data. Fails with a {@link LogError} for a position that is none of this store. A store
   * without a feed leaves it out.
   */
  readonly feed?: (page: FeedOptions) => Effect.Effect<ReadonlyArray<FedRecord>, LogError>
  /** The position behind everything that is in the feed now; `null` if it is empty. A store that cannot say it leaves it out. */
  readonly feedEnd?: Effect.Effect<string | null, LogError>
  /**
   * The log as a transaction of the application sees it, in the store's own database: what is written there is committed and
   * rolled back with the transaction. It takes what the store can use as a transaction, and fails with a {@link LogError} for
   * anything else. A store that cannot join transactions leaves it out.
   */
  readonly within?: (transaction: unknown) => Effect.Effect<Service, LogError>
  /** The rows that follow from the log. */
  readonly projections: Projections
  /** Whether an archive is behind the log: what is not in its store may be there. `false` by default. */
  readonly archived?: boolean
  /** The log as the store has it, where a layer in front of the store seals what is kept. */
  readonly stored?: Service
  /** A log that seals as this one does, over another store: so a layer gets between it and its store. */
  readonly over?: (stored: Service) => Service
  /** Erases owners from every copy of the store, and holds what must not go. A log that seals nothing cannot. */
  readonly erasure?: Erasure
}

/**
 * The event log in use. Provide `InMemoryEventLog.layer`, or the layer of a store package.
 *
 * @example
 * ```ts
 * import { EventLog, InMemoryEventLog } from "@memfold/log"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const log = yield* EventLog.EventLog
 *   return yield* log.head("chat-1")
 * })
 * Effect.runPromise(Effect.provide(program, InMemoryEventLog.layer)).then(console.log) // null
 * ```
 */
export class EventLog extends Context.Tag("@memfold/core/EventLog")<EventLog, Service>() {}
