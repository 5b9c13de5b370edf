/** What a full-text index answers: in which messages of a session a term occurs, and how often. */
import type { Effect } from "effect"
import type { LogError } from "./EventLog.js"

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
export interface Postings<E = LogError> {
  /** How many messages there are before `before`, and how many terms they have together. */
  readonly messages: number
  readonly length: number
  /** For each term the messages that it occurs in, by message index. A term that does not occur may be left out. */
  readonly terms: ReadonlyMap<string, ReadonlyArray<Posting>>
  /** The versions of the events that appended the messages with these indexes; those that do not exist are left out. */
  readonly versions: (indexes: ReadonlyArray<number>) => Effect.Effect<ReadonlyMap<number, number>, E>
}
