/** Rows of several kinds: keys of their own, whatever a kind is called, and no more read than is asked for. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { keysOf, make } from "../src/index.js"
import * as Scripts from "../src/scripts.js"
import { counted, type Server, servers } from "@memfold/harness/redisServers"
import { replaceRows, summariesOf, summaryRows } from "@memfold/harness/logs"
import { relays } from "@memfold/harness/relay"
import { logError, records, row, tenant, withLog } from "./support.js"

const { server } = servers()
const relay = relays()
let one: Server
beforeAll(async () => {
  one = await server()
})

it("a kind or a session with a colon shares no rows with another", () => {
  const prefix = tenant()
  const bucketOf = (session: string) => keysOf(prefix, session).sessions
  const inside = "s"
  const word = Array.from({ length: 5_000 }, (_, number) => `b-${number}`).find(
    (one) => bucketOf(`${one}:${inside}`) === bucketOf(inside),
  )
  if (word === undefined) throw new Error("no two sessions are in one bucket")
  const outside = `${word}:${inside}`
  return withLog({ url: one.url, prefix }, (log) =>
    Effect.gen(function* () {
      const kinds = ["a", `a:${word}`, `a%3A${word}`, "", ":", "\ud83d", "{}"]
      const sessions = [inside, outside]
      for (const session of sessions) {
        yield* log.append(session, records(1), { expectedVersion: 0, batchId: "a" })
        for (const kind of kinds)
          yield* replaceRows(log, session, kind, [{ key: "k", data: `${session} ${kind}` }])
      }
      for (const session of sessions) {
        for (const kind of kinds)
          expect(yield* log.projections.get(session, kind)).toEqual([
            { key: "k", data: `${session} ${kind}` },
          ])
      }
      yield* log.delete(inside)
      for (const kind of kinds) expect(yield* log.projections.get(outside, kind)).toHaveLength(1)
      yield* log.delete(outside)
      // The deletions are listed until the server has written its files anew.
      for (const session of [inside, outside]) yield* log.finishRewrites!(session)
      // What is left says the form of all keys with this prefix, and where the feed of its buckets is.
      const left = yield* Effect.promise(() => one.client.keys(`${prefix}:*`))
      expect(left.filter((key) => !/^[^:]+:[^:]+:(form|feed|numbers)$/.test(key))).toEqual([])
    }),
  )
})

it("the row with a mark is read alone, and is the row that has the mark now", () => {
  const prefix = tenant()
  return withLog({ url: one.url, prefix }, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      const marked = (mark: string) => log.projections.get("s", "summary", { mark })
      expect(yield* marked("active")).toEqual([])
      const rows = summaryRows([row(1, { status: "superseded" }), row(2)])
      yield* replaceRows(log, "s", "summary", rows)
      const before = yield* Effect.promise(() => counted(one, "hgetall"))
      expect(yield* marked("active")).toEqual([rows[1]])
      expect(yield* marked("other")).toEqual([])
      expect((yield* Effect.promise(() => counted(one, "hgetall"))) - before).toBe(0)
      const moved = summaryRows([row(1), row(2, { status: "superseded" })])
      yield* replaceRows(log, "s", "summary", moved)
      expect(yield* marked("active")).toEqual([moved[0]])
      const key = keysOf(prefix, "s").rows("summary")
      yield* Effect.promise(() => one.client.hdel(key, "=s1"))
      expect(yield* marked("active")).toEqual([])
      yield* Effect.promise(() => one.client.hset(key, "@", "SECRET"))
      expect((yield* logError(marked("active"), "SECRET")).reason).toMatch(
        /^another program has changed the marks/,
      )
    }),
  )
})

it("the row with a mark is another one if the mark moves while it is read", async () => {
  const prefix = tenant()
  const between = await relay(one.port)
  await withLog({ url: one.url, prefix }, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
      const before = summaryRows([row(1, { status: "superseded" }), row(2)])
      const after = summaryRows([row(1), row(2, { status: "superseded" })])
      yield* replaceRows(log, "s", "summary", before)
      const reader = yield* make({ url: between.url, prefix })
      let isMoved = false
      between.up = (data, link) => {
        if (isMoved || !data.includes("=s2")) return true
        isMoved = true
        void Effect.runPromise(replaceRows(log, "s", "summary", after)).then(() => link.server.write(data))
        return false
      }
      expect(yield* reader.projections.get("s", "summary", { mark: "active" })).toEqual([after[0]])
      expect(isMoved).toBe(true)
    }),
  )
})

it("a script that needs a key that its caller did not know names it, and writes nothing", () => {
  const prefix = tenant()
  const { log: stream, meta, sessions, owned, rows, draft, unfinished } = keysOf(prefix, "s")
  const scripts = Scripts.make("PUBLISH")
  const run = (
    { source }: Scripts.Script,
    keys: ReadonlyArray<string>,
    given: object,
    ...data: Array<string>
  ) => Effect.promise(() => one.client.eval(source, keys.length, ...keys, JSON.stringify(given), ...data))
  return withLog({ url: one.url, prefix }, (log) =>
    Effect.gen(function* () {
      const description = { kind: "description", rows: [{ key: "", data: '{"owner":"o","title":null}' }] }
      yield* log.append("s", records(1), {
        expectedVersion: 0,
        batchId: "a",
        projections: [{ kind: "summary", rows: summaryRows([row(1)]) }, description],
      })
      const head = yield* Effect.promise(() => one.client.hget(meta, "head"))
      const changed = { name: "s", description: { isSet: true, owner: "p" } }
      const next = { batch: "b", expected: "1", after: "1 a ", head: "2 b 5", count: 1 }
      const needs = ["keys", owned + "o"]
      expect(yield* run(scripts.projections, [stream, meta, owned + "p"], changed)).toEqual(needs)
      const append = run(
        scripts.append,
        [stream, meta, owned + "p"],
        { ...changed, ...next },
        "5 1 - T",
        "{}",
      )
      expect(yield* append).toEqual(needs)
      const rewrite = run(
        scripts.rewrite,
        [stream, meta, draft, unfinished],
        { name: "s", ...next, rewritten: [] },
        "5 1 - T",
        "{}",
      )
      expect(yield* rewrite).toEqual(["keys", rows("summary")])
      const remove = run(scripts.remove, [stream, meta, sessions], { name: "s", head })
      expect(yield* remove).toEqual(["keys", owned + "o", rows("summary")])

      expect(yield* EventLog.versionOf(log, "s")).toBe(1)
      expect(yield* summariesOf(log, "s")).toEqual([row(1)])
      expect(yield* log.list({ owner: "o", limit: 9 })).toHaveLength(1)
      expect(yield* log.delete("s")).toBe(true)
      yield* log.finishRewrites!("s")
      // What is left says the form of all keys with this prefix, and where the feed of its buckets is.
      const left = yield* Effect.promise(() => one.client.keys(`${prefix}:*`))
      expect(left.filter((key) => !/^[^:]+:[^:]+:(form|feed|numbers)$/.test(key))).toEqual([])
    }),
  )
})
