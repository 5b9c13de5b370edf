/**
 * The port of the full-text index that recall ranks messages with. An index is a projection of the log: it can be dropped
 * and built again.
 */
import { Context, type Effect, type Stream } from "effect"
import type { DamagedEvent, RecordedEvent } from "../event/EventCodec.js"
import type { LogError, LogPosition, ReadOptions } from "@memfold/log/EventLog"
import type { TermPostings } from "../search/postings.js"
import type { Gap } from "../session/branches.js"

/** The terms to look up. */
export interface Lookup {
  readonly terms: ReadonlyArray<string>
  /** Only messages before this message index count. The answer does not depend on what came after them. */
  readonly before: number
  /** Answers from what a stored index has, about the messages that it has; `false` by default. */
  readonly writtenOnly?: boolean
}

/** What an index knows of some terms in the messages of a session before a message index. */
export interface Postings<E> extends TermPostings {
  /** When each message was said, in milliseconds since the epoch: the time that it came with, or else of its append. */
  readonly times: ArrayLike<number>
  /** For message indexes, the versions of the events that appended them; indexes without a message are left out. */
  readonly versions: (indexes: ReadonlyArray<number>) => Effect.Effect<ReadonlyMap<number, number>, E>
}
/** The errors of an index: the store failed, or a stored event is damaged. */
export type IndexError = LogError | DamagedEvent

/** The session to look up, and access to its log. */
export interface Source {
  readonly session: string
  /** The version of the state that is searched. */
  readonly version: number
  /** The versions up to then whose messages are not on the branch that is searched. */
  readonly gaps: ReadonlyArray<Gap>
  /** The last record of the session now; `null` if it does not exist. */
  readonly head: Effect.Effect<LogPosition | null, IndexError>
  readonly events: (options?: ReadOptions) => Stream.Stream<RecordedEvent, IndexError>
}

/** An implementation of a full-text index. */
export interface Service {
  /** Looks terms up in a session. It first takes in what the log has and the index has not. */
  readonly lookUp: (source: Source, lookup: Lookup) => Effect.Effect<Postings<IndexError>, IndexError>
  /** How many events of the log a stored index has not. An index without this method is complete whenever it is asked. */
  readonly behind?: (source: Source) => Effect.Effect<number, IndexError>
  /** Takes in what the log has and a stored index has not, in whole parts: the newest messages are left to searches. */
  readonly keepUp?: (source: Source) => Effect.Effect<void, IndexError>
  /** Drops what the process holds of a session: it was deleted, or a message of it was redacted (law L15). */
  readonly forget: (session: string) => Effect.Effect<void>
}

/**
 * The full-text index in use. The default is `null`: the index is kept in the store (see `Recall.inStore`). It is written when
 * a session is searched, and of a long session in the background as it grows.
 *
 * @example
 * ```ts
 * import { FullTextIndex, Recall } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const small = Layer.sync(FullTextIndex.FullTextIndex, () => Recall.inProcess({ capacity: 500_000 }))
 * ```
 */
export class FullTextIndex extends Context.Reference<FullTextIndex>()("@memfold/core/FullTextIndex", {
  defaultValue: (): Service | null => null,
}) {}
