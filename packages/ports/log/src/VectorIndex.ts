/**
 * The port of vector indexes, which keep the vectors of messages. An index is a projection of the log: it can be dropped and
 * made again, at the price of embedding the messages again.
 *
 * The engine decides what an index contains. An index keeps vectors, and finds the nearest ones to a given vector, always
 * within one session.
 */
import { Context, type Effect, Schema, type Stream } from "effect"

/** An operation of a vector index failed. The text never quotes the conversation. */
export class VectorIndexError extends Schema.TaggedError<VectorIndexError>()("VectorIndexError", {
  /** The session; empty for an operation on all of them. */
  session: Schema.String,
  operation: Schema.Literal("load", "write", "nearest", "forget", "list"),
  detail: Schema.String,
}) {
  override get message(): string {
    const where = this.session === "" ? "" : ` for session "${this.session}"`
    return `The vector index failed at ${this.operation}${where}: ${this.detail}`
  }
}

/** How far the vectors of a session reach. */
export interface Extent {
  /** What the vectors were made with: the embedder, and how it divides texts. Others cannot be compared with them. */
  readonly space: string
  /** The version of the last event that was taken in. */
  readonly version: number
  /** The id of that event; another one at this version is of another log. */
  readonly event: string
}

/**
 * Whether two extents are one: vectors of one space, up to one event; or none. An index compares what it has with what a change expects.
 *
 * @example
 * ```ts
 * import { VectorIndex } from "@memfold/log"
 *
 * const extent = { space: "minilm 384", version: 7, event: "01m8nqn3.2" }
 * console.log(VectorIndex.isSameExtent(extent, { ...extent, version: 8 })) // false
 * ```
 */
export const isSameExtent = (one: Extent | null, other: Extent | null): boolean =>
  one?.version === other?.version && one?.event === other?.event && one?.space === other?.space

/** The vector of a piece of a message, of length 1. */
export interface Piece {
  /** Where the piece begins in the text of the message, in UTF-16 code units. */
  readonly offset: number
  readonly vector: Float32Array
}

/** What is kept of a message, without its vectors. */
export interface IndexedMessage {
  readonly index: number
  /** The version of the event that appended it. */
  readonly version: number
  /** The CRC-32 of the text that the vectors were made from. */
  readonly digest: number
}

/** A message with its vectors. */
export interface Entry extends IndexedMessage {
  readonly pieces: ReadonlyArray<Piece>
}

/** A change of the vectors of a session, which is written whole or not at all. */
export interface Change {
  /** What the place must have been: `null` if there were no vectors. Otherwise nothing is written. */
  readonly expected: Extent | null
  /** What the place is afterwards. If its space is another one, every vector from before is dropped. */
  readonly place: Extent
  /** Whether every vector from before is dropped: the session was cleared, or its log is another one. */
  readonly anew: boolean
  /** The versions of messages whose vectors are dropped: they were redacted. */
  readonly forget: ReadonlyArray<number>
  /** The messages to keep. An entry replaces the kept entry of its version. */
  readonly entries: ReadonlyArray<Entry>
}

/** A piece that is near to a query. */
export interface Near {
  readonly index: number
  readonly version: number
  readonly offset: number
  /** The cosine of the angle between the vectors, from -1 to 1. */
  readonly similarity: number
}

/** What to look for in a session. */
export interface NearestRequest {
  readonly space: string
  /** A vector of length 1. */
  readonly vector: Float32Array
  /** Only messages before this message index count. */
  readonly before: number
  /** The most pieces to return, from 1 to 1,000. */
  readonly limit: number
}

/** What an index has of a session. */
export interface StoredVectors {
  readonly place: Extent
  readonly entries: ReadonlyArray<IndexedMessage>
}

/** An implementation of a vector index. */
export interface Service {
  /** How far the vectors of a session reach; `null` if there are none. */
  readonly place: (session: string) => Effect.Effect<Extent | null, VectorIndexError>
  /** Changes the vectors of a session; `false` if somebody else has changed them meanwhile. */
  readonly write: (session: string, change: Change) => Effect.Effect<boolean, VectorIndexError>
  /**
   * The pieces of messages of a session that are nearest to a vector, the nearest first: all pieces are compared with it.
   * None if the vectors are of another space.
   */
  readonly nearest: (
    session: string,
    request: NearestRequest,
  ) => Effect.Effect<ReadonlyArray<Near>, VectorIndexError>
  /**
   * Forgets the message that was appended at a version, or the whole session without one. Afterwards, neither the index nor
   * its files have the vectors (law L15). The place of the session stays if only a message is forgotten.
   */
  readonly forget: (session: string, version?: number) => Effect.Effect<void, VectorIndexError>
  /** What is kept of a session, to be verified; `null` if that is nothing. */
  readonly load: (session: string) => Effect.Effect<StoredVectors | null, VectorIndexError>
  readonly sessions: Stream.Stream<string, VectorIndexError>
}

/**
 * The vector index in use. The default is `null`: a memory with an embedder has an index in the process (see
 * `Recall.vectorsInProcess`).
 *
 * @example
 * ```ts
 * import { VectorIndex } from "@memfold/log"
 * import { Layer } from "effect"
 *
 * export const layerOf = (index: VectorIndex.Service) => Layer.succeed(VectorIndex.VectorIndex, index)
 * ```
 */
export class VectorIndex extends Context.Reference<VectorIndex>()("@memfold/core/VectorIndex", {
  defaultValue: (): Service | null => null,
}) {}
