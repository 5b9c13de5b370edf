/** What a log consists of: records at positions. And how a store fails. */
import { Data } from "effect"

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

/** What the ids of marks begin with: a mark is a log that stands for a session which is in an archive. */
const archivedPrefix = "memfold:archived:"

/** The id of the mark of a session. Whoever starts a session looks for it: the archive may have the session. */
export const markOf = (session: string): string => `${archivedPrefix}${session}`

/** The session that a mark is for; `null` if an id is not the id of a mark. */
export const markedBy = (id: string): string | null =>
  id.startsWith(archivedPrefix) ? id.slice(archivedPrefix.length) : null

/**
 * Whether a value is a text that every store can have as a name: of a session, an owner, a batch, a group. PostgreSQL has no U+0000.
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.isName("chat-1"), EventLog.isName("chat\0")) // true false
 * ```
 */
export const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.isWellFormed() && !value.includes("\0")

/**
 * The owners that records give their session, in order: an event says so when the owner changes. A record that cannot be read names
 * nobody.
 */
export const ownersNamed = (
  records: ReadonlyArray<Pick<NewRecord, "type" | "data">>,
): ReadonlyArray<string | null> =>
  records.flatMap(({ type, data }) => {
    if (type !== "SessionDescribed") return []
    try {
      const { owner } = JSON.parse(data) as { readonly owner?: unknown }
      return typeof owner === "string" || owner === null ? [owner] : []
    } catch {
      return []
    }
  })

/** What the ids of logs begin with in which the program notes how it works on a store: they say nothing about a conversation. */
export const noted = {
  /** How far the groups of the feed have come. */
  feed: "memfold:feed:",
  /** Which events of a session are in an archive. */
  segments: "memfold:segments:",
} as const

const notedPrefixes = Object.values(noted)

/**
 * The id of the log of a group. Whoever deletes it lets the group begin anew.
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.groupLog("warehouse")) // memfold:feed:warehouse
 * ```
 */
export const groupLog = (group: string): string => `${noted.feed}${group}`

/**
 * Whether a log is one in which the program notes how it works on the store, which is in no list of sessions, in no feed and in no copy.
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.isNotes(EventLog.groupLog("crm"))) // true
 * ```
 */
export const isNotes = (session: string): boolean =>
  notedPrefixes.some((prefix) => session.startsWith(prefix))

/**
 * Whether a log is what memfold keeps for itself, under an id that no session of a user has.
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * console.log(EventLog.isReserved(EventLog.markOf("chat-1"))) // true
 * ```
 */
export const isReserved = (session: string): boolean => session.startsWith("memfold:")

/** The schema version of a record whose data are in an archive: its `data` say where. */
export const movedSchema = -1

/** What the data of a record begin with that a layer over the store has sealed: no event has a field of this name. */
export const sealedStart = '{"sealed":'

/** A position in a session's log: a version, and the batch id of the record there. Together they identify the log. */
export interface LogPosition {
  readonly version: number
  readonly batchId: string
}

/**
 * The session is not at the expected version: another writer appended first, or the session was deleted and started
 * again. Read the new events and decide again.
 */
export class VersionConflict extends Data.TaggedError("VersionConflict")<{
  readonly session: string
  readonly expectedVersion: number
  readonly actualVersion: number
}> {
  override get message(): string {
    return `Session "${this.session}" is at version ${this.actualVersion}, not ${this.expectedVersion}`
  }
}

/** The store failed. `reason` says why and what to do about it; `operation` names the method of the log. */
export class LogError extends Data.TaggedError("LogError")<{
  readonly operation: string
  readonly session?: string | undefined
  readonly reason: string
  /**
   * It is refused for good, and nothing failed: what is asked for was erased, or is held, or is in an archive that this process has not
   * opened, or is sealed and cannot be opened here (`unreadable`), or the position in the feed is none, or a name or a text is longer than
   * the store takes (`limit`).
   */
  readonly refused?: "erased" | "held" | "archived" | "unreadable" | "position" | "limit" | undefined
  readonly cause?: unknown
}> {
  override get message(): string {
    const session = this.session === undefined ? "" : ` of session "${this.session}"`
    return `The event log failed at ${this.operation}${session}: ${this.reason}`
  }
}

/** What a store says of a position in the feed that it has not given. */
export const wrongPosition = (): LogError =>
  new LogError({
    operation: "feed",
    reason: "the position is none of this store; read from the start",
    refused: "position",
  })
