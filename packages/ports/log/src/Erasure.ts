/** What a log can do that seals what its store keeps, with a key per owner: erase an owner from every copy, and hold what must not go. */
import { type Effect, Schema } from "effect"
import type { LogError } from "./LogRecord.js"

/** Whose key it is: an owner's, or that of a session without an owner. */
export type Holder = { readonly owner: string } | { readonly session: string }

/** A key as its keyring lists it. Times are milliseconds since the epoch. */
export interface KeyInfo {
  readonly id: string
  readonly made: number
  /** When it was revoked; `null` while it is in use. */
  readonly revoked: number | null
  /** When a revoked key is to be destroyed; `null` if no time was given. */
  readonly due: number | null
  /** When it was destroyed; `null` while it can be taken back. */
  readonly destroyed: number | null
}

/** A session as a receipt names it. */
export interface ErasedSession {
  readonly session: string
  /** Its version when it was erased. */
  readonly version: number
  /** How many bytes of sealed records it has. */
  readonly bytes: number
  /** The SHA-256 of its sealed records, in order: a copy of them can be found by it, and no text. */
  readonly sha256: string
}

/** Who erases, whom, and why. */
export interface EraseRequest {
  readonly owner: string
  readonly actor: string
  readonly reason: string
  /** How long the erasure can be taken back, in milliseconds; until it is asked for by default, and 0 destroys the keys at once. */
  readonly after?: number | undefined
  /** Further logs that have words of the owner, such as the facts about a user, and sessions that have another owner now. */
  readonly also?: ReadonlyArray<string> | undefined
}

/** What was erased, by whom and why. It has no text of a conversation. */
export interface Receipt extends Pick<EraseRequest, "owner" | "actor" | "reason"> {
  /** When, in milliseconds since the epoch. */
  readonly time: number
  /** When the keys are destroyed, in milliseconds since the epoch; `null` if that is still to be asked for. */
  readonly destroyTime: number | null
  readonly sessions: ReadonlyArray<ErasedSession>
  /** The keys that were taken out of use. */
  readonly keys: ReadonlyArray<KeyInfo>
  /** What the receipt does not prove. */
  readonly notProven: ReadonlyArray<string>
}

/** An owner or a session is held: nothing of it is erased, deleted, archived or redacted until the hold ends. */
export class Held extends Schema.TaggedError<Held>()("Held", {
  /** `owner` or `session`, and the id. */
  subject: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `${this.subject} is held: ${this.reason}. End the hold first`
  }
}

/** Erases owners, and holds owners and sessions. */
export interface Erasure {
  /**
   * Takes the keys of an owner, and of the sessions, out of use at once, and destroys them after a time. Fails with {@link Held}, and
   * changes nothing, if the owner or a session is held.
   */
  readonly erase: (request: EraseRequest) => Effect.Effect<Receipt, LogError | Held>
  /** Takes an erasure back whose keys are not destroyed. Returns the ids of the keys that are in use. */
  readonly restore: (
    owner: string,
    also?: ReadonlyArray<string>,
  ) => Effect.Effect<ReadonlyArray<string>, LogError>
  /** Holds an owner or a session for a reason; `null` ends the hold. Returns `false` if there was no hold to end. */
  readonly hold: (holder: Holder, reason: string | null) => Effect.Effect<boolean, LogError>
  /** The hold of a session, or of its owner; `null` without one. */
  readonly held: (session: string) => Effect.Effect<Held | null, LogError>
}
