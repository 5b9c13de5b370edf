/** Summary rows in Redis: their stored form, and the changes that are refused as a whole. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { beforeAll, expect, it, vi } from "vitest"
import { keysOf, type RedisEventLog } from "../src/index.js"
import { type Server, servers } from "@memfold/harness/redisServers"
import { all, logError, records, row, tenant, withLog } from "./support.js"

const { server } = servers()
vi.setConfig({ testTimeout: 60_000 })

let one: Server
beforeAll(async () => {
  one = await server({ config: ["maxmemory-policy noeviction"] })
})

/** Appends one record with these rows at the end of the session "s". */
const append = (log: EventLog.Service, rows: ReadonlyArray<EventLog.SummaryRow>, replace = false) =>
  Effect.flatMap(log.version("s"), (expectedVersion) =>
    log.append("s", records(1), {
      expectedVersion,
      batchId: `c${expectedVersion}`,
      summaries: { replace, rows },
    }),
  )

/** A change fails with this reason, leaves the rows, and appends nothing. */
const refused = (
  log: EventLog.Service,
  change: Effect.Effect<unknown, EventLog.LogError | EventLog.VersionConflict>,
  reason: RegExp,
  rows: Effect.Effect<unknown, unknown>,
) =>
  Effect.gen(function* () {
    const [before, records] = [yield* rows, yield* all(log.read("s"))]
    const error = yield* logError(change, "SECRET")
    expect(error.session).toBe("s")
    expect(error.reason).toMatch(reason)
    expect(yield* rows).toEqual(before)
    expect(yield* all(log.read("s"))).toEqual(records)
  })

const inTenant = (use: (log: RedisEventLog, prefix: string) => Effect.Effect<void, unknown>) => {
  const prefix = tenant()
  return withLog({ url: one.url, prefix }, (log) => use(log, prefix))
}

it("a row is JSON at its version, beside the version of the active one", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      const { summaries, meta } = keysOf(prefix, "s")
      const active = () => Effect.promise(() => one.client.hget(meta, "active"))
      const [first, second] = [row(1), row(2, { text: "half a pair: \ud83d", turnPrefix: "\udf88" })]
      yield* append(log, [first])
      expect(yield* active()).toBe("1")
      yield* append(log, [row(1, { status: "superseded", supersededBy: "s2" }), second])
      expect(yield* active()).toBe("2")
      const stored = yield* Effect.promise(() => one.client.hgetall(summaries))
      expect(Object.keys(stored).toSorted()).toEqual(["1", "2"])
      expect(JSON.parse(stored["2"] ?? "")).toEqual(second)
      expect((yield* log.summaries("s")).at(-1)).toEqual(second)
      yield* append(log, [row(2, { status: "invalid" }), row(1)])
      expect(yield* active()).toBe("1")
      yield* append(log, [], true)
      expect(yield* active()).toBe("")
      expect(yield* Effect.promise(() => one.client.exists(summaries))).toBe(0)
    }),
  ))

it("a change that would leave two active rows is refused, and names both", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const rows = log.summaries("s")
      yield* append(log, [row(1)])
      const reason =
        /^the change would leave two active summaries, of versions 1 and 12; nothing was written$/
      yield* refused(log, append(log, [row(12)]), reason, rows)
      yield* refused(log, append(log, [row(12), row(3, { status: "superseded" })]), reason, rows)
      yield* refused(log, append(log, [row(2), row(3)], true), /two active summaries/, rows)
      yield* append(log, [row(12)], true)
    }),
  ))

it("a rewrite of a session with very many rows replaces them all", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const many = Array.from({ length: 10_000 }, (_, at) => row(at + 1, { status: "superseded" }))
      yield* append(log, many)
      const rewrite = (expectedVersion: number, rows: ReadonlyArray<EventLog.SummaryRow>) =>
        log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "[]" }], records(1), {
          expectedVersion,
          batchId: `w${expectedVersion}`,
          summaries: { replace: false, rows },
        })
      yield* rewrite(1, many.slice(0, 9_000))
      expect(yield* log.summaries("s")).toEqual(many.slice(0, 9_000))
      yield* rewrite(2, [row(7)])
      expect(yield* log.summaries("s")).toEqual([row(7)])
    }),
  ))

it("a rewrite of records that a new session does not have starts it", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const rewritten = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
      yield* log.rewrite("s", rewritten, records(2), { expectedVersion: 0, batchId: "a" })
      expect((yield* all(log.read("s"))).map(({ data }) => data)).toEqual(["{}", "{}"])
      expect((yield* all(log.sessions)).map(({ session }) => session)).toEqual(["s"])
    }),
  ))

it("a full server (-OOM) refuses rows together with their records", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      yield* append(log, [row(1)])
      yield* Effect.promise(() => one.client.config("SET", "maxmemory", "1mb"))
      const full = /has no memory left/
      const rows = log.summaries("s")
      yield* refused(log, append(log, [row(2, { text: "SECRET" })], true), full, rows)
      const changed = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
      yield* refused(
        log,
        log.rewrite("s", changed, records(1), { expectedVersion: 1, batchId: "w" }),
        full,
        rows,
      )
      yield* Effect.promise(() => one.client.config("SET", "maxmemory", "0"))
      yield* append(log, [row(2)], true)
      expect(yield* log.summaries("s")).toEqual([row(2)])
    }),
  ))

it("another program's key in place of the rows is left alone; nothing is written", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      const { summaries } = keysOf(prefix, "s")
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      yield* Effect.promise(() => one.client.set(summaries, "mine"))
      const theirs = Effect.promise(() => one.client.get(summaries))
      const reason = /has something else at a key of this session; choose another prefix$/
      for (const replace of [false, true]) yield* refused(log, append(log, [row(1)], replace), reason, theirs)
      const changed = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
      yield* refused(
        log,
        log.rewrite("s", changed, records(1), { expectedVersion: 1, batchId: "w" }),
        reason,
        theirs,
      )
      yield* refused(log, log.summaries("s"), reason, theirs)
    }),
  ))

it("a row that another program has changed is an error, which repeats nothing of it", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      yield* append(log, [row(1)])
      yield* Effect.promise(() => one.client.hset(keysOf(prefix, "s").summaries, "1", "SECRET"))
      expect((yield* logError(log.summaries("s"), "SECRET")).reason).toMatch(/^a summary row is not JSON;/)
      yield* append(log, [row(2)], true)
      expect(yield* log.summaries("s")).toEqual([row(2)])
    }),
  ))
