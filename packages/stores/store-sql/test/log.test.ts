/** The log over a client of Effect SQL, with the dialect of SQLite: the laws, and what differs between dialects. */
import * as Reactivity from "@effect/experimental/Reactivity"
import { make as makeClient } from "@effect/sql-sqlite-node/SqliteClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { deep } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { batchHash } from "../src/batchHash.js"
import { database, type DatabaseOptions, logOf, numbered, reserving, sqlite, type Use } from "../src/index.js"

/** A database in memory with the tables of the dialect. */
const opened = (options: Partial<DatabaseOptions> = {}) =>
  Effect.gen(function* () {
    const client = yield* makeClient({ filename: ":memory:" })
    for (const table of sqlite.tables) yield* client.unsafe(table)
    return database(reserving(client), { dialect: sqlite, ...options })
  }).pipe(Effect.provide(Reactivity.layer))

const withLog = <A, E>(use: (log: EventLog.Service) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(opened(), (database) => use(logOf(database)))))

const records = (count: number): [EventLog.NewRecord, ...Array<EventLog.NewRecord>] => {
  const record = { time: 1_700_000_000_000, type: "Test", schemaVersion: 1, data: "{}" }
  return [record, ...Array.from({ length: count - 1 }, () => record)]
}

// A SQLite file runs these laws at each test, with the same statements.
if (deep) {
  eventLogLaws({
    name: "a client of Effect SQL",
    layer: () =>
      Layer.scoped(
        EventLog.EventLog,
        Effect.map(opened(), (database) => logOf(database)),
      ),
    numRuns: 100,
    timeout: 900_000,
    timeLimit: 60_000,
  })
}

it("starts sessions that come at the same time in a few transactions", async () => {
  const begun: Array<string> = []
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const client = yield* makeClient({ filename: ":memory:" })
        for (const table of sqlite.tables) yield* client.unsafe(table)
        const counting = (connection: Connection): Connection => ({
          ...connection,
          execute: (sql, parameters, transform) => {
            if (sql === sqlite.begin) begun.push(sql)
            return connection.execute(sql, parameters, transform)
          },
        })
        const use: Use = (body) => reserving(client)((connection) => body(counting(connection)))
        const log = logOf(database(use, { dialect: sqlite }))
        const append = (session: string) =>
          log.append(session, records(2), { expectedVersion: 0, batchId: "c" })
        const ids = Array.from({ length: 500 }, (_, position) => `s${position}`)
        const results = yield* Effect.forEach(ids, append, { concurrency: "unbounded" })
        expect(results).toEqual(ids.map(() => ({ fromVersion: 1, version: 2, duplicate: false })))
        // One that exists by now is refused, and the others of its group are started.
        const [exists, isNew] = yield* Effect.all(
          [
            Effect.either(log.append("s0", records(1), { expectedVersion: 0, batchId: "d" })),
            Effect.either(append("new")),
          ],
          { concurrency: 2 },
        )
        expect([exists._tag, isNew._tag]).toEqual(["Left", "Right"])
        expect(yield* log.list({ limit: 1_000 })).toHaveLength(501)
      }).pipe(Effect.provide(Reactivity.layer)),
    ),
  )
  expect(begun.length).toBeLessThan(20)
})

it("finds batches whose hashes are equal by their ids", async () => {
  const byHash = new Map<number, string>()
  const pair = (() => {
    for (let index = 0; ; index++) {
      const other = byHash.get(batchHash(`c${index}`))
      if (other !== undefined) return [other, `c${index}`] as const
      byHash.set(batchHash(`c${index}`), `c${index}`)
    }
  })()
  await withLog((log) =>
    Effect.gen(function* () {
      yield* log.append("one", records(2), { expectedVersion: 0, batchId: pair[0] })
      const second = log.append("one", records(3), { expectedVersion: 2, batchId: pair[1] })
      expect(yield* second).toEqual({ fromVersion: 3, version: 5, duplicate: false })
      yield* log.append("one", records(1), { expectedVersion: 5, batchId: "last" })
      expect(yield* second).toEqual({ fromVersion: 3, version: 5, duplicate: true })
      const first = log.append("one", records(2), { expectedVersion: 6, batchId: pair[0] })
      expect(yield* first).toEqual({ fromVersion: 1, version: 2, duplicate: true })
    }),
  )
})

it("tells writers, and the store, what was written", async () => {
  const heard: Array<string> = []
  await Effect.runPromise(
    Effect.gen(function* () {
      const log = logOf(yield* opened(), {
        onWritten: (session) => heard.push(`written ${session}`),
        rewriting: (_run, session, batchId) =>
          Effect.sync(() => heard.push(`rewriting ${session} ${batchId}`)),
      })
      yield* log.append("one", records(1), { expectedVersion: 0, batchId: "a" })
      yield* log.append("one", records(1), { expectedVersion: 0, batchId: "a" })
      yield* Effect.flip(log.append("one", records(1), { expectedVersion: 0, batchId: "b" }))
      yield* log.rewrite("one", [], records(1), { expectedVersion: 1, batchId: "c" })
      yield* log.delete("one")
      yield* log.delete("one")
    }).pipe(Effect.scoped),
  )
  expect(heard).toEqual([
    "written one",
    "rewriting one c",
    "written one",
    "rewriting one deleted",
    "written one",
  ])
})

it("writes to a database that was replaced by another copy, with other numbers of types", async () => {
  await Effect.runPromise(
    Effect.gen(function* () {
      const client = yield* makeClient({ filename: ":memory:" })
      for (const table of sqlite.tables) yield* client.unsafe(table)
      const log = logOf(database(reserving(client), { dialect: sqlite }))
      const [record] = records(1)
      const batch = [record, { ...record, type: "Second" }] as const
      const options = { expectedVersion: 0, batchId: "a" }
      yield* log.append("before", batch, options)
      for (const rewrites of [false, true]) {
        yield* client.unsafe("DELETE FROM sessions")
        yield* client.unsafe("DELETE FROM types")
        yield* client.unsafe("INSERT INTO types (name) VALUES ('Another'), ('Second')")
        yield* rewrites ? log.rewrite("one", [], batch, options) : log.append("one", batch, options)
        const stored = yield* log.read("one", { fromVersion: 1, toVersion: 2, reverse: false, limit: 2 })
        expect(stored.map(({ type }) => type)).toEqual(["Test", "Second"])
      }
    }).pipe(Effect.provide(Reactivity.layer), Effect.scoped),
  )
})

describe("a dialect", () => {
  /** A connection that notes its statements, and fails. */
  const noting = () => {
    const statements: Array<string> = []
    const fails = (sql: string) => {
      statements.push(sql.replaceAll(/\s+/g, " "))
      return Effect.fail(new SqlError({ cause: new Error("no such table: sessions"), message: "failed" }))
    }
    const connection = { execute: fails, executeValues: fails } as unknown as Connection
    return { statements, connection }
  }

  it("can number the parameters", async () => {
    const { statements, connection } = noting()
    const { query } = database((body) => body(connection), {
      dialect: { ...sqlite, statement: numbered },
    })
    const failed = await Effect.runPromise(
      Effect.flip(query({ operation: "x" }, "SELECT ? WHERE a = ? AND b = ?", [1, 2, 3])),
    )
    expect(statements).toEqual(["SELECT $1 WHERE a = $2 AND b = $3"])
    expect(failed).toMatchObject({ operation: "x", reason: "no such table: sessions" })
  })

  it("has errors in the words of its store, with the session", async () => {
    const { connection } = noting()
    const log = logOf(
      database((body) => body(connection), {
        dialect: sqlite,
        reasonOf: (cause) => `in words: ${String(cause)}`,
      }),
    )
    const failed = await Effect.runPromise(Effect.flip(log.head("one")))
    expect(failed).toMatchObject({
      _tag: "LogError",
      session: "one",
      operation: "head",
      reason: "in words: Error: no such table: sessions",
    })
  })
})
