/** Reads from a standby: it answers where it has what was seen, and the primary does while the standby lags or is away. */
import type { EventLog } from "@memfold/core"
import { Effect, Logger, type Scope, TestClock, TestContext } from "effect"
import { createMemory } from "memfold"
import { Pool } from "pg"
import { beforeAll, describe, expect, it } from "vitest"
import { records } from "@memfold/harness/crowd"
import { eventually } from "@memfold/harness/eventually"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { type Relay, relays } from "@memfold/harness/relay"
import { make, type Options } from "../src/index.js"
import { newSchema, openingFails, withLog } from "./support.js"

const { server } = postgresServers()
const relay = relays()
const config = ["fsync = off"]
let primary: Postgres
let standby: Postgres
beforeAll(async () => {
  primary = await server({ config })
  standby = await server({ config, standby: { of: primary, name: "standby" } })
})

const hostOf = ({ port }: Postgres): string => `127.0.0.1:${port}`

/** Waits until the standby has all that the primary has. */
const caughtUp = () =>
  eventually("the standby has caught up", async () => {
    const { rows } = await primary.client.query("SELECT pg_current_wal_insert_lsn() AS place")
    const { place } = rows[0] as { readonly place: string }
    const answer = await standby.client.query(`SELECT pg_last_wal_replay_lsn() >= '${place}' AS has`)
    return (answer.rows[0] as { readonly has: boolean }).has
  })

const pause = () => standby.client.query("SELECT pg_wal_replay_pause()")
const resume = async () => {
  await standby.client.query("SELECT pg_wal_replay_resume()")
  await caughtUp()
}

/** A pool that counts what asks it. */
const counting = (url: string) => {
  const pool = new Pool({ connectionString: url, max: 4 })
  let count = 0
  pool.on("error", () => {})
  // One that cannot connect is asked as well.
  const connect = pool.connect.bind(pool) as (...given: ReadonlyArray<unknown>) => unknown
  Object.assign(pool, { connect: (...given: ReadonlyArray<unknown>) => ((count += 1), connect(...given)) })
  return { pool, count: () => count }
}

interface Use {
  readonly log: EventLog.Service
  readonly schema: string
  /** How often the primary and the standby are asked by this. */
  readonly asked: <A, E>(
    read: Effect.Effect<A, E>,
  ) => Effect.Effect<{ readonly answer: A; readonly primary: number; readonly standby: number }, E>
  readonly warnings: ReadonlyArray<unknown>
  /** What is between the log and the standby. */
  readonly via: Relay
}

/** Uses a log with the standby, in a time that stands still until the test says otherwise. */
const withStandby = async (body: (use: Use) => Effect.Effect<unknown, unknown, Scope.Scope>) => {
  const via = await relay(standby.port)
  const one = counting(primary.url)
  const other = counting(standby.url.replace(String(standby.port), String(via.port)))
  const schema = newSchema()
  const warnings: Array<unknown> = []
  const logger = Logger.make(({ message, logLevel }) => {
    if (logLevel.label === "WARN") warnings.push(message)
  })
  const asked: Use["asked"] = (read) =>
    Effect.gen(function* () {
      const before = [one.count(), other.count()] as const
      const answer = yield* read
      return { answer, primary: one.count() - before[0], standby: other.count() - before[1] }
    })
  const run = Effect.gen(function* () {
    const log = yield* make({ pool: one.pool, replica: other.pool, schema })
    yield* body({ log, schema, asked, warnings, via })
  }).pipe(
    Effect.scoped,
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Effect.provide(TestContext.TestContext),
  )
  try {
    await Effect.runPromise(run)
  } finally {
    await Promise.all([one.pool.end(), other.pool.end()])
  }
}

const append = (log: EventLog.Service, expectedVersion: number, session = "s") =>
  log.append(session, records(1), { expectedVersion, batchId: `batch ${expectedVersion + 1}` })

const page = { fromVersion: 1, toVersion: 100, reverse: false, limit: 100 }
const batches = (log: EventLog.Service, session = "s") =>
  Effect.map(log.read(session, page), (list) => list.map(({ batchId }) => batchId))

const row = (data: string): EventLog.ProjectionChange => ({ kind: "index", rows: [{ key: "k", data }] })
const putRow = (log: EventLog.Service, data: string) =>
  Effect.flatMap(log.head("s"), (at) => log.projections.put("s", at!, [row(data)]))
const getRow = (log: EventLog.Service) =>
  Effect.map(log.projections.get("s", "index"), (rows) => rows.map(({ data }) => data))

describe("a standby that has caught up", () => {
  it("answers with records and rows, and the primary with the head", () =>
    withStandby(({ log, asked }) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        yield* putRow(log, "one")
        expect(yield* asked(log.head("s"))).toMatchObject({
          answer: { version: 1, batchId: "batch 1" },
          primary: 1,
          standby: 0,
        })
        yield* Effect.promise(caughtUp)
        expect(yield* asked(batches(log))).toEqual({ answer: ["batch 1"], primary: 0, standby: 1 })
        expect(yield* asked(getRow(log))).toEqual({ answer: ["one"], primary: 0, standby: 1 })
        yield* TestClock.adjust("100 millis")
        // The primary is asked for the head again, as another process may have written.
        expect(yield* asked(batches(log))).toEqual({ answer: ["batch 1"], primary: 1, standby: 1 })
      }),
    ))

  it("answers while other sessions are written, and not yet replayed", () =>
    withStandby(({ log, asked }) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        yield* log.head("s")
        yield* Effect.promise(caughtUp)
        yield* Effect.promise(pause)
        yield* append(log, 0, "other")
        yield* TestClock.adjust("1 second")
        yield* log.head("s")
        expect(yield* asked(batches(log))).toEqual({ answer: ["batch 1"], primary: 0, standby: 1 })
      }).pipe(Effect.ensuring(Effect.promise(resume))),
    ))
})

describe("a standby that lags", () => {
  const datas = (log: EventLog.Service) =>
    Effect.map(log.read("s", page), (list) => list.map(({ data }) => data))
  const writes: Readonly<
    Record<
      string,
      readonly [
        (log: EventLog.Service) => Effect.Effect<unknown, unknown>,
        typeof datas,
        expected: ReadonlyArray<string>,
      ]
    >
  > = {
    "an append": [(log) => append(log, 1), datas, ["{}", "{}"]],
    "rows with an append": [
      (log) => log.append("s", records(1), { expectedVersion: 1, batchId: "b", projections: [row("two")] }),
      getRow,
      ["two"],
    ],
    // No version moves with these.
    rows: [
      (log) => Effect.flatMap(log.head("s"), (at) => log.projections.put("s", at!, [row("two")])),
      getRow,
      ["two"],
    ],
    "a drop": [(log) => log.projections.drop("index", "s"), getRow, []],
    "a drop in all sessions": [(log) => log.projections.drop("index"), getRow, []],
    "a rewrite": [
      (log) =>
        log.rewrite("s", [{ version: 1, schemaVersion: 1, data: '"erased"' }], records(1), {
          expectedVersion: 1,
          batchId: "b",
        }),
      datas,
      ['"erased"', "{}"],
    ],
    "a deletion": [(log) => log.delete("s"), datas, []],
    "a new session of the same name": [(log) => Effect.zipRight(log.delete("s"), append(log, 0)), getRow, []],
  }
  it.each(Object.entries(writes))("never hides %s of this process", (_name, [write, read, expected]) =>
    withStandby(({ log, asked }) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        yield* putRow(log, "one")
        yield* log.head("s")
        yield* Effect.promise(caughtUp)
        expect(yield* asked(getRow(log))).toEqual({ answer: ["one"], primary: 0, standby: 1 })
        yield* Effect.promise(pause)
        yield* write(log)
        expect(yield* read(log)).toEqual(expected)
        yield* Effect.promise(resume)
        expect(yield* read(log)).toEqual(expected)
      }).pipe(Effect.ensuring(Effect.promise(resume))),
    ),
  )

  it("never hides what the head has shown of another process, nor what the primary has answered", () =>
    withStandby(({ log, schema, asked }) =>
      Effect.gen(function* () {
        const other = yield* make({ url: primary.url, schema })
        yield* append(other, 0)
        yield* log.head("s")
        yield* Effect.promise(caughtUp)
        expect(yield* asked(batches(log))).toMatchObject({ answer: ["batch 1"], standby: 1 })
        yield* Effect.promise(pause)
        yield* append(other, 1)
        expect(yield* log.head("s")).toMatchObject({ version: 2 })
        expect(yield* batches(log)).toEqual(["batch 1", "batch 2"])
        // Without a head, what another process writes is seen in time.
        yield* append(other, 2)
        yield* TestClock.adjust("100 millis")
        expect(yield* batches(log)).toEqual(["batch 1", "batch 2", "batch 3"])
        const at = yield* other.head("s")
        yield* other.projections.put("s", at!, [row("one")])
        expect(yield* getRow(log)).toEqual(["one"])
        yield* Effect.promise(resume)
        expect(yield* asked(getRow(log))).toEqual({ answer: ["one"], primary: 0, standby: 1 })
        yield* Effect.promise(pause)
        yield* other.delete("s")
        expect(yield* log.head("s")).toBeNull()
        expect(yield* batches(log)).toEqual([])
      }).pipe(Effect.ensuring(Effect.promise(resume))),
    ))
})

describe("a standby that is away", () => {
  it("is left alone for a second, then for two, and is used again once it answers", () =>
    withStandby(({ log, asked, warnings }) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        yield* log.head("s")
        yield* Effect.promise(caughtUp)
        yield* Effect.promise(() => standby.kill())
        const answer = ["batch 1"]
        expect(yield* asked(batches(log))).toEqual({ answer, primary: 1, standby: 1 })
        expect(yield* asked(batches(log))).toEqual({ answer, primary: 1, standby: 0 })
        expect(yield* asked(getRow(log))).toMatchObject({ answer: [], standby: 0 })
        yield* TestClock.adjust("1 second")
        // One of them tries it.
        yield* log.head("s")
        const both = Effect.all([batches(log), batches(log)], { concurrency: 2 })
        expect(yield* asked(both)).toMatchObject({ answer: [answer, answer], standby: 1 })
        yield* TestClock.adjust("1999 millis")
        expect(yield* asked(batches(log))).toMatchObject({ answer, standby: 0 })
        yield* append(log, 1)
        yield* Effect.promise(() => standby.start())
        yield* Effect.promise(caughtUp)
        yield* TestClock.adjust("1 millis")
        expect(yield* asked(batches(log))).toMatchObject({ answer: ["batch 1", "batch 2"], standby: 1 })
        expect(yield* asked(batches(log))).toMatchObject({ primary: 0, standby: 1 })
        expect(warnings).toEqual([["the primary answers for the replica"]])
      }),
    ))

  it("never hides what the primary has answered meanwhile", () =>
    withStandby(({ log, schema, asked, via }) =>
      Effect.gen(function* () {
        const other = yield* make({ url: primary.url, schema })
        yield* append(other, 0)
        const at = yield* log.head("s")
        yield* Effect.promise(caughtUp)
        expect(yield* asked(getRow(log))).toEqual({ answer: [], primary: 0, standby: 1 })
        yield* Effect.promise(pause)
        yield* other.projections.put("s", at!, [row("one")])
        via.up = (_data, { client }) => !client.destroy()
        expect(yield* getRow(log)).toEqual(["one"])
        via.up = () => true
        yield* TestClock.adjust("1 second")
        expect(yield* asked(getRow(log))).toMatchObject({ answer: ["one"], standby: 1 })
      }).pipe(Effect.ensuring(Effect.promise(resume))),
    ))

  it("keeps nobody waiting longer than the timeout when it does not answer", async () => {
    const via = await relay(standby.port)
    let said = 0
    via.up = () => (said += 1) > 0
    via.down = () => false
    const url = `${primary.url}?schema=${newSchema()}&replica=127.0.0.1:${via.port}`
    await withLog({ url, timeout: "1 second" }, (log) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        expect(yield* batches(log)).toEqual(["batch 1"])
        expect(said).toBe(1)
      }),
    )
  })
})

it("answers with the context, the history and what is recalled to a memory that has it in its URL", async () => {
  const schema = newSchema()
  const one = createMemory({ store: `${primary.url}?schema=${schema}` })
  await one.append("chat-1", [
    { role: "user", content: "The zeppelin leaves at noon." },
    { role: "assistant", content: "Noted." },
  ])
  await caughtUp()
  const other = createMemory({ store: `${primary.url}?schema=${schema}&replica=${hostOf(standby)}` })
  const read = async (memory: typeof one) => ({
    context: (await memory.context("chat-1")).messages,
    recalled: (await memory.recall("chat-1", "zeppelin")).messages,
    history: (await memory.messages("chat-1")).messages,
  })
  expect((await read(other)).history).toHaveLength(2)
  expect(await read(other)).toEqual(await read(one))
  // What its connections were asked last; a standby that has not what was seen is asked nothing behind that. The primary writes to its log
  // now and then by itself.
  await eventually("the standby has answered", async () => {
    await caughtUp()
    await read(other)
    const { rows } = await standby.client.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'memfold'
       AND query LIKE $1 AND query NOT LIKE '%pg_is_in_recovery%'`,
      [`%"${schema}".%`],
    )
    return rows.length > 0
  })
  await pause()
  try {
    await one.append("chat-1", { role: "user", content: "Is the zeppelin full?" })
    expect((await read(other)).history).toHaveLength(3)
    expect(await read(other)).toEqual(await read(one))
  } finally {
    await resume()
    await Promise.all([one.close(), other.close()])
  }
})

describe("a server that is not the standby of this one", () => {
  const answers = async (replica: Postgres, schema = newSchema()) => {
    await withLog({ url: primary.url, replica: hostOf(replica), schema }, (log) =>
      Effect.gen(function* () {
        yield* append(log, 0)
        yield* append(log, 1)
        expect(yield* batches(log)).toEqual(["batch 1", "batch 2"])
      }),
    )
  }

  it("is not read: the primary itself, one without the tables", async () => {
    await answers(primary)
    await answers(await server({ config }))
  })

  it("is not read: a standby of another server, with the tables and a longer log", async () => {
    const another = await server({ config })
    const follower = await server({ config, standby: { of: another, name: "follower" } })
    const schema = newSchema()
    await withLog({ url: another.url, schema }, (log) =>
      log.append("s", records(2), { expectedVersion: 0, batchId: "another" }),
    )
    for (let segment = 0; segment < 8; segment++) {
      await another.client.query("SELECT pg_logical_emit_message(false, 'x', 'x'), pg_switch_wal()")
    }
    await eventually("it is further", async () => {
      const { rows } = await primary.client.query("SELECT pg_current_wal_insert_lsn() AS place")
      const { place } = rows[0] as { readonly place: string }
      const { rows: found } = await follower.client.query(
        `SELECT pg_last_wal_replay_lsn() > '${place}' AS is`,
      )
      return (found[0] as { readonly is: boolean }).is
    })
    await answers(follower, schema)
  })
})

it.each<readonly [string, Options]>([
  ["a host twice", { url: "postgres://localhost/a?replica=b&replica=c" }],
  ["a URL", { url: "postgres://localhost/a", replica: "postgres://u:secret@b/c" }],
  ["a pool of a URL", { url: "postgres://localhost/a", replica: new Pool() }],
  ["a host of a pool", { pool: new Pool(), replica: "b" }],
])("refuses %s as the replica", async (_name, options) => {
  const error = await openingFails(options)
  expect(error.reason).toMatch(/replica/)
  expect(error.reason).not.toContain("secret")
})
