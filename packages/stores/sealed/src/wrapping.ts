/** Wrapping and unwrapping the keys of holders, by the roots that are given. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { newId, type Stored, type StoredKey } from "./keyFiles.js"
import { type Key, KeyringError } from "./Keyring.js"
import { type Root, Unreadable } from "./Root.js"

type Operation = KeyringError["operation"]

/** What a keyring fails with, whatever happened. */
export const failed = (operation: Operation, subject: string) => (error: unknown) =>
  error instanceof KeyringError
    ? error
    : new KeyringError({
        operation,
        subject,
        reason: error instanceof Error ? error.message : String(error),
        refused: error instanceof Unreadable ? "unreadable" : undefined,
      })

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

/**
 * Wraps and unwraps keys.
 *
 * @param root - wraps what is new
 * @param earlierRoots - have wrapped keys before
 */
export const wrapping = (root: Root, earlierRoots: ReadonlyArray<Root>) => {
  const roots = new Map([...earlierRoots, root].map((one) => [one.id, one]))
  /** Keys that were unwrapped, by their ids. Whether they are in use, the files say. */
  const unwrapped = new Map<string, Key>()
  const wrap = async (holder: string, id: string, bytes: Uint8Array): Promise<string> =>
    text(await root.wrap(bytes, `${holder} ${id}`))

  const unwrap = async ({ holder, root: by }: Stored, { id, wrapped }: StoredKey): Promise<Key> => {
    const wrapper = roots.get(by)
    if (wrapper === undefined) throw new Unreadable(`it was wrapped by the root "${by}", which is not given`)
    const bytes = await wrapper.unwrap(Buffer.from(wrapped ?? "", "base64"), `${holder} ${id}`)
    const key = { id, bytes }
    unwrapped.set(id, key)
    return key
  }
  const keyOf = (operation: Operation, stored: Stored, key: StoredKey): Effect.Effect<Key, KeyringError> =>
    Effect.suspend(() => {
      const known = unwrapped.get(key.id)
      return known === undefined
        ? Effect.tryPromise({ try: () => unwrap(stored, key), catch: failed(operation, stored.holder) })
        : Effect.succeed(known)
    })

  /** The keys as the root wraps them: a file has one root. */
  const rewrapped = (operation: Operation, stored: Stored): Effect.Effect<Stored, KeyringError> =>
    Effect.gen(function* () {
      if (stored.root === root.id) return stored
      const keys: Array<StoredKey> = []
      for (const key of stored.keys) {
        const bytes = key.wrapped === null ? null : (yield* keyOf(operation, stored, key)).bytes
        const wrapped =
          bytes === null
            ? null
            : yield* Effect.tryPromise({
                try: () => wrap(stored.holder, key.id, bytes),
                catch: failed(operation, stored.holder),
              })
        keys.push({ ...key, wrapped })
      }
      return { ...stored, root: root.id, keys }
    })

  /** The keys with a new one. */
  const withNew = (operation: Operation, stored: Stored, made: number): Effect.Effect<Stored, KeyringError> =>
    Effect.gen(function* () {
      const id = newId(stored.holder)
      const { keys } = yield* rewrapped(operation, stored)
      const wrapped = yield* Effect.tryPromise({
        try: () => wrap(stored.holder, id, randomBytes(32)),
        catch: failed(operation, stored.holder),
      })
      return {
        ...stored,
        root: root.id,
        keys: [...keys, { id, made, revoked: null, due: null, destroyed: null, wrapped }],
      }
    })

  return { keyOf, rewrapped, withNew, forget: (id: string) => void unwrapped.delete(id) }
}
