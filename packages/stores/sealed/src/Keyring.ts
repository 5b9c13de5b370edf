/**
 * The port of keys: one key for each holder, which is an owner, or a session without one. Whoever destroys the key of a holder erases what
 * was sealed with it, wherever copies of the store are.
 */
import type { EventLog } from "@memfold/log"
import { type Effect, Schema } from "effect"

/** Whose key it is. */
export type Holder = EventLog.Holder
/** A key as its keyring lists it. */
export type KeyInfo = EventLog.KeyInfo

/** The name of a holder, as keyrings store it. */
export const nameOf = (holder: Holder): string =>
  "owner" in holder ? `owner:${holder.owner}` : `session:${holder.session}`

/** A key in use. */
export interface Key {
  /** What sealed records name the key by; it says nothing about the holder. */
  readonly id: string
  readonly bytes: Uint8Array
}

/** The keys could not be read or changed, or a hold forbids it. The text has no key and no word of a conversation. */
export class KeyringError extends Schema.TaggedError<KeyringError>()("KeyringError", {
  operation: Schema.Literal("current", "find", "rotate", "revoke", "restore", "destroy", "hold"),
  /** The holder, as `owner:ID` or `session:ID`, or the id of a key. */
  subject: Schema.String,
  reason: Schema.String,
  /** It is refused for good, and nothing failed; `unreadable`: a key is there, and this keyring cannot read it. */
  refused: Schema.optional(Schema.Literal("erased", "held", "unreadable")),
}) {
  override get message(): string {
    return `The keyring failed at ${this.operation} for "${this.subject}": ${this.reason}`
  }
}

/** Keeps keys, apart from the store: a backup of both together is a backup of the texts. */
export interface Keyring {
  /** The newest key of a holder that is in use. It is made if there is none. */
  readonly current: (holder: Holder) => Effect.Effect<Key, KeyringError>
  /** A key by its id; `null` if it was revoked or destroyed, or this keyring never had it. */
  readonly find: (id: string) => Effect.Effect<Key | null, KeyringError>
  /** Every key that a holder had, oldest first. */
  readonly list: (holder: Holder) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>
  /** Makes a new key, with which records are sealed from now on. Older keys stay, so nothing is written again. */
  readonly rotate: (holder: Holder) => Effect.Effect<Key, KeyringError>
  /**
   * Takes all keys of a holder out of use, at once. Returns them. Fails for a holder that is held.
   *
   * @param due - when {@link destroyDue} is to destroy them, in milliseconds since the epoch; `null` if {@link destroy} is to
   */
  readonly revoke: (holder: Holder, due: number | null) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>
  /** Puts revoked keys back into use. Destroyed keys stay destroyed. Returns the keys in use. */
  readonly restore: (holder: Holder) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>
  /** Destroys the revoked keys of a holder: nobody can read what was sealed with them, in any copy. Fails for a holder that is held. */
  readonly destroy: (holder: Holder) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>
  /** Destroys all revoked keys whose time has come. Those of holders that are held wait. Returns how many holders had any. */
  readonly destroyDue: Effect.Effect<number, KeyringError>
  /** Forbids to revoke and destroy the keys of a holder; `null` ends the hold. */
  readonly hold: (holder: Holder, reason: string | null) => Effect.Effect<void, KeyringError>
  /** Why a holder is held; `null` if it is not. */
  readonly held: (holder: Holder) => Effect.Effect<string | null, KeyringError>
}
