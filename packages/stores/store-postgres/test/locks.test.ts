/** Writers that meet at one session, in statements and in transactions. */
import { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { records } from "@memfold/harness/crowd"
import { eventually } from "@memfold/harness/eventually"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { make } from "../src/index.js"
import { newSchema, withLog } from "./support.js"

const { server } = postgresServers()
let one: Postgres
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
})

/** Waits until so many statements of a schema wait for a lock. */
const waiting = (schema: string, count: number) =>
  Effect.promise(() =>
    eventually(`${count} statements wait`, async () => {
      const { rows } = await one.client.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'",
        [schema],
      )
      return rows.length === count
    }),
  )

/** Holds the lock of a session until the answer is run. */
const held = (schema: string, session: string) =>
  Effect.promise(async () => {
    const client = await one.client.connect()
    await client.query("BEGIN")
    await client.query(`SELECT 1 FROM ${schema}.sessions WHERE name = $1 FOR UPDATE`, [session])
    return Effect.promise(async () => {
      await client.query("COMMIT")
      client.release()
    })
  })

const snapshot = [{ kind: "snapshot", rows: [{ key: "1", data: "{}" }] }]

type Write = (
  log: EventLog.Service,
  name: string,
) => Effect.Effect<unknown, EventLog.LogError | EventLog.VersionConflict>

const append =
  (projections: EventLog.AppendOptions["projections"]): Write =>
  (log, batchId) =>
    log.append("s", records(2), { expectedVersion: 1, batchId, projections })

const rewrite: Write = (log, batchId) =>
  log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "[]" }], records(2), {
    expectedVersion: 1,
    batchId,
  })

describe("of two writers that wait for a session at one version, one wins and the other has a conflict", () => {
  const ways: ReadonlyArray<readonly [name: string, one: Write, other: Write]> = [
    ["statements", append(undefined), append(undefined)],
    ["transactions", append(snapshot), append(snapshot)],
    ["a statement and a transaction", append(undefined), append(snapshot)],
    ["a transaction and a statement", append(snapshot), append(undefined)],
    ["redactions", rewrite, rewrite],
  ]
  it.each(ways)("%s", async (_name, first, second) => {
    const schema = newSchema()
    await withLog({ url: one.url, schema }, (log) =>
      Effect.gen(function* () {
        const other = yield* make({ url: one.url, schema })
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* other.append("warm", records(1), { expectedVersion: 0, batchId: "a" })
        const release = yield* held(schema, "s")
        const writers = [yield* Effect.fork(Effect.either(first(log, "first")))]
        yield* waiting(schema, 1)
        writers.push(yield* Effect.fork(Effect.either(second(other, "second"))))
        yield* waiting(schema, 2)
        yield* release
        const [won, lost] = yield* Fiber.joinAll(writers)
        expect(won).toMatchObject({ right: { fromVersion: 2, version: 3 } })
        expect(lost).toMatchObject({ left: { _tag: "VersionConflict", actualVersion: 3 } })
        expect(yield* EventLog.versionOf(log, "s")).toBe(3)
      }),
    )
  })

  it("two that start it", async () => {
    const schema = newSchema()
    await withLog({ url: one.url, schema }, (log) =>
      Effect.gen(function* () {
        const other = yield* make({ url: one.url, schema })
        for (const projections of [undefined, snapshot])
          for (let turn = 0; turn < 20; turn++) {
            const session = `${turn} ${projections === undefined}`
            const start = (writer: EventLog.Service, batchId: string) =>
              Effect.either(writer.append(session, records(1), { expectedVersion: 0, batchId, projections }))
            const outcomes = yield* Effect.all([start(log, "a"), start(other, "b")], {
              concurrency: "unbounded",
            })
            expect(outcomes.map(({ _tag }) => _tag).toSorted()).toEqual(["Left", "Right"])
            const lost = outcomes.find(({ _tag }) => _tag === "Left")
            expect(lost).toMatchObject({ left: { _tag: "VersionConflict", actualVersion: 1 } })
          }
      }),
    )
  })
})

it("a session that is deleted while a writer waits for it is a conflict", async () => {
  const schema = newSchema()
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      const other = yield* make({ url: one.url, schema })
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      const release = yield* held(schema, "s")
      const gone = yield* Effect.fork(other.delete("s"))
      yield* waiting(schema, 1)
      const late = yield* Effect.fork(
        Effect.flip(log.append("s", records(1), { expectedVersion: 1, batchId: "b" })),
      )
      yield* waiting(schema, 2)
      yield* release
      expect(yield* Fiber.join(gone)).toBe(true)
      expect(yield* Fiber.join(late)).toMatchObject({ _tag: "VersionConflict", actualVersion: 0 })
      const { rows } = yield* Effect.promise(() => one.client.query(`SELECT 1 FROM ${schema}.events`))
      expect(rows).toEqual([])
    }),
  )
})

it("statements over the same sessions, in any order, never wait for each other in a circle", async () => {
  const schema = newSchema()
  const names = ["a", "m", "z"]
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      const other = yield* make({ url: one.url, schema })
      for (const name of names) yield* log.append(name, records(1), { expectedVersion: 0, batchId: "a" })
      yield* other.append("m", records(1), { expectedVersion: 1, batchId: "types are known" })
      const release = yield* held(schema, "m")
      const appendAll = (writer: EventLog.Service, list: ReadonlyArray<string>, batchId: string) =>
        Effect.forEach(
          list,
          (name) =>
            Effect.either(
              writer.append(name, records(1), { expectedVersion: name === "m" ? 2 : 1, batchId }),
            ),
          { concurrency: "unbounded" },
        )
      const first = yield* Effect.fork(appendAll(log, names, "b"))
      yield* waiting(schema, 1)
      const second = yield* Effect.fork(appendAll(other, names.toReversed(), "c"))
      yield* waiting(schema, 2)
      yield* release
      expect((yield* Fiber.join(first)).map(({ _tag }) => _tag)).toEqual(["Right", "Right", "Right"])
      expect((yield* Fiber.join(second)).map(({ _tag }) => _tag)).toEqual(["Left", "Left", "Left"])
    }),
  )
  expect(readFileSync(join(one.folder, "log"), "utf8")).not.toContain("deadlock detected")
})
