/** Erasing what belongs to an owner, and the receipt of it. */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import type { Holder, KeyInfo, Keyring, KeyringError } from "./Keyring.js"

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

/** What was erased, by whom and why. It has no text of a conversation. */
export interface Receipt {
  readonly owner: string
  readonly actor: string
  readonly reason: string
  /** When, in milliseconds since the epoch. */
  readonly time: number
  readonly sessions: ReadonlyArray<ErasedSession>
  /** The keys that were taken out of use. */
  readonly keys: ReadonlyArray<KeyInfo>
  /** What the receipt does not prove. */
  readonly notProven: ReadonlyArray<string>
}

/** Who erases, and why. */
export interface EraseOptions {
  readonly owner: string
  readonly actor: string
  readonly reason: string
}

const notProven = [
  "copies of texts that were taken before the store was sealed",
  "vectors in an index of its own, logs of a provider, and what an application has printed or stored itself",
  "backups of the keyring: destroy them as well",
]

/** The digest of the records of a session, as they are stored. */
const erasedSession = (log: EventLog.Service, session: string) =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    const none = { session, version: 0, bytes: 0 }
    return Effect.map(
      Stream.runFold(EventLog.records(log, session), none, ({ bytes }, { version, data }) => {
        hash.update(`${version}:${data}\n`)
        return { session, version, bytes: bytes + Buffer.byteLength(data) }
      }),
      (read) => ({ ...read, sha256: hash.digest("hex") }),
    )
  })

/** The owner, and each of the sessions: what was said before a session had an owner is sealed with a key of the session. */
const holdersOf = (log: EventLog.Service, owner: string) =>
  Effect.map(Stream.runCollect(EventLog.sessions(log, owner)), (found) => {
    const sessions = [...found].map(({ session }) => session)
    const holders: ReadonlyArray<Holder> = [{ owner }, ...sessions.map((session) => ({ session }))]
    return { sessions, holders }
  })

/** Changes the keys of an owner and of each of the sessions. Returns the keys. */
const changeKeys = (
  log: EventLog.Service,
  owner: string,
  change: (holder: Holder) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>,
) =>
  Effect.flatMap(holdersOf(log, owner), ({ holders }) =>
    Effect.map(Effect.forEach(holders, change), (keys) => keys.flat()),
  )

/**
 * Takes the keys of an owner out of use, at once: contexts, searches and exports of the sessions are refused from now on, and lists show
 * no title. Until {@link destroyKeys} is called, {@link restoreKeys} takes it back.
 *
 * @param log - the log of the store itself, which has the sealed records
 * @returns the receipt
 */
export const erase = (
  log: EventLog.Service,
  keyring: Keyring,
  { owner, actor, reason }: EraseOptions,
): Effect.Effect<Receipt, EventLog.LogError | KeyringError> =>
  Effect.gen(function* () {
    const { sessions, holders } = yield* holdersOf(log, owner)
    const keys = yield* Effect.forEach(holders, (holder) => keyring.revoke(holder))
    const erased = yield* Effect.forEach(sessions, (session) => erasedSession(log, session))
    const time = yield* Clock.currentTimeMillis
    return { owner, actor, reason, time, sessions: erased, keys: keys.flat(), notProven }
  })

/** Destroys the keys that {@link erase} took out of use: no copy of the sealed records can be read any more. Returns the keys. */
export const destroyKeys = (log: EventLog.Service, keyring: Keyring, owner: string) =>
  changeKeys(log, owner, keyring.destroy)

/** Takes an erasure back whose keys were not destroyed yet. Returns the keys in use. */
export const restoreKeys = (log: EventLog.Service, keyring: Keyring, owner: string) =>
  changeKeys(log, owner, keyring.restore)
