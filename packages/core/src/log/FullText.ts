/**
 * What a full-text index answers, and where a store can keep one. The engine computes the terms and the form of a stored
 * index; the store keeps its parts with the log, and finds the buckets of terms.
 */
import type { Effect } from "effect"

/** The terms to look up. */
export interface Lookup {
  readonly terms: ReadonlyArray<string>
  /** Only messages before this message index count. The answer is the same whatever came after them. */
  readonly before: number
}

/** A message in which a term occurs. */
export interface Posting {
  /** The message index. */
  readonly index: number
  /** How often the term occurs. */
  readonly count: number
  /** How many terms the message has. */
  readonly length: number
}

/** What an index knows of some terms. */
export interface Postings<E> {
  /** How many messages there are before `before`, and how many terms they have together. */
  readonly messages: number
  readonly length: number
  /** For each term the messages that it occurs in, by message index. A term that does not occur may be left out. */
  readonly terms: ReadonlyMap<string, ReadonlyArray<Posting>>
  /** The versions of the events that appended the messages with these indexes; those that do not exist are left out. */
  readonly versions: (indexes: ReadonlyArray<number>) => Effect.Effect<ReadonlyMap<number, number>, E>
}

/**
 * A part of the stored index of a session: the messages among the events after the part before it. Its terms are in
 * buckets, each in the one that its hash modulo `buckets` names.
 */
export interface StoredPart {
  /** The last event in it: its version, and its batch id. Together they identify the log. */
  readonly version: number
  readonly batchId: string
  /** How many buckets it has. */
  readonly buckets: number
  /** What only the engine reads: the messages of the part, and a checksum. */
  readonly head: Uint8Array
}

/** A stored part with the buckets that were asked for, by their numbers; one that is missing is left out. */
export interface FoundPart extends StoredPart {
  readonly found: ReadonlyMap<number, Uint8Array>
}

/** A part to store, with all of its buckets in order. */
export interface NewPart extends Omit<StoredPart, "buckets"> {
  readonly buckets: ReadonlyArray<Uint8Array>
}

/** The stored index of a session. */
export interface StoredIndex {
  /** The version of the session. */
  readonly version: number
  /** How often records of the session were rewritten. */
  readonly rewrites: number
  /** In the order of the log; none if the session has not been indexed. */
  readonly parts: ReadonlyArray<FoundPart>
}

/** Where a part goes. */
export interface PartPlace {
  /** What `rewrites` was before the log was read for the part: an index has nothing that was redacted since. */
  readonly rewrites: number
  /** The version at which the stored parts must end; 0 if there must be none. */
  readonly end: number
  /** The parts after this version are replaced; 0 replaces all of them. */
  readonly after: number
}

/**
 * Where a store keeps full-text indexes. An index is a projection of the log: it can be dropped at any time, and is built
 * again when a session is searched. In the transaction of a rewrite, a store drops every part that has a rewritten record,
 * and those after it (law L15); deleting a session deletes its index.
 */
export interface FullTextStore<E> {
  /**
   * The stored index of a session in one consistent state, with the buckets of the terms with these hashes; `null` if the
   * session does not exist.
   */
  readonly load: (session: string, hashes: ReadonlyArray<number>) => Effect.Effect<StoredIndex | null, E>
  /** All buckets of the part that ends at a version, in order; `null` if there is no such part. */
  readonly buckets: (session: string, version: number) => Effect.Effect<ReadonlyArray<Uint8Array> | null, E>
  /**
   * Stores a part, in one transaction with the removal of those that it replaces. `false`, and nothing is written, if the
   * session has been rewritten, the stored parts end somewhere else, or the log has another batch at the end of the part.
   */
  readonly write: (session: string, place: PartPlace, part: NewPart) => Effect.Effect<boolean, E>
  /** Drops the index of a session; without one, all indexes. */
  readonly drop: (session?: string) => Effect.Effect<void, E>
}
