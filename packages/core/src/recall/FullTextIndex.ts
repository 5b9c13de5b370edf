/**
 * The port of the full-text index that recall ranks messages with. An index is a projection of the log: it can be dropped
 * and built again.
 */
import { Context, type Effect, type Stream } from "effect"
import type { DamagedEvent, RecordedEvent } from "../event/EventCodec.js"
import type { LogError, ReadOptions } from "../log/EventLog.js"
import type { Lookup, Postings } from "../log/FullText.js"

export type {
  FoundPart,
  FullTextStore,
  Lookup,
  NewPart,
  PartPlace,
  Posting,
  Postings,
  StoredIndex,
  StoredPart,
} from "../log/FullText.js"

/** The errors of an index: the store failed, or a stored event is damaged. */
export type IndexError = LogError | DamagedEvent

/** The session to look up, and access to its log. */
export interface Source {
  readonly session: string
  /** How many times the session was cleared: message indexes count since the last clear. */
  readonly clears: number
  /** The version of the session now. */
  readonly version: Effect.Effect<number, IndexError>
  readonly events: (options?: ReadOptions) => Stream.Stream<RecordedEvent, IndexError>
}

/** An implementation of a full-text index. */
export interface Service {
  /** Looks terms up in a session. It first takes in what the log has and the index has not. */
  readonly lookUp: (source: Source, lookup: Lookup) => Effect.Effect<Postings<IndexError>, IndexError>
  /** Drops what the process holds of a session: it was deleted, or a message of it was redacted (law L15). */
  readonly forget: (session: string) => Effect.Effect<void>
}

/**
 * The full-text index in use. The default is `null`: each memory has an index in the process (see `Recall.inProcess`).
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
