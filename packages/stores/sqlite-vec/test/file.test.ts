/** The file: whose it is, who may read it, and what is in its bytes. */
import {
  Embedder,
  EventLog,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  SummaryMode,
  Trigger,
  VectorIndex,
  Verify,
} from "@memfold/core"
import { echoing } from "@memfold/harness/engine"
import Sqlite from "better-sqlite3"
import { Effect, Exit, Logger, Scope } from "effect"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import * as Fakes from "@memfold/testing/fakes"
import { make, type Options } from "../src/index.js"

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "memfold-vectors-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const strategy = Strategy.make({
  name: "s",
  when: Trigger.backlog({ messages: 100 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const words = Fakes.embedder({ synonyms: [["car", "vehicle"]] })
/** Each text has a vector that no other one has any part of, beside what it means. */
const embedder: Embedder.Service = {
  ...words,
  embed: (list, options) =>
    Effect.map(words.embed(list, options), (vectors) =>
      vectors.map((vector, which) =>
        Float32Array.from(vector, (value, at) => value + Math.sin(at * list[which]!.length) / 20),
      ),
    ),
}
const talk = [Message.user("A red car"), Message.assistant("It rains"), Message.user("Take an umbrella")]

const run = <A, E>(use: Effect.Effect<A, E, EventLog.EventLog | Scope.Scope>): Promise<A> =>
  Effect.runPromise(
    use.pipe(
      Effect.scoped,
      Effect.provide(InMemoryEventLog.layer),
      Effect.provide(Logger.remove(Logger.defaultLogger)),
    ),
  )

/** A memory over the log of the test, with its vectors in a file. */
const memoryOn = (options: Options, given: Embedder.Service | null = embedder) =>
  Effect.flatMap(make({ busyTimeout: "200 millis", ...options }), (index) =>
    Memory.make({ strategy, compaction: { mode: "off" } }).pipe(
      Effect.provide(echoing),
      Effect.provideService(VectorIndex.VectorIndex, index),
      Effect.provideService(Embedder.Embedder, given),
    ),
  )

const texts = (found: Effect.Effect.Success<ReturnType<Memory.Service["recall"]>>) =>
  found.messages.map(({ text }) => text)

/** The bytes of the vector of a text, as they are in the file. */
const vectorBytes = async (text: string): Promise<Buffer> => {
  const [vector] = await Effect.runPromise(embedder.embed([text], { kind: "message" }))
  const length = Math.hypot(...vector!)
  return Buffer.from(Float32Array.from(vector!, (value) => value / length).buffer)
}

/** Whether any quarter of a vector is in any file of a folder: a vector may be on two pages. */
const isWritten = (path: string, vector: Buffer): boolean => {
  const files = readdirSync(path).map((name) => readFileSync(join(path, name)))
  const quarters = [0, 1, 2, 3].map((at) => vector.subarray(at * 64, (at + 1) * 64))
  return files.some((bytes) => quarters.some((quarter) => bytes.includes(quarter)))
}

it("is created when vectors are first written, for its owner alone", async () => {
  const path = folder()
  const filename = join(path, "chats.db-vectors")
  await run(
    Effect.gen(function* () {
      const memory = yield* memoryOn({ filename })
      yield* memory.append("s", talk)
      yield* memory.redact("s", 1)
      yield* memory.delete("none")
      expect(existsSync(filename)).toBe(false)
      expect(texts(yield* memory.recall("s", "red vehicle"))).toContain("A red car")
      expect((statSync(filename).mode & 0o777).toString(8)).toBe("600")
    }),
  )
  // The journal ends with its transaction, and no connection is left.
  expect(readdirSync(path)).toEqual(["chats.db-vectors"])
})

it("has what was embedded for the next process, which embeds nothing again", async () => {
  const filename = join(folder(), "vectors.db")
  const kinds: Array<string> = []
  const watched: Embedder.Service = {
    ...embedder,
    embed: (list, options) => {
      kinds.push(options.kind)
      return embedder.embed(list, options)
    },
  }
  await run(
    Effect.gen(function* () {
      for (const _ of ["one process", "the next"]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const memory = yield* memoryOn({ filename }, watched)
            if (kinds.length === 0) yield* memory.append("s", talk)
            expect(texts(yield* memory.recall("s", "red vehicle"))).toContain("A red car")
          }),
        )
      }
    }),
  )
  expect(kinds).toEqual(["query", "message", "query"])
})

it("has no byte of the vector of a redacted message, nor of a deleted session", async () => {
  const path = folder()
  const filename = join(path, "vectors.db")
  const [car, rain] = await Promise.all([vectorBytes("A red car"), vectorBytes("It rains")])
  await run(
    Effect.gen(function* () {
      const memory = yield* memoryOn({ filename })
      yield* memory.append("s", talk)
      yield* memory.recall("s", "vehicle")
      expect([isWritten(path, car), isWritten(path, rain)]).toEqual([true, true])
      yield* memory.redact("s", 0)
      expect([isWritten(path, car), isWritten(path, rain)]).toEqual([false, true])
      yield* memory.delete("s")
      expect([isWritten(path, car), isWritten(path, rain)]).toEqual([false, false])
    }),
  )
})

it("loses the vectors of what another process redacted and could not forget, when it is opened next", async () => {
  const path = folder()
  const filename = join(path, "vectors.db")
  const car = await vectorBytes("A red car")
  await run(
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      yield* Effect.scoped(
        Effect.gen(function* () {
          const memory = yield* memoryOn({ filename })
          yield* memory.append("s", talk)
          yield* memory.recall("s", "vehicle")
        }),
      )
      // It ends after the log's redaction, before it tells the index.
      yield* Effect.scoped(
        Effect.flatMap(
          Memory.make({ strategy, compaction: { mode: "off" } }).pipe(Effect.provide(echoing)),
          (memory) => memory.redact("s", 0),
        ),
      )
      expect(isWritten(path, car)).toBe(true)
      const index = yield* make({ filename })
      const rules = Effect.map(Verify.session(log, "s", { vectorIndex: index }), (found) =>
        found.map(({ rule, version }) => [rule, version]),
      )
      expect(yield* rules).toEqual([["vectors", 1]])
      yield* memoryOn({ filename }, null)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => !isWritten(path, car) })
      expect(yield* rules).toEqual([])
    }),
  )
})

it("waits for another process that writes, and says so if that takes too long", async () => {
  const filename = join(folder(), "vectors.db")
  await run(
    Effect.gen(function* () {
      const memory = yield* memoryOn({ filename })
      yield* memory.append("s", talk)
      yield* memory.recall("s", "vehicle")
      const other = new Sqlite(filename)
      onTestFinished(() => void other.close())
      other.exec("BEGIN EXCLUSIVE")
      expect(yield* Effect.flip(memory.redact("s", 0))).toMatchObject({
        _tag: "VectorIndexError",
        session: "s",
        detail: `${filename} is locked by another process; try again when that one is done`,
      })
      expect(texts(yield* memory.recall("s", "umbrella"))).toContain("Take an umbrella")
      other.exec("COMMIT")
      expect(yield* memory.redact("s", 0)).toEqual({ invalidated: 0 })
      const index = yield* make({ filename })
      expect((yield* index.load("s"))?.entries.map(({ index }) => index)).toEqual([1, 2])
    }),
  )
})

it("of another program, or none at all, is refused in words, and recall goes by words", async () => {
  const path = folder()
  const foreign = join(path, "foreign.db")
  const other = new Sqlite(foreign)
  other.exec("CREATE TABLE theirs (a)")
  other.close()
  const text = join(path, "notes.txt")
  writeFileSync(text, "These are notes of somebody. ".repeat(50))
  const later = join(path, "later.db")
  const old = new Sqlite(later)
  old.pragma(`application_id = ${0x6d66_7663}`)
  old.pragma("user_version = 99")
  old.close()
  mkdirSync(join(path, "folder"))
  symlinkSync(join(path, "nowhere.db"), join(path, "link.db"))
  for (const [filename, detail] of [
    [foreign, "is a database of another program; choose another file"],
    [text, "is not a SQLite database; choose another file"],
    [
      later,
      "has the tables of another version of @memfold/sqlite-vec; delete the file, and it is made again",
    ],
    [join(path, "folder"), "is not a file"],
    [join(path, "link.db"), "is a link to a file that does not exist; create that file, or remove the link"],
    [join(path, "none/vectors.db"), "is in a folder that does not exist; create the folder"],
  ] as const) {
    await run(
      Effect.gen(function* () {
        const index = yield* make({ filename })
        const place = { space: "one", version: 1, event: "e" }
        const change = { expected: null, place, anew: true, forget: [], entries: [] }
        const error = yield* Effect.flip(index.write("s", change))
        expect(error).toBeInstanceOf(VectorIndex.VectorIndexError)
        expect(error.detail).toBe(`${filename} ${detail}`)
        const memory = yield* memoryOn({ filename })
        yield* memory.append("s", talk)
        expect(texts(yield* memory.recall("s", "umbrella"))).toContain("Take an umbrella")
      }),
    )
  }
  expect(existsSync(join(path, "nowhere.db"))).toBe(false)
  expect(readFileSync(text, "utf8").startsWith("These are notes")).toBe(true)
})

it("does nothing after it was closed", async () => {
  const filename = join(folder(), "vectors.db")
  const scope = await Effect.runPromise(Scope.make())
  const index = await Effect.runPromise(Scope.extend(make({ filename }), scope))
  const place = { space: "one", version: 1, event: "e" }
  await Effect.runPromise(index.write("s", { expected: null, place, anew: true, forget: [], entries: [] }))
  await Effect.runPromise(Scope.close(scope, Exit.void))
  expect((await Effect.runPromise(Effect.flip(index.place("s")))).detail).toBe("it was closed")
})
