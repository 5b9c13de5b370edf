/** Fields that another program has damaged, and keys of other programs: a typed error or a repair, and never half a write. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { keysOf, type RedisEventLog, type SessionKeys } from "../src/index.js"
import { eventually, type Server, servers } from "@memfold/harness/redisServers"
import { summariesOf, summaryRows } from "@memfold/harness/logs"
import { all, logError, records, row, tenant, withLog } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server()
})

const prefixed = (
  use: (log: RedisEventLog, keys: SessionKeys, prefix: string) => Effect.Effect<void, unknown>,
) => {
  const prefix = tenant()
  return withLog({ url: one.url, prefix }, (log) => use(log, keysOf(prefix, "s"), prefix))
}

/** Everything that a prefix has in Redis. */
const contents = (prefix: string) =>
  Effect.promise(async () => {
    const keys = (await one.client.keys(`${prefix}:*`)).toSorted()
    return Promise.all(keys.map(async (key) => [key, (await one.client.dumpBuffer(key))?.toString("hex")]))
  })

const described = (owner: string, title: string | null = null): EventLog.ProjectionChange => ({
  kind: "description",
  rows: [{ key: "", data: JSON.stringify({ owner, title }) }],
})
const active = (version: number): EventLog.ProjectionChange => ({
  kind: "summary",
  replace: true,
  rows: summaryRows([row(version)]),
})

/** Starts the session "s", with an owner and a summary. */
const started = (log: EventLog.Service) =>
  log.append("s", records(2), {
    expectedVersion: 0,
    batchId: "a",
    projections: [active(1), described("o")],
  })

const rewritten = [{ version: 1, schemaVersion: 1, data: "[]" }]
const next = { expectedVersion: 2, lastBatchId: "a", batchId: "b" }

type Change = (log: EventLog.Service) => Effect.Effect<unknown, EventLog.LogError | EventLog.VersionConflict>
/** Everything that changes a session and its rows. */
const changes: Readonly<Record<string, Change>> = {
  append: (log) => log.append("s", records(1), { ...next, projections: [active(3), described("p")] }),
  rewrite: (log) => log.rewrite("s", rewritten, records(1), next),
  "projections.put": (log) => log.projections.put("s", { version: 2, batchId: "a" }, [active(2)]),
  "projections.drop": (log) => log.projections.drop("summary", "s"),
  delete: (log) => log.delete("s"),
}

describe.each(["SECRET", "5", '{"SECRET":"a"}', "[1]", '["summary",null]'])(
  "the list of the kinds of a session's rows, changed to %s",
  (kinds) => {
    it.each(Object.entries(changes))("%s fails with a LogError, and writes nothing", (operation, change) =>
      prefixed((log, { meta }, prefix) =>
        Effect.gen(function* () {
          yield* started(log)
          yield* Effect.promise(() => one.client.hset(meta, "kinds", kinds))
          const before = yield* contents(prefix)
          const error = yield* logError(change(log), "SECRET")
          expect(error).toMatchObject({ operation, session: "s" })
          expect(error.reason).toMatch(/has a damaged list of the kinds of this session's rows; /)
          expect(yield* contents(prefix)).toEqual(before)
          // As the error says.
          yield* Effect.promise(() => one.client.hset(meta, "kinds", '["summary"]'))
          yield* change(log)
        }),
      ),
    )

    it("an append without rows goes on", () =>
      prefixed((log, { meta }) =>
        Effect.gen(function* () {
          yield* started(log)
          yield* Effect.promise(() => one.client.hset(meta, "kinds", kinds))
          expect(yield* log.append("s", records(1), next)).toMatchObject({ version: 3 })
        }),
      ))
  },
)

it.each(['{"active":"s1","SECRET":1e999}', '["s1","s1",null]', '{"active":{"SECRET":[]}}'])(
  "marks changed to %s count as none in the next change of the rows",
  (marks) =>
    prefixed((log, { rows }) =>
      Effect.gen(function* () {
        yield* started(log)
        yield* Effect.promise(() => one.client.hset(rows("summary"), "@", marks))
        const changed = { kind: "summary", rows: summaryRows([row(1, { status: "superseded" }), row(3)]) }
        yield* log.append("s", records(1), { ...next, projections: [changed] })
        expect(yield* Effect.promise(() => one.client.hget(rows("summary"), "@"))).toBe('{"active":"s3"}')
        expect((yield* summariesOf(log, "s")).map(({ id }) => id)).toEqual(["s1", "s3"])
      }),
    ),
)

it("another program's key in place of the list of sessions: a deletion removes nothing", () =>
  prefixed((log, { sessions }, prefix) =>
    Effect.gen(function* () {
      yield* started(log)
      yield* Effect.promise(() => one.client.set(sessions, "mine"))
      const before = yield* contents(prefix)
      const error = yield* logError(log.delete("s"))
      expect(error.reason).toMatch(/has something else at a key of this session; choose another prefix$/)
      expect(yield* contents(prefix)).toEqual(before)
    }),
  ))

it("a record without its fields: a rewrite leaves no draft, which later rewrites would be added to", () =>
  prefixed((log, keys, prefix) =>
    Effect.gen(function* () {
      yield* started(log)
      yield* Effect.promise(() => one.client.xdel(keys.log, "2-0"))
      yield* Effect.promise(() => one.client.xadd(keys.log, "2-1", "h", "SECRET"))
      const before = yield* contents(prefix)
      const rewrite = log.rewrite("s", [...rewritten, { ...rewritten[0]!, version: 2 }], records(1), {
        expectedVersion: 2,
        batchId: "b",
      })
      expect((yield* logError(rewrite, "SECRET")).reason).toMatch(
        /^its keys do not belong together: no records at version 2; /,
      )
      expect(yield* contents(prefix)).toEqual(before)
    }),
  ))

describe("texts that begin as JSON and are none are read as they are", () => {
  const damaged = "\u0000SECRET"

  it("in records, heads, rows and descriptions", () =>
    prefixed((log, keys) =>
      Effect.gen(function* () {
        yield* started(log)
        yield* Effect.promise(async () => {
          await one.client.del(keys.log)
          await one.client.xadd(keys.log, "1-0", "h", `1 1 - ${damaged}`, "b", damaged, "d", damaged)
          await one.client.hset(keys.meta, { head: `1 ${damaged} 1`, owner: damaged, title: damaged })
          await one.client.sadd(keys.owned + damaged, "s")
          await one.client.hset(keys.rows("summary"), `=${damaged}`, damaged)
        })
        expect(yield* all(EventLog.records(log, "s"))).toMatchObject([
          { version: 1, batchId: damaged, type: damaged, data: damaged },
        ])
        expect(yield* log.head("s")).toEqual({ version: 1, batchId: damaged })
        expect(yield* log.list({ limit: 9 })).toMatchObject([{ owner: damaged, title: damaged }])
        const [description] = yield* log.projections.get("s", "description")
        expect(JSON.parse(description?.data ?? "")).toEqual({ owner: damaged, title: damaged })
        const rows = yield* log.projections.get("s", "summary")
        expect(rows.map(({ key }) => key).toSorted()).toEqual([damaged, "s1"])
      }),
    ))

  it("in the list of unfinished rewrites, whose others are finished", () => {
    const prefix = tenant()
    const { unfinished } = keysOf(prefix, "s")
    const left = withLog({ url: one.url, prefix }, (log) =>
      Effect.zipRight(started(log), log.rewrite("s", rewritten, records(1), next)),
    )
    return left
      .then(() => one.client.hset(unfinished, damaged, "b"))
      .then(() =>
        withLog({ url: one.url, prefix }, () =>
          Effect.promise(() =>
            eventually("the other one is finished", async () => !(await one.client.hexists(unfinished, "s"))),
          ),
        ),
      )
  })
})
