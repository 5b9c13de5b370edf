/** What another process writes is heard: at once by notifications, and by looking where there are none. */
import { Effect, Queue, Stream, TestContext } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { bundled, start } from "@memfold/harness/children"
import { records } from "@memfold/harness/crowd"
import { eventually } from "@memfold/harness/eventually"
import { type Bouncer, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { make, type Options } from "../src/index.js"
import { newSchema, withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["unclosed"])
const { server, bouncer } = postgresServers()
let one: Postgres
let pooled: Bouncer
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
  pooled = await bouncer(one)
})

/** Those who listen on a connection of their own. */
const listeners = async (): Promise<ReadonlyArray<number>> => {
  const { rows } = await one.client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
  )
  return rows.map(({ pid }) => pid)
}

const listening = (
  log: { readonly changes?: (session: string) => Stream.Stream<void, unknown> },
  session: string,
) =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<void>()
    yield* Effect.forkScoped(Stream.runForEach(log.changes!(session), () => heard.offer(undefined)))
    // Told once when it has begun.
    yield* Queue.take(heard)
    return heard
  })

/** Waits until somebody listens, and takes what was told at that. */
const settled = (queues: ReadonlyArray<Queue.Queue<void>>) =>
  Effect.gen(function* () {
    yield* Effect.promise(() => eventually("it listens", async () => (await listeners()).length > 0))
    for (const queue of queues) yield* Queue.take(queue)
  })

/** Writes a session, writes it again, deletes it, and each time waits for those who listen to it. */
const heardBy = (
  writer: Effect.Effect.Success<ReturnType<typeof make>>,
  session: string,
  heard: Queue.Queue<void>,
) =>
  Effect.gen(function* () {
    yield* writer.append(session, records(1), { expectedVersion: 0, batchId: "c1" })
    yield* Queue.take(heard)
    yield* writer.rewrite(session, [{ version: 1, schemaVersion: 1, data: "[]" }], records(1), {
      expectedVersion: 1,
      batchId: "c2",
    })
    yield* Queue.take(heard)
    yield* writer.delete(session)
    yield* Queue.take(heard)
  })

describe("changes", () => {
  it("are heard by notification, each session by itself: nobody looks, because the clock stands still", async () => {
    const options = { url: one.url, schema: newSchema() }
    const sessions = ["a", "b", "{c}", "\n", "it's"]
    await Effect.gen(function* () {
      const reader = yield* make(options)
      const writer = yield* make(options)
      const queues = yield* Effect.forEach(sessions, (session) => listening(reader, session))
      yield* settled(queues)
      for (const [at, session] of sessions.entries()) yield* heardBy(writer, session, queues[at]!)
      for (const queue of queues) expect(yield* Queue.size(queue)).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(TestContext.TestContext), Effect.runPromise)
    await eventually("nobody listens any more", async () => (await listeners()).length === 0)
  })

  it("are heard again after the connection that listens was lost, which is told as well", async () => {
    const options = { url: one.url, schema: newSchema() }
    await Effect.gen(function* () {
      const reader = yield* make(options)
      const writer = yield* make(options)
      const heard = yield* listening(reader, "s")
      yield* settled([heard])
      yield* Effect.promise(async () => {
        const [pid] = await listeners()
        await one.client.query("SELECT pg_terminate_backend($1)", [pid])
      })
      // Something may have been missed.
      yield* Queue.take(heard)
      yield* heardBy(writer, "s", heard)
    }).pipe(Effect.scoped, Effect.provide(TestContext.TestContext), Effect.runPromise)
  })

  const ways: ReadonlyArray<
    readonly [name: string, reader: () => Partial<Options>, writer: () => Partial<Options>]
  > = [
    ["behind a pooler", () => ({ url: pooled.url }), () => ({ url: pooled.url })],
    ["without notifications", () => ({ notifications: false }), () => ({})],
    ["of a process that could not notify", () => ({}), () => ({ notifications: false })],
  ]
  it.each(ways)("%s are heard by looking", async (_name, read, written) => {
    const options = { url: one.url, schema: newSchema() }
    await withLog({ ...options, ...read() }, (reader) =>
      Effect.gen(function* () {
        const writer = yield* make({ ...options, ...written() })
        const heard = yield* listening(reader, "s")
        yield* heardBy(writer, "s", heard)
      }),
    )
  })

  it("behind a pooler leave no connection of the pool listening", async () => {
    const noting = await server({ config: ["fsync = off", "log_statement = all"] })
    const { url } = await bouncer(noting)
    const said = (words: string) => readFileSync(join(noting.folder, "log"), "utf8").includes(words)
    const schema = newSchema()
    const look = (options: Options, words: string) =>
      withLog(options, (log) =>
        Effect.gen(function* () {
          const heard = yield* listening(log, "s")
          yield* Effect.promise(() => eventually(`somebody says ${words}`, async () => said(words)))
          yield* heardBy(log, "s", heard)
        }),
      )
    await look({ url, schema }, "pg_backend_pid")
    expect(said("LISTEN")).toBe(false)
    await look({ url: noting.url, schema }, "LISTEN")
  })
})

it("a log that nobody closes keeps no process from its end", async () => {
  for (const close of [[], ["close"]]) {
    const child = start(script("unclosed"), JSON.stringify({ url: one.url, schema: newSchema() }), ...close)
    let lines: ReadonlyArray<string> | undefined
    void child.end().then((all) => (lines = all))
    await eventually("the process ends by itself", async () => lines !== undefined)
    expect(lines).toEqual(["appended 1", "exit 0"])
  }
})
