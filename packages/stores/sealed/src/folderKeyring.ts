/** A keyring in a folder, wrapped by a root. */
import { Clock, Effect, Schema } from "effect"
import { join } from "node:path"
import {
  dueBy,
  dueDone,
  type Found,
  isNewest,
  noteDue,
  placeIn,
  placeOf,
  placesIn,
  readKeys,
  shredLeft,
  type Stored,
  writeKeys,
} from "./keyFiles.js"
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

/** Keys of so many holders are kept as they were last read. */
const mostKnown = 10_000

const isInUse = ({ revoked, destroyed }: KeyInfo): boolean => revoked === null && destroyed === null
const isRevoked = ({ revoked, destroyed }: KeyInfo): boolean => revoked !== null && destroyed === null

const infos = ({ keys }: Stored): ReadonlyArray<KeyInfo> =>
  keys.map(({ id, made, revoked, due, destroyed }) => ({ id, made, revoked, due, destroyed }))

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
      : new KeyringError({
          operation,
          subject: stored.holder,
          reason: `it is held: ${stored.hold}`,
          refused: "held",
        })

/**
 * Does something with the keys of each of some holders, and returns with how many it was done. One whose keys cannot be read or changed keeps
 * no other one waiting: it fails behind them.
 */
const ofAll = <A>(places: ReadonlyArray<A>, change: (place: A) => Effect.Effect<boolean, KeyringError>) =>
  Effect.flatMap(Effect.partition(places, change), ([[failure], done]) =>
    failure === undefined ? Effect.succeed(done.filter(Boolean).length) : Effect.fail(failure),
  )

/** Reading and changing the keys of holders in a folder. */
const filesOf = (folder: string, root: Root) => {
  const attempt = <A>(operation: Operation, subject: string, run: () => A) =>
    Effect.try({ try: run, catch: failed(operation, subject) })
  /** Keys as they were last read, by the place of their holder. Whether they are the newest, two looks at the folder say. */
  const known = new Map<string, Found>()
  const read = (operation: Operation, subject: string, place: string) =>
    attempt(operation, subject, () => {
      const before = known.get(place)
      if (before !== undefined && isNewest(join(folder, place), before)) return before.stored
      const found = readKeys(join(folder, place))
      if (known.size >= mostKnown) known.clear()
      known.set(place, found)
      return found.stored
    })
  /** Reads to change: what a killed process has left goes first, so that a key that is destroyed is in no file. */
  const readTidied = (operation: Operation, subject: string, place: string) =>
    attempt(operation, subject, () => {
      const found = readKeys(join(folder, place))
      shredLeft(join(folder, place), found.left)
      return found
    })

  /** Changes the keys of a holder, again if another process has changed them meanwhile. Without a change, nothing is written. */
  const change = (
    operation: Operation,
    holder: string,
    decide: Decide,
  ): Effect.Effect<Stored, KeyringError> =>
    Effect.gen(function* () {
      const place = placeOf(holder)
      for (;;) {
        const { number, stored } = yield* readTidied(operation, holder, place)
        const before = stored ?? { holder, root: root.id, hold: null, keys: [] }
        const after = yield* decide(before, yield* Clock.currentTimeMillis)
        if (after === before) return before
        const isWritten = yield* attempt(operation, holder, () =>
          writeKeys(join(folder, place), number + 1, after),
        )
        if (isWritten) return after
      }
    })
  return { attempt, read, readTidied, change }
}

const isRoot = Schema.is(
  Schema.Struct({
    id: Schema.String,
    wrap: Schema.declare((given) => typeof given === "function"),
    unwrap: Schema.declare((given) => typeof given === "function"),
  }),
)

const isText = (given: unknown): boolean => typeof given === "string" && given.trim() !== ""

const checkOptions = ({ folder, root, earlierRoots = [], ...others }: Partial<FolderOptions>): void => {
  const [unknown] = Object.keys(others)
  const wrong =
    unknown !== undefined
      ? `there is no option "${unknown}"; there are folder, root and earlierRoots`
      : !isText(folder)
        ? "`folder` must be the path of a folder"
        : !isRoot(root)
          ? "`root` must be a root, such as fileRoot(path) or kmsRoot(options)"
          : !Array.isArray(earlierRoots) || !earlierRoots.every((one) => isRoot(one))
            ? "`earlierRoots` must be an array of roots"
            : null
  if (wrong !== null) throw new TypeError(wrong)
}

/**
 * A keyring in a folder.
 *
 * @param options - the folder, and the root that wraps the keys
 * @throws TypeError: an option is unknown, or its value is not allowed
 *
 * @example
 * ```ts
 * import { fileRoot, folderKeyring } from "@memfold/sealed"
 *
 * const keyring = folderKeyring({ folder: "keys/owners", root: fileRoot("keys/root.key") })
 * ```
 */
export const folderKeyring = (options: FolderOptions): FolderKeyring => {
  checkOptions(options ?? {})
  const { folder, root, earlierRoots = [] } = options
  const { keyOf, rewrapped, withNew, forget } = wrapping(root, earlierRoots)

  const { attempt, read, readTidied, change } = filesOf(folder, root)

  const newest = (operation: Operation, stored: Stored): Effect.Effect<Key, KeyringError> =>
    keyOf(operation, stored, stored.keys.findLast(isInUse)!)

  const made: Decide = (stored, now) => {
    if (stored.keys.some(isInUse)) return Effect.succeed(stored)
    if (!stored.keys.some(isRevoked)) return withNew("current", stored, now)
    const reason = "its keys were revoked: restore them, or destroy them before anything new is kept"
    return new KeyringError({
      operation: "current",
      subject: stored.holder,
      reason,
      refused: "erased",
    })
  }

  const places = new Map<string, string>()
  const of = (holder: Holder) => {
    const name = nameOf(holder)
    const place = places.get(name) ?? placeOf(name)
    if (places.size >= mostKnown) places.clear()
    places.set(name, place)
    return {
      change: (operation: Operation, decide: Decide) => change(operation, name, decide),
      read: (operation: Operation) => read(operation, name, place),
    }
  }

  return {
    current: (holder) =>
      Effect.gen(function* () {
        const stored = yield* of(holder).read("current")
        return yield* newest(
          "current",
          stored?.keys.some(isInUse) === true ? stored : yield* of(holder).change("current", made),
        )
      }),
    find: (id) =>
      Effect.gen(function* () {
        const place = placeIn(id)
        const stored = place === null ? null : yield* read("find", id, place)
        const found = stored?.keys.find((key) => key.id === id && isInUse(key))
        if (stored !== null && found !== undefined) return yield* keyOf("find", stored, found)
        forget(id)
        return null
      }),
    list: (holder) => Effect.map(of(holder).read("find"), (stored) => (stored === null ? [] : infos(stored))),
    rotate: (holder) =>
      Effect.flatMap(
        of(holder).change("rotate", (stored, now) => withNew("rotate", stored, now)),
        (stored) => newest("rotate", stored),
      ),
    revoke: (holder, due) =>
      Effect.zipRight(
        due === null
          ? Effect.void
          : attempt("revoke", nameOf(holder), () => noteDue(folder, placeOf(nameOf(holder)), due)),
        Effect.map(
          of(holder).change(
            "revoke",
            unlessHeld("revoke", (stored, revoked) =>
              changed(changed(stored, isRevoked, { due }), isInUse, { revoked, due }),
            ),
          ),
          infos,
        ),
      ),
    restore: (holder) =>
      Effect.map(
        of(holder).change("restore", (stored) =>
          Effect.succeed(changed(stored, isRevoked, { revoked: null, due: null })),
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
    destroyDue: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const isDue = (key: KeyInfo): boolean => isRevoked(key) && key.due !== null && key.due <= now
      const due = yield* attempt("destroy", folder, () => dueBy(folder, now))
      return yield* ofAll(due, ({ name, place }) =>
        Effect.gen(function* () {
          const { stored } = yield* readTidied("destroy", folder, place)
          const hasAny = stored !== null && stored.keys.some(isDue)
          if (hasAny) {
            if (stored.hold !== null) return false
            const { keys } = yield* change(
              "destroy",
              stored.holder,
              unlessHeld("destroy", (before, destroyed) =>
                changed(before, isDue, { destroyed, wrapped: null }),
              ),
            )
            if (keys.some(isDue)) return false
          }
          yield* attempt("destroy", folder, () => dueDone(folder, name))
          return hasAny
        }),
      )
    }),
    hold: (holder, hold) =>
      Effect.asVoid(
        of(holder).change("hold", (stored) =>
          Effect.succeed(stored.hold === hold ? stored : { ...stored, hold }),
        ),
      ),
    held: (holder) => Effect.map(of(holder).read("find"), (stored) => stored?.hold ?? null),
    rewrap: Effect.flatMap(
      attempt("rotate", folder, () => placesIn(folder)),
      (places) =>
        ofAll(places, (place) =>
          Effect.gen(function* () {
            const stored = yield* read("rotate", folder, place)
            if (stored === null || stored.root === root.id) return false
            yield* change("rotate", stored.holder, (keys) => rewrapped("rotate", keys))
            return true
          }),
        ),
    ),
  }
}
