/** Erasing what belongs to an owner, and the receipt of it. */
import type { EventLog } from "@memfold/log"
import { Clock, Effect } from "effect"
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

const sessionsOf = (log: EventLog.Service, owner: string) =>
  Effect.gen(function* () {
    const all: Array<string> = []
    let after: EventLog.SessionPosition | undefined
    for (;;) {
      const page = yield* log.list({ owner, after, limit: 500 })
      all.push(...page.map(({ session }) => session))
      after = page.at(-1)
      if (page.length < 500) return all
    }
  })

/** The digest of the records of a session, as they are stored. */
const erasedSession = (log: EventLog.Service, session: string) =>
  Effect.gen(function* () {
    const hash = createHash("sha256")
    let [version, bytes] = [0, 0]
    for (;;) {
      const page = yield* log.read(session, {
        fromVersion: version + 1,
        toVersion: Number.MAX_SAFE_INTEGER,
        reverse: false,
        limit: 500,
      })
      for (const record of page) {
        hash.update(`${record.version}:${record.data}\n`)
        bytes += Buffer.byteLength(record.data)
        version = record.version
      }
      if (page.length < 500) return { session, version, bytes, sha256: hash.digest("hex") }
    }
  })

/** The owner, and each of the sessions: what was said before a session had an owner is sealed with a key of the session. */
const holdersOf = (log: EventLog.Service, owner: string) =>
  Effect.map(sessionsOf(log, owner), (sessions) => ({
    sessions,
    holders: [{ owner }, ...sessions.map((session) => ({ session }))] satisfies ReadonlyArray<Holder>,
  }))

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
  Effect.flatMap(holdersOf(log, owner), ({ holders }) =>
    Effect.map(
      Effect.forEach(holders, (holder) => keyring.destroy(holder)),
      (keys) => keys.flat(),
    ),
  )

/** Takes an erasure back whose keys were not destroyed yet. Returns the keys in use. */
export const restoreKeys = (log: EventLog.Service, keyring: Keyring, owner: string) =>
  Effect.flatMap(holdersOf(log, owner), ({ holders }) =>
    Effect.map(
      Effect.forEach(holders, (holder) => keyring.restore(holder)),
      (keys) => keys.flat(),
    ),
  )
