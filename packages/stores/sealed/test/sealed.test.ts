/** A sealed log: the laws of a log, and what its store and copies of it have. */
import { EventLog, InMemoryEventLog, Message, Repair } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { layer as sqlite } from "@memfold/store-sqlite"
import { eventLogProperties, memoryProperties } from "@memfold/testing"
import { lawSuite } from "@memfold/testing/vitest"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Either, Layer } from "effect"
import * as fc from "fast-check"
import * as fs from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import {
  destroyKeys,
  erase,
  fileRoot,
  type FolderKeyring,
  folderKeyring,
  restoreKeys,
  sealed,
  sealLog,
} from "../src/index.js"
import { folders } from "./support.js"

const { newFolder, newKeyring } = folders()

const shared = newKeyring()
lawSuite(
  "a sealed log in memory",
  eventLogProperties({
    layer: () => sealed(InMemoryEventLog.layer, shared),
    replace: false,
    numRuns: often(2, 50),
  }),
  { timeout: often(120_000, 900_000), timeLimit: 60_000 },
)
lawSuite(
  "a sealed SQLite file",
  eventLogProperties({
    layer: () => sealed(sqlite({ filename: ":memory:" }), shared),
    reopen: () => sealed(sqlite({ filename: join(newFolder(), "chats.db") }), shared),
    replace: false,
    numRuns: often(1, 20),
  }),
  { timeout: often(120_000, 900_000), timeLimit: 60_000 },
)

lawSuite(
  "a memory over a sealed log",
  memoryProperties({
    layer: () => sealed(InMemoryEventLog.layer, shared),
    strategies: fc.constant(SlidingWindow({ tailKeepSize: 2, contextSize: 8, compressionWindowSize: 3 })),
    numRuns: often(1, 20),
  }),
  { timeout: often(120_000, 900_000), timeLimit: 60_000 },
)

const run = <A, E>(
  use: (log: EventLog.Service, inner: EventLog.Service, keyring: FolderKeyring) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const keyring = newKeyring()
    const inner = yield* InMemoryEventLog.make
    return yield* use(sealLog(inner, keyring), inner, keyring)
  }).pipe(Effect.runPromise)

const record = (text: string): EventLog.NewRecord => ({
  time: 1,
  type: "MessageAppended",
  schemaVersion: 1,
  data: JSON.stringify({ text }),
})
const all = { fromVersion: 1, toVersion: 100, reverse: false, limit: 100 }
const appended = (
  log: EventLog.Service,
  session: string,
  texts: ReadonlyArray<string>,
  owner?: string,
  at = 0,
) =>
  log.append(session, texts.map(record) as [EventLog.NewRecord], {
    expectedVersion: at,
    batchId: `${session}-${at}`,
    ...(owner === undefined
      ? {}
      : {
          projections: [
            { kind: "description", rows: [{ key: "", data: JSON.stringify({ owner, title: "T" }) }] },
          ],
        }),
  })

describe("a sealed record", () => {
  it("is refused if it was moved or changed, whoever has the keys", () =>
    run((log, inner, keyring) =>
      Effect.gen(function* () {
        yield* appended(log, "a", ["one", "two"])
        const [first, second] = yield* inner.read("a", all)
        const bare = ({ time, type, schemaVersion, data }: EventLog.LogRecord) => ({
          time,
          type,
          schemaVersion,
          data,
        })
        yield* appended(log, "b", ["three"])
        const [other] = yield* inner.read("b", all)
        const { sealed: key, text } = JSON.parse(first!.data) as {
          readonly sealed: string
          readonly text: string
        }
        const flipped = Buffer.from(text, "base64")
        flipped[20]! ^= 1
        const wrong = [
          [bare(second!), bare(first!)],
          [bare(other!), bare(second!)],
          [{ ...bare(first!), type: "SummaryCommitted" }],
          [{ ...bare(first!), schemaVersion: 2 }],
          [{ ...bare(first!), data: JSON.stringify({ sealed: key, text: flipped.toString("base64") }) }],
        ]
        for (const records of wrong) {
          const forged = yield* InMemoryEventLog.make
          yield* forged.append("a", records as [EventLog.NewRecord], { expectedVersion: 0, batchId: "x" })
          const opened = yield* Effect.either(sealLog(forged, keyring).read("a", all))
          expect(Either.isLeft(opened) ? opened.left.message : "").toMatch(
            /session "a".*was changed, or comes from another place/,
          )
        }
        expect((yield* log.read("a", all)).map(({ data }) => data)).toEqual([
          '{"text":"one"}',
          '{"text":"two"}',
        ])
      }),
    ))

  it("is sealed with the key of the owner that its session has then, and stays as it is when keys and roots are rotated", () =>
    run((log, inner, keyring) =>
      Effect.gen(function* () {
        yield* appended(log, "a", ["one"])
        yield* appended(log, "a", ["two"], "ann", 1)
        yield* appended(log, "a", ["three"], undefined, 2)
        yield* keyring.rotate({ owner: "ann" })
        yield* appended(log, "a", ["four"], undefined, 3)
        const stored = yield* inner.read("a", all)
        const ids = stored.map(({ data }) => (JSON.parse(data) as { readonly sealed: string }).sealed)
        const ann = (yield* keyring.list({ owner: "ann" })).map(({ id }) => id)
        const own = (yield* keyring.list({ session: "a" })).map(({ id }) => id)
        expect(ids).toEqual([own[0], ann[0], ann[0], ann[1]])
        expect((yield* log.read("a", all)).map(({ data }) => data)).toEqual(
          ["one", "two", "three", "four"].map((text) => record(text).data),
        )
        expect(yield* inner.read("a", all)).toEqual(stored)
      }),
    ))

  it("can be read by whoever has the new root, once keys were wrapped anew", async () => {
    const [folder, rooms] = [newFolder(), newFolder()]
    const [old, fresh] = [fileRoot(join(rooms, "old.key")), fileRoot(join(rooms, "new.key"))]
    const inner = await Effect.runPromise(InMemoryEventLog.make)
    const log = sealLog(inner, folderKeyring({ folder, root: old }))
    await Effect.runPromise(appended(log, "a", ["one"], "ann"))
    const both = folderKeyring({ folder, root: fresh, earlierRoots: [old] })
    expect(await Effect.runPromise(both.rewrap)).toBe(1)
    expect(await Effect.runPromise(both.rewrap)).toBe(0)
    const read = (root: typeof old) =>
      Effect.runPromise(Effect.either(sealLog(inner, folderKeyring({ folder, root })).read("a", all)))
    // The file may be moved: what counts is the key in it.
    fs.renameSync(join(rooms, "new.key"), join(rooms, "moved.key"))
    expect(await read(fileRoot(join(rooms, "moved.key")))).toMatchObject({
      right: [{ data: '{"text":"one"}' }],
    })
    expect(await read(fresh)).toMatchObject({ right: [{ data: '{"text":"one"}' }] })
    expect(await read(old)).toMatchObject({ left: { reason: expect.stringContaining(fresh.id) } })
  })
})

it("goes over a store, and over nothing that seals or has an archive behind it", async () => {
  const store = await Effect.runPromise(InMemoryEventLog.make)
  const wrong: ReadonlyArray<readonly [EventLog.Service, RegExp]> = [
    [sealLog(store, shared), /seal it once/],
    [{ ...store, archived: true }, /archive behind what is sealed/],
  ]
  for (const [log, reason] of wrong) {
    expect(() => sealLog(log, shared)).toThrow(reason)
    const opened = Layer.build(sealed(Layer.succeed(EventLog.EventLog, log), shared))
    expect(await Effect.runPromise(Effect.scoped(Effect.flip(opened)))).toMatchObject({
      _tag: "LogError",
      operation: "open",
      message: expect.stringMatching(reason),
    })
  }
})

it("takes a keyring and a layer, and a keyring takes what wraps its keys: anything else is named at once", () => {
  const folder = newFolder()
  const root = fileRoot(join(folder, "root.key"))
  const wrong: ReadonlyArray<readonly [make: () => unknown, words: RegExp]> = [
    [() => sealed("sqlite:chats.db" as never, shared), /must be a layer; a URL .* sealed:FOLDER,URL/],
    [() => sealed(Effect.runSync(InMemoryEventLog.make) as never, shared), /must be a layer/],
    ...[undefined, null, "keys", {}, root].map(
      (keyring) => [() => sealed(InMemoryEventLog.layer, keyring as never), /must be a keyring/] as const,
    ),
    [() => sealLog(Effect.runSync(InMemoryEventLog.make), undefined as never), /must be a keyring/],
    [() => folderKeyring(undefined as never), /`folder` must be/],
    [() => folderKeyring({ folder: " ", root }), /`folder` must be/],
    [() => folderKeyring({ folder } as never), /`root` must be a root/],
    [() => folderKeyring({ folder, root: "root.key" as never }), /`root` must be a root/],
    [() => folderKeyring({ folder, root, earlierRoots: root as never }), /`earlierRoots` must be an array/],
    [() => folderKeyring({ folder, root, earlierRoot: [] } as never), /no option "earlierRoot"/],
  ]
  for (const [make, words] of wrong) {
    expect(make).toThrow(words)
    expect(make).toThrow(TypeError)
  }
})

it("is read, written to and repaired by nobody who has opened its store without the keys", () =>
  run((log, inner) =>
    Effect.gen(function* () {
      const options = { strategy: pairs, compaction: { mode: "inline" } } as const
      const said = [1, 2, 3, 4].flatMap(() => [Message.user("hello"), Message.assistant("yes")])
      yield* Effect.flatMap(memoryOver(log, options), ({ append }) => append("a", said, { owner: "ann" }))
      const before = yield* inner.read("a", all)
      const memory = yield* memoryOver(inner, options)
      const uses: ReadonlyArray<Effect.Effect<unknown, Error>> = [
        memory.context("a"),
        memory.messages("a"),
        memory.append("a", said),
        memory.fork("a", "b"),
        memory.redact("a", 0),
      ]
      for (const use of uses)
        expect(yield* Effect.flip(use)).toMatchObject({
          _tag: "DamagedEvent",
          session: "a",
          message: expect.stringContaining("it is sealed; open the store with its keys"),
        })
      const { mended, left } = yield* Repair.repair(inner, "a")
      expect([mended, left.map(({ version }) => version)]).toEqual([[], before.map(({ version }) => version)])
      expect(yield* inner.read("a", all)).toEqual(before)
    }).pipe(Effect.scoped),
  ))

it("hides which buckets of the index a session has, and finds what a plain store finds", () =>
  run((log, inner, keyring) =>
    Effect.gen(function* () {
      const plain = yield* InMemoryEventLog.make
      const words = Array.from({ length: 80 }, (_, at) => Message.user(`order KX-${at} of zebra ${at % 7}`))
      const found = yield* Effect.forEach([plain, log], (each) =>
        Effect.gen(function* () {
          const memory = yield* memoryOver(each, { strategy: pairs, compaction: { mode: "manual" } })
          yield* memory.append("a", words, { owner: "ann" })
          const { messages } = yield* memory.recall("a", "zebra KX-31")
          const again = yield* memory.recall("a", "zebra KX-31")
          expect(again.messages).toEqual(messages)
          return messages.map(({ index }) => index)
        }),
      )
      expect(found[1]).toEqual(found[0])
      expect(found[0]).toContain(31)
      const keysIn = (store: EventLog.Service) =>
        Effect.map(store.projections.get("a", "index"), (rows) => rows.map(({ key }) => key))
      const [bare, hidden] = [yield* keysIn(plain), yield* keysIn(inner)]
      expect(bare.length).toBeGreaterThan(3)
      expect(hidden).toHaveLength(bare.length)
      expect(hidden.filter((key) => bare.includes(key))).toEqual([])
      expect((yield* keysIn(log)).toSorted()).toEqual(bare.toSorted())
      // Under a new key, the search goes on.
      yield* keyring.rotate({ owner: "ann" })
      const memory = yield* memoryOver(log, { strategy: pairs, compaction: { mode: "manual" } })
      expect((yield* memory.recall("a", "zebra KX-31")).messages.map(({ index }) => index)).toEqual(found[0])
    }).pipe(Effect.scoped),
  ))

describe("a keyring in a folder", () => {
  it("keeps each of the keys that two processes make at once, for its user alone", async () => {
    const folder = newFolder()
    const rings = [newKeyring(folder), newKeyring(folder)]
    const keys = await Effect.runPromise(
      Effect.forEach([...rings, ...rings, ...rings], (ring) => ring.rotate({ owner: "ann" }), {
        concurrency: "unbounded",
      }),
    )
    const listed = await Effect.runPromise(rings[0]!.list({ owner: "ann" }))
    expect(listed.map(({ id }) => id).toSorted()).toEqual(keys.map(({ id }) => id).toSorted())
    const files = fs.readdirSync(join(folder, "owners"), { recursive: true, withFileTypes: true })
    const modes = files.flatMap((one) =>
      one.isFile() ? [fs.statSync(join(one.parentPath, one.name)).mode & 0o777] : [],
    )
    expect(modes).toEqual([0o600])
    expect(fs.statSync(join(folder, "root.key")).mode & 0o777).toBe(0o600)
  })

  it("takes a revocation back until its keys are destroyed, and keeps nothing new meanwhile", () =>
    run((log, inner, keyring) =>
      Effect.gen(function* () {
        yield* appended(log, "a", ["one"], "ann")
        yield* erase(inner, keyring, { owner: "ann", actor: "me", reason: "asked for" })
        expect(Either.isLeft(yield* Effect.either(log.read("a", all)))).toBe(true)
        const refused = yield* Effect.either(appended(log, "b", ["new"], "ann"))
        expect(Either.isLeft(refused) && refused.left.message).toMatch(/revoked/)
        expect(yield* restoreKeys(inner, keyring, "ann")).toHaveLength(1)
        expect(yield* log.read("a", all)).toHaveLength(1)
        yield* erase(inner, keyring, { owner: "ann", actor: "me", reason: "asked for" })
        yield* destroyKeys(inner, keyring, "ann")
        expect(yield* restoreKeys(inner, keyring, "ann")).toEqual([])
        expect(Either.isLeft(yield* Effect.either(log.read("a", all)))).toBe(true)
        // Who comes back begins anew.
        yield* appended(log, "b", ["new"], "ann")
        expect(yield* log.read("b", all)).toHaveLength(1)
        // What is deleted is no more, and not refused.
        expect(yield* log.delete("a")).toBe(true)
        expect(yield* log.head("a")).toBeNull()
      }),
    ))

  it("lets a hold win over erasure, deletion and redaction, and names it", () =>
    run((log, inner, keyring) =>
      Effect.gen(function* () {
        yield* appended(log, "a", ["one"], "ann")
        yield* keyring.hold({ owner: "ann" }, "case 17")
        const written = { version: 1, schemaVersion: 1, data: "{}" }
        for (const attempt of [
          erase(inner, keyring, { owner: "ann", actor: "me", reason: "asked for" }),
          destroyKeys(inner, keyring, "ann"),
          log.delete("a"),
          log.rewrite("a", [written], [record("two")], { expectedVersion: 1, batchId: "r" }),
        ]) {
          const refused = yield* Effect.either(attempt as Effect.Effect<unknown, Error>)
          expect(Either.isLeft(refused) && refused.left.message).toContain("case 17")
        }
        expect(yield* log.read("a", all)).toMatchObject([{ data: '{"text":"one"}' }])
        yield* keyring.hold({ owner: "ann" }, null)
        expect(yield* log.delete("a")).toBe(true)
      }),
    ))
})
