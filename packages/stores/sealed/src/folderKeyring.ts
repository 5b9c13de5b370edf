/** A keyring in a folder, wrapped by a root. */
import { Clock, Effect } from "effect"
import { join } from "node:path"
import { placeIn, placeOf, placesIn, readKeys, type Stored, writeKeys } from "./keyFiles.js"
import { type Holder, type Key, type KeyInfo, type Keyring, KeyringError, nameOf } from "./Keyring.js"
import type { Root } from "./Root.js"
import { failed, wrapping } from "./wrapping.js"

type Operation = KeyringError["operation"]
type Decide = (stored: Stored, now: number) => Effect.Effect<Stored, KeyringError>

/** Where a keyring keeps its keys, and what wraps them. */
export interface FolderOptions {
  /** The folder, which is made if it is missing. Keep it out of the backups of the store. */
  readonly folder: string
  readonly root: Root
  /** Roots that wrapped keys before; {@link FolderKeyring.rewrap} leaves none that needs them. */
  readonly earlierRoots?: ReadonlyArray<Root>
}

/** A keyring in a folder. */
export interface FolderKeyring extends Keyring {
  /** Wraps every key with the root anew that another root has wrapped, and returns of how many holders. No record is written. */
  readonly rewrap: Effect.Effect<number, KeyringError>
}

const isInUse = ({ revoked, destroyed }: KeyInfo): boolean => revoked === null && destroyed === null
const isRevoked = ({ revoked, destroyed }: KeyInfo): boolean => revoked !== null && destroyed === null

const infos = ({ keys }: Stored): ReadonlyArray<KeyInfo> =>
  keys.map(({ id, made, revoked, destroyed }) => ({ id, made, revoked, destroyed }))

/** Changes the keys that a test finds; without any, nothing is changed. */
const changed = (
  stored: Stored,
  test: (key: KeyInfo) => boolean,
  change: Partial<Stored["keys"][number]>,
): Stored =>
  stored.keys.some(test)
    ? { ...stored, keys: stored.keys.map((key) => (test(key) ? { ...key, ...change } : key)) }
    : stored

const unlessHeld =
  (operation: Operation, decide: (stored: Stored, now: number) => Stored): Decide =>
  (stored, now) =>
    stored.hold === null
      ? Effect.succeed(decide(stored, now))
      : new KeyringError({ operation, subject: stored.holder, reason: `it is held: ${stored.hold}` })

/**
 * A keyring in a folder.
 *
 * @param options - the folder, and the root that wraps the keys
 *
 * @example
 * ```ts
 * import { fileRoot, folderKeyring } from "@memfold/sealed"
 *
 * const keyring = folderKeyring({ folder: "keys/owners", root: fileRoot("keys/root.key") })
 * ```
 */
export const folderKeyring = ({ folder, root, earlierRoots = [] }: FolderOptions): FolderKeyring => {
  const { keyOf, rewrapped, withNew, forget } = wrapping(root, earlierRoots)

  const read = (operation: Operation, subject: string, place: string) =>
    Effect.try({ try: () => readKeys(join(folder, place)), catch: failed(operation, subject) })

  /** Changes the keys of a holder, again if another process has changed them meanwhile. Without a change, nothing is written. */
  const change = (
    operation: Operation,
    holder: string,
    decide: Decide,
  ): Effect.Effect<Stored, KeyringError> =>
    Effect.gen(function* () {
      const place = placeOf(holder)
      for (;;) {
        const { number, stored } = yield* read(operation, holder, place)
        const before = stored ?? { holder, root: root.id, hold: null, keys: [] }
        const after = yield* decide(before, yield* Clock.currentTimeMillis)
        if (after === before) return before
        const isWritten = yield* Effect.try({
          try: () => writeKeys(join(folder, place), number + 1, after),
          catch: failed(operation, holder),
        })
        if (isWritten) return after
      }
    })

  const newest = (operation: Operation, stored: Stored): Effect.Effect<Key, KeyringError> =>
    keyOf(operation, stored, stored.keys.findLast(isInUse)!)

  const made: Decide = (stored, now) => {
    if (stored.keys.some(isInUse)) return Effect.succeed(stored)
    if (!stored.keys.some(isRevoked)) return withNew("current", stored, now)
    const reason = "its keys were revoked: restore them, or destroy them before anything new is kept"
    return new KeyringError({ operation: "current", subject: stored.holder, reason })
  }

  const of = (holder: Holder) => {
    const name = nameOf(holder)
    return {
      change: (operation: Operation, decide: Decide) => change(operation, name, decide),
      read: Effect.map(read("find", name, placeOf(name)), ({ stored }) => stored),
    }
  }

  return {
    current: (holder) =>
      Effect.flatMap(of(holder).change("current", made), (stored) => newest("current", stored)),
    find: (id) =>
      Effect.gen(function* () {
        const place = placeIn(id)
        const stored = place === null ? null : (yield* read("find", id, place)).stored
        const found = stored?.keys.find((key) => key.id === id && isInUse(key))
        if (stored !== null && found !== undefined) return yield* keyOf("find", stored, found)
        forget(id)
        return null
      }),
    list: (holder) => Effect.map(of(holder).read, (stored) => (stored === null ? [] : infos(stored))),
    rotate: (holder) =>
      Effect.flatMap(
        of(holder).change("rotate", (stored, now) => withNew("rotate", stored, now)),
        (stored) => newest("rotate", stored),
      ),
    revoke: (holder) =>
      Effect.map(
        of(holder).change(
          "revoke",
          unlessHeld("revoke", (stored, revoked) => changed(stored, isInUse, { revoked })),
        ),
        infos,
      ),
    restore: (holder) =>
      Effect.map(
        of(holder).change("restore", (stored) =>
          Effect.succeed(changed(stored, isRevoked, { revoked: null })),
        ),
        (stored) => infos(stored).filter(isInUse),
      ),
    destroy: (holder) =>
      Effect.map(
        of(holder).change(
          "destroy",
          unlessHeld("destroy", (stored, destroyed) =>
            changed(stored, isRevoked, { destroyed, wrapped: null }),
          ),
        ),
        infos,
      ),
    hold: (holder, hold) =>
      Effect.asVoid(
        of(holder).change("hold", (stored) =>
          Effect.succeed(stored.hold === hold ? stored : { ...stored, hold }),
        ),
      ),
    held: (holder) => Effect.map(of(holder).read, (stored) => stored?.hold ?? null),
    rewrap: Effect.gen(function* () {
      const places = yield* Effect.try({ try: () => placesIn(folder), catch: failed("rotate", folder) })
      let count = 0
      for (const place of places) {
        const { stored } = yield* read("rotate", folder, place)
        if (stored === null || stored.root === root.id) continue
        yield* change("rotate", stored.holder, (keys) => rewrapped("rotate", keys))
        count++
      }
      return count
    }),
  }
}
