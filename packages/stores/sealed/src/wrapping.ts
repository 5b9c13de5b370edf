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
  const wrap = (operation: Operation, holder: string, id: string, bytes: Uint8Array) =>
    Effect.tryPromise({
      try: async () => text(await root.wrap(bytes, `${holder} ${id}`)),
      catch: failed(operation, holder),
    })

  const unwrap = async ({ holder, root: by }: Stored, { id, wrapped }: StoredKey): Promise<Key> => {
    const wrapper = roots.get(by)
    if (wrapper === undefined)
      throw new Unreadable(
        `it was wrapped by the root "${by}", which is not given; give that root, or have it among the earlier roots`,
      )
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
        if (key.wrapped === null) keys.push(key)
        else {
          const { bytes } = yield* keyOf(operation, stored, key)
          keys.push({ ...key, wrapped: yield* wrap(operation, stored.holder, key.id, bytes) })
        }
      }
      return { ...stored, root: root.id, keys }
    })

  /** The keys with a new one. */
  const withNew = (operation: Operation, stored: Stored, made: number): Effect.Effect<Stored, KeyringError> =>
    Effect.gen(function* () {
      const id = newId(stored.holder)
      const { keys } = yield* rewrapped(operation, stored)
      const wrapped = yield* wrap(operation, stored.holder, id, randomBytes(32))
      return {
        ...stored,
        root: root.id,
        keys: [...keys, { id, made, revoked: null, due: null, destroyed: null, wrapped }],
      }
    })

  return { keyOf, rewrapped, withNew, forget: (id: string) => void unwrapped.delete(id) }
}
