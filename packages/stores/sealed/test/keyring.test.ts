/** Keyrings of several processes over one folder: each sees at once what another one has changed, also one that was killed. */
import { InMemoryEventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import * as fs from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { erase, fileRoot, type FolderKeyring, folderKeyring, type Holder } from "../src/index.js"
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

it.each([
  "{",
  '{"holder":"owner:bad","root":"root-0","hold":null,"keys":[]',
  '{"holder":"owner:bad","root":"root-0","hold":null,"keys":[null]}',
  '{"holder":"owner:bad","root":"root-0","hold":null,"keys":[{"id":"a"}]}',
])("destroys and wraps the keys of all others where the file of one says %s", (damaged) =>
  Effect.gen(function* () {
    const folder = newFolder()
    const keyring = newKeyring(folder)
    const owners = Array.from({ length: 6 }, (_, at): Holder => ({ owner: `owner-${at}` }))
    const bad: Holder = { owner: "bad" }
    for (const holder of [bad, ...owners]) {
      yield* keyring.current(holder)
      yield* keyring.revoke(holder, holder === owners[5] ? null : 0)
    }
    const [{ id } = { id: "" }] = yield* keyring.list(bad)
    const place = join(folder, "owners", id.slice(0, 32))
    for (const name of fs.readdirSync(place)) fs.writeFileSync(join(place, name), damaged)
    const inner = yield* InMemoryEventLog.make
    const receipt = yield* erase(inner, keyring, {
      owner: "owner-5",
      actor: "dpo",
      reason: "asked for",
      after: 0,
    })
    expect(receipt.keys).toHaveLength(1)
    expect(yield* Effect.either(keyring.destroyDue)).toMatchObject({
      left: { _tag: "KeyringError", refused: "unreadable", reason: expect.stringContaining("is damaged") },
    })
    const left = yield* Effect.forEach(owners, (holder) => keyring.list(holder))
    expect(left.flat().map(({ destroyed }) => destroyed === null)).toEqual(owners.map(() => false))
    const next = folderKeyring({
      folder: join(folder, "owners"),
      root: fileRoot(join(folder, "next.key")),
      earlierRoots: [fileRoot(join(folder, "root.key"))],
    })
    expect(yield* Effect.either(next.rewrap)).toMatchObject({ left: { _tag: "KeyringError" } })
    for (const holder of owners) {
      const [key = { id: "" }] = yield* next.list(holder)
      const [name = ""] = fs.readdirSync(join(folder, "owners", key.id.slice(0, 32)))
      const file = fs.readFileSync(join(folder, "owners", key.id.slice(0, 32), name), "utf8")
      expect(file).toContain(fileRoot(join(folder, "next.key")).id)
    }
  }).pipe(Effect.runPromise),
)

it("says of a key that was changed that it cannot be read, however it was", () =>
  Effect.gen(function* () {
    const folder = newFolder()
    const { id } = yield* newKeyring(folder).current(ann)
    const file = join(folder, "owners", id.slice(0, 32), "1.json")
    const stored = JSON.parse(fs.readFileSync(file, "utf8")) as { readonly keys: ReadonlyArray<object> }
    for (const wrapped of [
      "",
      "AAAA",
      Buffer.alloc(40).toString("base64"),
      Buffer.alloc(60).toString("base64"),
      null,
    ]) {
      fs.writeFileSync(file, JSON.stringify({ ...stored, keys: [{ ...stored.keys[0], wrapped }] }))
      expect(yield* Effect.either(newKeyring(folder).find(id))).toMatchObject({
        left: { _tag: "KeyringError", refused: "unreadable" },
      })
    }
  }).pipe(Effect.runPromise))
