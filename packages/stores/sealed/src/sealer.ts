/** Whose key seals a text, and how it is opened again. */
import { EventLog } from "@memfold/log"
import type { ProjectionChange } from "@memfold/log/EventLog"
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
export const failure = (operation: Operation, session: string, reason: string, refused?: "erased" | "held") =>
  new EventLog.LogError({ operation, session, reason, refused })

export const ofKeyring = (operation: Operation, session: string) => (error: KeyringError) =>
  new EventLog.LogError({
    operation,
    session,
    reason: error.message,
    refused: error.refused,
    cause: error,
  })

/** The owner and the title in the data of a description. */
export const describedBy = (
  data: string | undefined,
): { readonly owner: string | null; readonly title: string | null } => {
  const { owner = null, title = null } = (data === undefined ? {} : JSON.parse(data)) as Partial<{
    owner: string | null
    title: string | null
  }>
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

/** How texts of sessions are sealed and opened. */
export const sealer = (log: EventLog.Service, keyring: Keyring) => {
  const derived = new Map<string, SessionKeys>()
  const keysOf = (id: string, bytes: Uint8Array, session: string): SessionKeys => {
    const name = `${id} ${session}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const keys = sessionKeys(id, bytes, session)
    if (derived.size >= mostKept) derived.clear()
    derived.set(name, keys)
    return keys
  }
  /**
   * Whose key seals what is written now: the owner that the batch gives the session, or the owner that it has. An owner changes with an
   * event, so whoever appends at the newest version knows it: after a conflict it is read again.
   */
  const holders = new Map<string, Holder>()
  /** The key that the newest text was sealed with that this process knows of a session. */
  const newestKeys = new Map<string, string>()
  const used = (session: string, id: string): void => {
    newestKeys.delete(session)
    newestKeys.set(session, id)
    if (newestKeys.size > mostRemembered) newestKeys.delete(newestKeys.keys().next().value ?? session)
  }
  /**
   * Fails if a session is sealed with a key that is out of use. Whoever knows what was said in it, in a cache, must neither show it nor
   * write it again under another key.
   */
  const unlessErased = (operation: Operation, session: string) =>
    Effect.suspend(() => {
      const id = newestKeys.get(session)
      if (id === undefined) return Effect.void
      return Effect.flatMap(Effect.mapError(keyring.find(id), ofKeyring(operation, session)), (key) =>
        key === null ? erased(operation, session, id) : Effect.void,
      )
    })
  const holderOf = (session: string, isNew: boolean, changes: ReadonlyArray<ProjectionChange> = []) =>
    Effect.gen(function* () {
      const given = changes.findLast(({ kind }) => kind === "description")
      const known = holders.get(session)
      if (given === undefined && known !== undefined && !isNew) return known
      const rows = given?.rows ?? (isNew ? [] : yield* log.projections.get(session, "description"))
      const { owner } = describedBy(rows[0]?.data)
      const holder: Holder = owner === null ? { session } : { owner }
      if (holders.size >= mostKept) holders.clear()
      holders.set(session, holder)
      return holder
    })
  const keysNow = (
    operation: Operation,
    session: string,
    isNew: boolean,
    changes?: ReadonlyArray<ProjectionChange>,
  ) =>
    Effect.flatMap(holderOf(session, isNew, changes), (holder) =>
      Effect.mapBoth(keyring.current(holder), {
        onFailure: ofKeyring(operation, session),
        onSuccess: ({ id, bytes }) => keysOf(id, bytes, session),
      }),
    ).pipe(
      // Behind the key: of an erasure that comes in between, the check tells. The key itself was in use just now.
      Effect.tap(({ id }) =>
        isNew || newestKeys.get(session) === id ? Effect.void : unlessErased(operation, session),
      ),
      Effect.tap(({ id }) => Effect.sync(() => used(session, id))),
    )
  const openText = (
    operation: Operation,
    { session, about }: Stored,
    { key: id, bytes }: SealedText,
    key: Key | null,
  ): Either.Either<string, EventLog.LogError> => {
    used(session, id)
    if (key === null) return Either.left(erased(operation, session, id))
    const text = unsealed(keysOf(id, key.bytes, session), bytes, about())
    const reason = `sealed data was changed, or comes from another place (key ${id})`
    return text === null ? Either.left(failure(operation, session, reason)) : Either.right(text)
  }
  /**
   * The texts that stored data has, or why one has none. Each key is asked for once, and never kept for the next read. Data from before
   * the store was sealed is text already.
   */
  const open = (operation: Operation, stored: ReadonlyArray<Stored>) =>
    Effect.suspend(() => {
      const found = stored.map(({ data }) => sealedIn(data))
      const ids = new Set(found.flatMap((sealed) => (sealed === null ? [] : [sealed.key])))
      return Effect.map(
        Effect.forEach(ids, (id) => Effect.map(Effect.either(keyring.find(id)), (key) => [id, key] as const)),
        (asked) => {
          const keys = new Map(asked)
          return stored.map((one, at) => {
            const sealed = found[at] ?? null
            return sealed === null
              ? Either.right(one.data)
              : Either.flatMap(
                  Either.mapLeft(keys.get(sealed.key)!, ofKeyring(operation, one.session)),
                  (key) => openText(operation, one, sealed, key),
                )
          })
        },
      )
    })
  /** After a write that was refused, another process may have given the session another owner. */
  const forgetting = <A, E>(session: string, write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.tapError(write, () => Effect.sync(() => holders.delete(session)))
  return { keysNow, open, forgetting, unlessErased }
}

/** How texts of sessions are sealed and opened. */
export type Sealer = ReturnType<typeof sealer>
