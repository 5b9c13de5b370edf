/** The vectors of recall in PostgreSQL: the laws over PGlite with pgvector, and a server with or without it. */
import { PGlite } from "@electric-sql/pglite"
import { vector } from "@electric-sql/pglite-pgvector"
import { Embedder, EventLog, InMemoryEventLog, Memory, Message, VectorIndex, Verify } from "@memfold/core"
import { records } from "@memfold/harness/crowd"
import { often } from "@memfold/harness/depth"
import { echoing } from "@memfold/harness/engine"
import { postgresServers } from "@memfold/harness/postgresServers"
import { memoryProperties } from "@memfold/testing"
import * as Fakes from "@memfold/testing/fakes"
import { lawSuite, vectorIndexLaws } from "@memfold/testing/vitest"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Effect, Layer, Logger } from "effect"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { layerVectors, makeEmbedded, makeVectors } from "../src/index.js"
import { newSchema } from "./support.js"

const servers = postgresServers()

let pglite: PGlite
beforeAll(async () => {
  pglite = await PGlite.create({ extensions: { vector } })
})
afterAll(() => pglite.close())

const inSchema = () => {
  const schema = newSchema()
  return Layer.suspend(() => layerVectors({ database: pglite, schema }))
}

vectorIndexLaws({ name: "pgvector", layer: inSchema, reopen: inSchema, numRuns: often(8, 200) })

lawSuite(
  "recall by meaning with pgvector",
  memoryProperties({ vectorIndex: inSchema, numRuns: often(3, 100) }).filter(({ name }) =>
    name.startsWith("recall by meaning"),
  ),
)

const talk = [Message.user("A red car"), Message.assistant("It rains"), Message.user("Take an umbrella")]
const embedder = Fakes.embedder({ synonyms: [["car", "vehicle"]] })

/** A memory whose vectors are in an index. */
const memoryOn = (index: VectorIndex.Service) =>
  Memory.make({ strategy: RollingBuffer(), compaction: { mode: "off" } }).pipe(
    Effect.provide(echoing),
    Effect.provideService(VectorIndex.VectorIndex, index),
    Effect.provideService(Embedder.Embedder, embedder),
  )

const textsIn = (memory: Memory.Service, query: string) =>
  Effect.map(memory.recall("s", query), ({ messages }) => messages.map(({ text }) => text))

it("has what the log beside it has: found by meaning, forgotten with a redaction, verified", async () => {
  const schema = newSchema()
  await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* makeEmbedded({ database: pglite, schema })
      const index = yield* makeVectors({ database: pglite, schema })
      const memory = yield* Effect.provideService(memoryOn(index), EventLog.EventLog, log)
      yield* memory.append("s", talk)
      expect(yield* textsIn(memory, "red vehicle")).toContain("A red car")
      yield* memory.redact("s", 0)
      expect((yield* index.load("s"))?.entries.map(({ index }) => index)).toEqual([1, 2])
      expect(yield* Verify.session(log, "s", { vectorIndex: index })).toEqual([])
      yield* memory.delete("s")
      expect(yield* index.place("s")).toBe(null)
    }).pipe(Effect.scoped),
  )
})

it("in the PGlite of a log: what fails here takes nothing of what is acknowledged there", async () => {
  const schema = newSchema()
  const tooLong = new Float32Array(16_001).fill(0.1)
  const entries = [{ index: 0, version: 1, digest: 1, pieces: [{ offset: 0, vector: tooLong }] }]
  const change = { expected: null, place: { space: "one", version: 1, event: "e" }, anew: true, forget: [] }
  await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* makeEmbedded({ database: pglite, schema })
      const index = yield* makeVectors({ database: pglite, schema })
      yield* index.place("s")
      const names = Array.from({ length: 20 }, (_, at) => `s${at}`)
      const append = (name: string) => log.append(name, records(1), { expectedVersion: 0, batchId: name })
      yield* Effect.forEach(
        names,
        (name) =>
          Effect.all([Effect.flip(index.write(name, { ...change, entries })), append(name)], {
            concurrency: "unbounded",
          }),
        { concurrency: "unbounded" },
      )
      const heads = yield* Effect.forEach(names, (name) => log.head(name))
      expect(heads.map((head) => head?.version)).toEqual(names.map(() => 1))
    }).pipe(Effect.scoped),
  )
})

it("writers of one session: one of them wins, and the other writes nothing", async () => {
  const schema = newSchema()
  const change = (event: string): VectorIndex.Change => ({
    expected: null,
    place: { space: "one", version: 1, event },
    anew: true,
    forget: [],
    entries: [
      { index: 0, version: 1, digest: 1, pieces: [{ offset: 0, vector: Float32Array.from([1, 0]) }] },
    ],
  })
  await Effect.runPromise(
    Effect.gen(function* () {
      const index = yield* makeVectors({ database: pglite, schema })
      const names = Array.from({ length: 8 }, (_, at) => `e${at}`)
      const won = yield* Effect.forEach(names, (name) => index.write("s", change(name)), {
        concurrency: "unbounded",
      })
      expect(won.filter(Boolean)).toHaveLength(1)
      expect((yield* index.load("s"))?.place.event).toBe(names[won.indexOf(true)])
    }).pipe(Effect.scoped),
  )
})

it("in a server: finds by meaning where it has the extension, and is refused in words where it has none", async () => {
  const { url, client } = await servers.server()
  const { rows } = await client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
  await Effect.runPromise(
    Effect.gen(function* () {
      const index = yield* makeVectors({ url, schema: newSchema() })
      const memory = yield* memoryOn(index)
      yield* memory.append("s", talk)
      expect(yield* textsIn(memory, "umbrella")).toContain("Take an umbrella")
      if (rows.length > 0) return expect((yield* index.load("s"))?.entries).toHaveLength(3)
      const error = yield* Effect.flip(index.place("s"))
      expect(error).toBeInstanceOf(VectorIndex.VectorIndexError)
      expect(error.detail).toMatch(
        /^postgres:\/\/127\.0\.0\.1:\d+\/postgres has no extension "vector": install pgvector/,
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(InMemoryEventLog.layer),
      Effect.provide(Logger.remove(Logger.defaultLogger)),
    ),
  )
})

it("a role that may create tables in a schema has vectors there, without the right to create schemas", async () => {
  await pglite.exec(
    "CREATE EXTENSION IF NOT EXISTS vector; CREATE ROLE ann; CREATE SCHEMA hers AUTHORIZATION ann; SET ROLE ann",
  )
  onTestFinished(async () => void (await pglite.exec("RESET ROLE")))
  const place = (schema: string) =>
    Effect.runPromise(
      Effect.scoped(Effect.flatMap(makeVectors({ database: pglite, schema }), (index) => index.place("s"))),
    )
  expect(await place("hers")).toBe(null)
  await expect(place("another")).rejects.toThrow("the user may not do this")
})
