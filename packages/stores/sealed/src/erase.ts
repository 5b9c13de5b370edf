/** Erasing what belongs to an owner, and the receipt of it. */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { type Holder, type KeyInfo, type Keyring, KeyringError } from "./Keyring.js"
import { isInTheClear } from "./seal.js"

const notProven = [
  "copies of texts that were taken before the store was sealed",
  "vectors in an index of its own, logs of a provider, and what an application has printed or stored itself",
  "facts about a project or workspace that were learned in these sessions, in copies of the store from before",
  "backups of the keyring: destroy them as well",
]

/** How many sessions a receipt names that have events in the clear. */
const mostNamed = 10

/** Some sessions by their names; nothing without any. */
const naming = (names: ReadonlyArray<string>, said: (named: string) => string): ReadonlyArray<string> => {
  const named = names.slice(0, mostNamed).join(", ")
  const others = names.length > mostNamed ? ` and ${names.length - mostNamed} other sessions` : ""
  return names.length === 0 ? [] : [said(`${named}${others}`)]
}

/** What a receipt does not prove of sessions that have events in the clear, or whose events are in an archive. */
const unproven = (
  erased: ReadonlyArray<{ readonly session: string; readonly clear: number; readonly isArchived: boolean }>,
): ReadonlyArray<string> => [
  ...naming(
    erased.filter(({ clear }) => clear > 0).map(({ session, clear }) => `"${session}" (${clear})`),
    (named) => `events in the clear, from before the store was sealed, in ${named}: delete these sessions`,
  ),
  ...naming(
    erased.filter(({ isArchived }) => isArchived).map(({ session }) => `"${session}"`),
    (named) =>
      `versions, sizes and digests of sessions that are in an archive, whose records are not in the store: ${named}`,
  ),
]

/** The digest of the records of a session, as they are stored, how many are in the clear, and whether they are in an archive. */
const erasedSession = (log: EventLog.Service, session: string) =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    const none = { session, version: 0, bytes: 0, clear: 0 }
    return Effect.flatMap(
      Stream.runFold(EventLog.records(log, session), none, ({ bytes, clear }, record) => {
        const { version, data } = record
        hash.update(`${version}:${data}\n`)
        const isClear = isInTheClear(record)
        return { session, version, bytes: bytes + Buffer.byteLength(data), clear: clear + (isClear ? 1 : 0) }
      }),
      (read) =>
        Effect.map(read.version > 0 ? Effect.succeed(null) : log.head(EventLog.markOf(session)), (mark) => ({
          ...read,
          sha256: hash.digest("hex"),
          isArchived: mark !== null,
        })),
    )
  })

/** The sessions of an owner, archived ones included, and what else is theirs: before a session had an owner, it had a key of its own. */
const sessionsOf = (log: EventLog.Service, owner: string, also: ReadonlyArray<string> = []) =>
  Effect.map(Stream.runCollect(EventLog.sessions(log, owner)), (found) => [
    ...new Set([...[...found].map(({ session }) => EventLog.markedBy(session) ?? session), ...also]),
  ])

const holdersOf = (owner: string, sessions: ReadonlyArray<string>): ReadonlyArray<Holder> => [
  { owner },
  ...sessions.map((session) => ({ session })),
]

/** Changes the keys of an owner and of each of the sessions. Returns the keys. */
const changeKeys = (
  log: EventLog.Service,
  owner: string,
  change: (holder: Holder) => Effect.Effect<ReadonlyArray<KeyInfo>, KeyringError>,
  also?: ReadonlyArray<string>,
) =>
  Effect.flatMap(sessionsOf(log, owner, also), (sessions) =>
    Effect.map(Effect.forEach(holdersOf(owner, sessions), change), (keys) => keys.flat()),
  )

/** The hold of one of some holders; `null` if none is held. */
export const heldOf = (keyring: Keyring, holders: ReadonlyArray<Holder>) =>
  Effect.gen(function* () {
    for (const holder of holders) {
      const reason = yield* keyring.held(holder)
      const subject = "owner" in holder ? `owner "${holder.owner}"` : `session "${holder.session}"`
      if (reason !== null) return new EventLog.Held({ subject, reason })
    }
    return null
  })

const unlessHeld = (keyring: Keyring, holders: ReadonlyArray<Holder>) =>
  Effect.flatMap(heldOf(keyring, holders), (held) => (held === null ? Effect.void : Effect.fail(held)))

/**
 * Takes the keys of an owner out of use, at once: contexts, searches and exports of the sessions are refused from now on, and lists show
 * no title. Until they are destroyed, {@link restoreKeys} takes it back. If the owner or a session is held, nothing is erased.
 *
 * @param log - the log of the store itself, which has the sealed records
 * @param request - `after`: when the keys are destroyed, see `sealed`; by default, once {@link destroyKeys} is called
 * @returns the receipt
 */
export const erase = (
  log: EventLog.Service,
  keyring: Keyring,
  { owner, actor, reason, after, also }: EventLog.EraseRequest,
): Effect.Effect<EventLog.Receipt, EventLog.LogError | KeyringError | EventLog.Held> =>
  Effect.gen(function* () {
    const time = yield* Clock.currentTimeMillis
    const destroyTime = after === undefined ? null : time + after
    const orHeld = (holder: Holder, change: ReturnType<Keyring["destroy"]>) =>
      Effect.catchAll(change, (error) =>
        // A hold that came meanwhile has its own error.
        Effect.zipRight(unlessHeld(keyring, [holder]), Effect.fail(error)),
      )
    const revoke = (holder: Holder) => orHeld(holder, keyring.revoke(holder, destroyTime))
    const before = holdersOf(owner, yield* sessionsOf(log, owner, also))
    yield* unlessHeld(keyring, before)
    return yield* Effect.gen(function* () {
      // Before the sessions are listed again: none can begin meanwhile.
      const ownKeys = yield* revoke({ owner })
      const sessions = yield* sessionsOf(log, owner, also)
      const holders = holdersOf(owner, sessions)
      const keys = [ownKeys, ...(yield* Effect.forEach(holders.slice(1), revoke))]
      yield* unlessHeld(keyring, holders)
      const erased = yield* Effect.forEach(sessions, (session) => erasedSession(log, session))
      if (after === 0) yield* Effect.forEach(holders, (holder) => orHeld(holder, keyring.destroy(holder)))
      return {
        owner,
        actor,
        reason,
        time,
        destroyTime,
        sessions: erased.map(({ clear: _clear, isArchived: _isArchived, ...session }) => session),
        keys: keys.flat(),
        notProven: [...unproven(erased), ...notProven],
      }
    }).pipe(Effect.tapErrorTag("Held", () => Effect.ignore(changeKeys(log, owner, keyring.restore, also))))
  })

/** Destroys the keys that {@link erase} took out of use: no copy of the sealed records can be read any more. Returns the keys. */
export const destroyKeys = (log: EventLog.Service, keyring: Keyring, owner: string) =>
  changeKeys(log, owner, keyring.destroy)

/** Takes an erasure back whose keys were not destroyed yet. Returns the keys in use. */
export const restoreKeys = (
  log: EventLog.Service,
  keyring: Keyring,
  owner: string,
  also?: ReadonlyArray<string>,
) => changeKeys(log, owner, keyring.restore, also)

/**
 * Holds an owner or a session, or ends the hold; `false` if there was none to end. A session whose keys are out of use cannot be held
 * alone: the key of its owner is what keeps its texts.
 */
export const hold = (
  keyring: Keyring,
  holder: Holder,
  owner: string | null,
  reason: string | null,
): Effect.Effect<boolean, KeyringError> =>
  Effect.gen(function* () {
    if (reason === null && (yield* keyring.held(holder)) === null) return false
    yield* keyring.hold(holder, reason)
    if (reason === null || "owner" in holder) return true
    const keys = yield* keyring.list(owner === null ? holder : { owner })
    if (!keys.some(({ revoked, destroyed }) => revoked !== null && destroyed === null)) return true
    yield* keyring.hold(holder, null)
    return yield* new KeyringError({
      operation: "hold",
      subject: holder.session,
      reason: "it was erased with its owner: take the erasure back, or hold the owner",
    })
  })
