/** Connections of the application whose errors nobody listens for: an event without a listener would end this process. */
import { eventually } from "@memfold/harness/eventually"
import { postgresServers } from "@memfold/harness/postgresServers"
import { Effect, Either } from "effect"
import { Pool } from "pg"
import { describe, expect, it, onTestFinished } from "vitest"
import { make } from "../src/index.js"

const { server } = postgresServers()
const record = { time: 0, type: "SessionCleared", schemaVersion: 1, data: "{}" } as const

/** A pool without a listener, and what ends all its connections. */
const poolOf = async () => {
  const { url, client } = await server()
  const pool = new Pool({ connectionString: url, application_name: "theirs" })
  onTestFinished(async () => {
    await pool.end()
  })
  const endAll = (): Promise<unknown> =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'theirs'")
  return { url, pool, endAll }
}

describe("a server that closes connections", () => {
  it("does not end the process with a pool of the application that is idle", async () => {
    const { pool, endAll } = await poolOf()
    const used = Effect.gen(function* () {
      const log = yield* make({ pool, schema: "listeners" })
      yield* log.append("s", [record], { expectedVersion: 0, batchId: "a" })
      expect(pool.listenerCount("error")).toBe(1)
      yield* Effect.promise(endAll)
      yield* Effect.promise(() => eventually("the pool is empty", async () => pool.totalCount === 0))
      yield* log.append("s", [record], { expectedVersion: 1, batchId: "b" })
    })
    await Effect.runPromise(Effect.scoped(used))
    // What was added is taken away.
    expect(pool.listenerCount("error")).toBe(0)
  })

  it("does not end the process with a transaction of the application that is under way", async () => {
    const { url, pool, endAll } = await poolOf()
    const used = Effect.gen(function* () {
      const log = yield* make({ url, schema: "listeners" })
      const client = yield* Effect.promise(() => pool.connect())
      yield* Effect.promise(() => client.query("BEGIN"))
      const inside = yield* log.within!(client)
      yield* inside.append("t", [record], { expectedVersion: 0, batchId: "a" })
      const gone = new Promise<void>((resolve) => void client.once("end", () => resolve()))
      yield* Effect.promise(endAll)
      yield* Effect.promise(() => gone)
      const late = yield* Effect.either(inside.append("t", [record], { expectedVersion: 1, batchId: "b" }))
      expect(Either.isLeft(late)).toBe(true)
      client.release(true)
      expect(yield* log.head("t")).toBeNull()
    })
    await Effect.runPromise(Effect.scoped(used))
  })
})
