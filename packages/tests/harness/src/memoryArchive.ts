/** An archive of sessions in memory, for tests that look at its objects. */
import { Effect } from "effect"

/** Makes an archive that keeps its objects as they are given. */
export const memoryArchive = () => {
  const objects = new Map<string, Uint8Array>()
  const archive = {
    name: "memory",
    put: (key: string, bytes: Uint8Array) => Effect.sync(() => void objects.set(key, bytes)),
    get: (key: string) => Effect.sync(() => objects.get(key) ?? null),
    remove: (key: string) => Effect.sync(() => void objects.delete(key)),
    list: Effect.sync(() => [...objects.keys()]),
  }
  return { archive, objects }
}
