/** Keyrings of several processes over one folder: each sees at once what another one has changed, also one that was killed. */
import { often } from "@memfold/harness/depth"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import * as fs from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import type { FolderKeyring, Holder } from "../src/index.js"
import { filesDyingAt, folders } from "./support.js"

const { newFolder, newKeyring } = folders()

const ann: Holder = { owner: "ann" }

/** What a process does with the keys of a holder. */
const acts = {
  rotate: (keyring: FolderKeyring) => keyring.rotate(ann),
  current: (keyring: FolderKeyring) => keyring.current(ann),
  revoke: (keyring: FolderKeyring) => keyring.revoke(ann, null),
  restore: (keyring: FolderKeyring) => keyring.restore(ann),
  destroy: (keyring: FolderKeyring) => keyring.destroy(ann),
  hold: (keyring: FolderKeyring) => keyring.hold(ann, "case 17"),
  release: (keyring: FolderKeyring) => keyring.hold(ann, null),
} satisfies Record<string, (keyring: FolderKeyring) => Effect.Effect<unknown, Error>>

const step = fc.record({
  process: fc.nat({ max: 2 }),
  act: fc.oneof(
    fc.constantFrom(...(Object.keys(acts) as ReadonlyArray<keyof typeof acts>)),
    fc.constantFrom("keep", "bring back" as const),
  ),
  /** At which of its writes the process is killed, if it has as many. */
  killedAt: fc.nat({ max: 12 }),
  /** The processes that use their keys then. */
  looking: fc.subarray([0, 1, 2]),
})

/** All that a keyring says of a holder, and of each key that it ever had. */
const said = (keyring: FolderKeyring, ids: Iterable<string>) =>
  Effect.all([
    keyring.list(ann),
    keyring.held(ann),
    Effect.forEach(ids, (id) => keyring.find(id)),
    Effect.map(
      Effect.either(keyring.current(ann)),
      Either.mapLeft(({ message }) => message),
    ),
  ])

it("see what the others have changed, at once", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), (steps) =>
      Effect.gen(function* () {
        const [folder, kept] = [newFolder(), newFolder()]
        const owners = join(folder, "owners")
        const rings = Array.from({ length: 3 }, () => newKeyring(folder))
        const ids = new Set<string>()
        const copy = (from: string, to: string): void => {
          fs.rmSync(to, { recursive: true })
          fs.cpSync(from, to, { recursive: true, preserveTimestamps: true })
        }
        yield* rings[0]!.current(ann)
        copy(owners, kept)
        for (const { process, act, killedAt, looking } of steps) {
          if (act === "keep") copy(owners, kept)
          else if (act === "bring back") copy(kept, owners)
          else {
            const files = filesDyingAt(killedAt)
            yield* Effect.either(acts[act](rings[process]!) as Effect.Effect<unknown, Error>)
            files.restart()
          }
          const fresh = newKeyring(folder)
          yield* Effect.either(fresh.current(ann))
          for (const { id } of yield* fresh.list(ann)) ids.add(id)
          const expected = yield* said(fresh, ids)
          for (const at of looking) expect(yield* said(rings[at]!, ids)).toEqual(expected)
        }
      }).pipe(Effect.runPromise),
    ),
    { numRuns: often(40, 2_000) },
  ))
