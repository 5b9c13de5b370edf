/** Summary rows in Redis: their stored form, and the changes that are refused as a whole. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { keysOf, type RedisEventLog } from "../src/index.js"
import { type Server, servers } from "@memfold/harness/redisServers"
import { summariesOf, type SummaryRow, summaryRows } from "@memfold/harness/logs"
import { all, logError, records, row, tenant, withLog } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server({ config: ["maxmemory-policy noeviction"] })
})

/** Appends one record with these rows at the end of the session "s". */
const append = (log: EventLog.Service, rows: ReadonlyArray<SummaryRow>, replace = false) =>
  Effect.flatMap(EventLog.versionOf(log, "s"), (expectedVersion) =>
    log.append("s", records(1), {
      expectedVersion,
      batchId: `c${expectedVersion}`,
      projections: [{ kind: "summary", replace, rows: summaryRows(rows) }],
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
    const [before, records] = [yield* rows, yield* all(EventLog.records(log, "s"))]
    const error = yield* logError(change, "SECRET")
    expect(error.session).toBe("s")
    expect(error.reason).toMatch(reason)
    expect(yield* rows).toEqual(before)
    expect(yield* all(EventLog.records(log, "s"))).toEqual(records)
  })

const inTenant = (use: (log: RedisEventLog, prefix: string) => Effect.Effect<void, unknown>) => {
  const prefix = tenant()
  return withLog({ url: one.url, prefix }, (log) => use(log, prefix))
}

it("a row is JSON at its id, beside the id of the active one", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      const key = keysOf(prefix, "s").rows("summary")
      const marks = () => Effect.promise(() => one.client.hget(key, "@"))
      const [first, second] = [row(1), row(2, { text: "half a pair: \ud83d", turnPrefix: "\udf88" })]
      yield* append(log, [first])
      expect(yield* marks()).toBe('{"active":"s1"}')
      yield* append(log, [row(1, { status: "superseded", supersededBy: "s2" }), second])
      expect(yield* marks()).toBe('{"active":"s2"}')
      const stored = yield* Effect.promise(() => one.client.hgetall(key))
      expect(Object.keys(stored).toSorted()).toEqual(["=s1", "=s2", "@"])
      expect(JSON.parse(stored["=s2"] ?? "")).toEqual(second)
      expect((yield* summariesOf(log, "s")).at(-1)).toEqual(second)
      yield* append(log, [row(2, { status: "invalid" }), row(1)])
      expect(yield* marks()).toBe('{"active":"s1"}')
      yield* append(log, [], true)
      expect(yield* Effect.promise(() => one.client.exists(key))).toBe(0)
    }),
  ))

it("a change that would leave two active rows is refused", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const rows = summariesOf(log, "s")
      yield* append(log, [row(1)])
      const reason =
        /^the change would leave two rows of the kind "summary" with one mark; nothing was written$/
      yield* refused(log, append(log, [row(12)]), reason, rows)
      yield* refused(log, append(log, [row(12), row(3, { status: "superseded" })]), reason, rows)
      yield* refused(log, append(log, [row(2), row(3)], true), reason, rows)
      yield* append(log, [row(12)], true)
    }),
  ))

it("a rewrite of a session with very many rows replaces them all", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const many = Array.from({ length: 10_000 }, (_, at) => row(at + 1, { status: "superseded" }))
      yield* append(log, many)
      const rewrite = (expectedVersion: number, rows: ReadonlyArray<SummaryRow>) =>
        log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "[]" }], records(1), {
          expectedVersion,
          batchId: `w${expectedVersion}`,
          projections: [{ kind: "summary", rows: summaryRows(rows) }],
        })
      yield* rewrite(1, many.slice(0, 9_000))
      expect(yield* summariesOf(log, "s")).toEqual(many.slice(0, 9_000))
      yield* rewrite(2, [row(7)])
      expect(yield* summariesOf(log, "s")).toEqual([row(7)])
    }),
  ))

it("a rewrite of records that a new session does not have starts it", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      const rewritten = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
      yield* log.rewrite("s", rewritten, records(2), { expectedVersion: 0, batchId: "a" })
      expect((yield* all(EventLog.records(log, "s"))).map(({ data }) => data)).toEqual(["{}", "{}"])
      expect((yield* all(EventLog.sessions(log))).map(({ session }) => session)).toEqual(["s"])
    }),
  ))

it("a full server (-OOM) refuses rows together with their records", () =>
  inTenant((log) =>
    Effect.gen(function* () {
      yield* append(log, [row(1)])
      yield* Effect.promise(() => one.client.config("SET", "maxmemory", "1mb"))
      const full = /has no memory left/
      const rows = summariesOf(log, "s")
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
      expect(yield* summariesOf(log, "s")).toEqual([row(2)])
    }),
  ))

it("another program's key in place of the rows is left alone; nothing is written", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      const key = keysOf(prefix, "s").rows("summary")
      yield* append(log, [row(1)])
      yield* Effect.promise(() => one.client.set(key, "mine"))
      const theirs = Effect.promise(() => one.client.get(key))
      const reason = /has something else at a key of this session; choose another prefix$/
      for (const replace of [false, true]) yield* refused(log, append(log, [row(1)], replace), reason, theirs)
      const changed = [{ version: 1, schemaVersion: 1, data: "SECRET" }]
      yield* refused(
        log,
        log.rewrite("s", changed, records(1), { expectedVersion: 1, batchId: "w" }),
        reason,
        theirs,
      )
      yield* refused(log, log.projections.get("s", "summary"), reason, theirs)
      const at = { version: 1, batchId: "c0" }
      const put = log.projections.put("s", at, [{ kind: "summary", rows: summaryRows([row(2)]) }])
      yield* refused(log, put, reason, theirs)
    }),
  ))

it("marks that another program has changed are an error, which repeats nothing of them", () =>
  inTenant((log, prefix) =>
    Effect.gen(function* () {
      yield* append(log, [row(1)])
      yield* Effect.promise(() => one.client.hset(keysOf(prefix, "s").rows("summary"), "@", "SECRET"))
      const error = yield* logError(log.projections.get("s", "summary"), "SECRET")
      expect(error.reason).toMatch(/^another program has changed the marks of the rows/)
      yield* append(log, [row(2)], true)
      expect(yield* summariesOf(log, "s")).toEqual([row(2)])
    }),
  ))
