/** Whose key seals a text, and how it is opened again. */
import { EventLog } from "@memfold/log"
import type { ProjectionChange } from "@memfold/log/EventLog"
import { Newest } from "@memfold/log/Newest"
import type { Description } from "@memfold/log/Projections"
import { Effect, Either } from "effect"
import type { Holder, Key, Keyring, KeyringError } from "./Keyring.js"
import { sealedIn, type SealedText, type SessionKeys, sessionKeys, unsealed } from "./seal.js"

/** What failed, as errors name it. */
export type Operation =
  | "append"
  | "read"
  | "head"
  | "hold"
  | "erase"
  | "restore"
  | "list"
  | "delete"
  | "rewrite"
  | "projections"

/** An error of the log. */
export const failure = (
  operation: Operation,
  session: string,
  reason: string,
  refused: NonNullable<KeyringError["refused"]>,
) => new EventLog.LogError({ operation, session, reason, refused })

export const ofKeyring = (operation: Operation, session: string) => (error: KeyringError) =>
  new EventLog.LogError({
    operation,
    session,
    reason: error.message,
    refused: error.refused,
    cause: error,
  })

/** The owner and the title in the data of a description. */
export const describedBy = (data = "{}"): Description => {
  const { owner = null, title = null } = JSON.parse(data) as Partial<Description>
  return { owner, title }
}

/** What was sealed with a key that is out of use. */
const erased = (operation: Operation, session: string, key: string) =>
  failure(
    operation,
    session,
    `its texts are sealed with the key ${key}, which this keyring does not have or no longer has: they were erased, or the keyring is another one`,
    "erased",
  )

/** Of so many sessions, the key in use is known: of more than any cache of a memory has. */
const mostRemembered = 1_000_000

/** Keys that are derived are kept for so many sessions. */
const mostKept = 10_000

/** Data of a session as it is stored. */
export interface Stored {
  readonly session: string
  readonly data: string
  /** What it is bound to, if it is sealed. */
  readonly about: () => string
}

/** Sessions with data from before the store was sealed, as far as a process has read them. */
const sessionsInTheClear = (
  keyring: Keyring,
  holderOf: (session: string) => Effect.Effect<Holder, EventLog.LogError>,
) => {
  const known = new Set<string>()
  return {
    has: (session: string): boolean => known.has(session),
    forget: (session: string): void => void known.delete(session),
    /** Why a session with such data is refused, once all keys of its owner are out of use; `null` if it is not. */
    refusal: (
      operation: Operation,
      session: string,
    ): Effect.Effect<EventLog.LogError | null, EventLog.LogError> =>
      Effect.gen(function* () {
        if (known.size >= mostRemembered) known.clear()
        known.add(session)
        const holder = yield* holderOf(session)
        if (!("owner" in holder)) return null
        const keys = yield* Effect.mapError(keyring.list(holder), ofKeyring(operation, session))
        const isErased =
          keys.length > 0 && keys.every(({ revoked, destroyed }) => (revoked ?? destroyed) !== null)
        const reason =
          "its owner was erased, and it has texts in the clear, from before the store was sealed: delete it"
        return isErased ? failure(operation, session, reason, "erased") : null
      }),
  }
}

/** How texts of sessions are sealed and opened. */
export const sealer = (log: EventLog.Service, keyring: Keyring) => {
  const derived = new Map<string, SessionKeys>()
  const keysOf = (key: Key, earlier: ReadonlyArray<Key>, session: string): SessionKeys => {
    const name = `${[key, ...earlier].map(({ id }) => id).join(" ")} ${session}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const keys = sessionKeys(key, earlier, session)
    if (derived.size >= mostKept) derived.clear()
    derived.set(name, keys)
    return keys
  }
  /**
   * Whose key seals what is written now: the owner that the batch gives the session, or the owner that it has. An owner changes with an
   * event, so whoever appends at the newest version knows it: after a conflict it is read again.
   */
  const holders = new Map<string, Holder>()
  /** The keys that texts of a session are sealed with that this process knows. */
  const usedKeys = new Newest<ReadonlyArray<string>>(mostRemembered)
  const used = (session: string, ids: ReadonlyArray<string>): void => {
    const before = usedKeys.get(session) ?? []
    const found = ids.filter((id) => !before.includes(id))
    if (found.length > 0) usedKeys.set(session, [...before, ...found])
  }
  /** Some keys of a session. Fails if one is out of use. */
  const inUse = (operation: Operation, session: string, ids: ReadonlyArray<string>) =>
    Effect.forEach(ids, (id) =>
      Effect.flatMap(Effect.mapError(keyring.find(id), ofKeyring(operation, session)), (key) =>
        key === null ? erased(operation, session, id) : Effect.succeed(key),
      ),
    )
  const holderOf = (
    session: string,
    isNew: boolean,
    changes: ReadonlyArray<ProjectionChange>,
    named: ReadonlyArray<string | null>,
  ) =>
    Effect.gen(function* () {
      const given = changes.findLast(({ kind }) => kind === "description")
      const known = holders.get(session)
      if (given === undefined && named.length === 0 && known !== undefined && !isNew) return known
      const rows = given?.rows ?? (isNew ? [] : yield* log.projections.get(session, "description"))
      const owner = named.length > 0 ? named.at(-1)! : describedBy(rows[0]?.data).owner
      const holder: Holder = owner === null ? { session } : { owner }
      if (holders.size >= mostKept) holders.clear()
      holders.set(session, holder)
      return holder
    })
  const clear = sessionsInTheClear(keyring, (session) => holderOf(session, false, [], []))
  /**
   * Fails if a session is sealed with a key that is out of use, or was in the clear when its owner was erased. Whoever knows what was said
   * in it, in a cache, must neither show it nor write it again under another key.
   */
  const unlessErased = (operation: Operation, session: string) =>
    Effect.gen(function* () {
      yield* inUse(operation, session, usedKeys.get(session) ?? [])
      const refused = clear.has(session) ? yield* clear.refusal(operation, session) : null
      if (refused !== null) return yield* refused
    })
  /**
   * The keys that seal what is written now. A session that has passed from one owner to another is sealed with keys of both from then on:
   * what rests on words of the first one, such as a summary, is gone with each of them. A copy of such a session is written in one batch:
   * its records name the owners.
   */
  const keysNow = (
    operation: Operation,
    session: string,
    isNew: boolean,
    changes: ReadonlyArray<ProjectionChange> = [],
    named: ReadonlyArray<string | null> = [],
  ) =>
    Effect.gen(function* () {
      const holder = yield* holderOf(session, isNew, changes, named)
      const failed = Effect.mapError(ofKeyring(operation, session))
      const key = yield* failed(keyring.current(holder))
      if (isNew) usedKeys.delete(session)
      for (const owner of new Set(named))
        if (owner !== null) used(session, [(yield* failed(keyring.current({ owner }))).id])
      const others = (usedKeys.get(session) ?? []).filter((id) => id !== key.id)
      used(session, [key.id])
      if (others.length === 0) return keysOf(key, [], session)
      // Behind the key: of an erasure that comes in between, the check tells. The key itself was in use just now.
      const found = yield* inUse(operation, session, others.toSorted())
      const own = yield* failed(Effect.zip(keyring.list(holder), keyring.list({ session })))
      const isOwn = new Set(own.flat().map(({ id }) => id))
      return keysOf(
        key,
        found.filter(({ id }) => !isOwn.has(id)),
        session,
      )
    })
  const openText = (
    operation: Operation,
    { session, about }: Stored,
    { ids, bytes }: SealedText,
    keys: ReadonlyMap<string, Either.Either<Key | null, KeyringError>>,
  ): Either.Either<string, EventLog.LogError> => {
    used(session, ids)
    const found: Array<Key> = []
    for (const id of ids) {
      const key = keys.get(id)!
      if (Either.isLeft(key)) return Either.left(ofKeyring(operation, session)(key.left))
      if (key.right === null) return Either.left(erased(operation, session, id))
      found.push(key.right)
    }
    const [key, ...earlier] = found
    const text = unsealed(keysOf(key!, earlier, session), bytes, about())
    const reason = `sealed data was changed, or comes from another place (key ${ids.join(", ")})`
    return text === null ? Either.left(failure(operation, session, reason, "unreadable")) : Either.right(text)
  }
  /**
   * The texts that stored data has, or why one has none. Each key is asked for once, and never kept for the next read. Data from before
   * the store was sealed is text already.
   */
  const open = (operation: Operation, stored: ReadonlyArray<Stored>) =>
    Effect.suspend(() => {
      const found = stored.map(({ data }) => sealedIn(data))
      const ids = new Set(found.flatMap((sealed) => sealed?.ids ?? []))
      return Effect.map(
        Effect.forEach(ids, (id) => Effect.map(Effect.either(keyring.find(id)), (key) => [id, key] as const)),
        (asked) => {
          const keys = new Map(asked)
          return stored.map((one, at) => {
            const sealed = found[at] ?? null
            return sealed === null ? Either.right(one.data) : openText(operation, one, sealed, keys)
          })
        },
      )
    })
  /** After a write that was refused, another process may have given the session another owner. */
  const forgetting = <A, E>(session: string, write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.tapError(write, () => Effect.sync(() => holders.delete(session)))
  /** A session that is deleted has no keys. */
  const deleted = (session: string): void => {
    holders.delete(session)
    usedKeys.delete(session)
    clear.forget(session)
  }
  return { keysNow, open, forgetting, deleted, unlessErased, refusalInTheClear: clear.refusal }
}

/** How texts of sessions are sealed and opened. */
export type Sealer = ReturnType<typeof sealer>
