/** Summary rows in Redis that another program has changed: found by verify, mended by repair. */
import { EventLog, Memory, Repair, Verify } from "@memfold/core"
import { Effect, Logger, LogLevel } from "effect"
import { beforeAll, expect, it } from "vitest"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { keysOf } from "../src/index.js"
import { type Server, servers } from "@memfold/harness/redisServers"
import { summariesOf } from "@memfold/harness/logs"
import { tenant, withLog } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server()
})

interface Place {
  readonly key: string
  /** The fields of the superseded and of the active row. */
  readonly old: string
  readonly active: string
  /** All fields. */
  readonly rows: Readonly<Record<string, string>>
}

/** Changes that any client can make. */
const changes: ReadonlyArray<readonly [what: string, change: (place: Place) => Promise<unknown>]> = [
  [
    "a text",
    ({ key, old, rows }) =>
      one.client.hset(key, old, rows[old]!.replace(/"text":"[^"]*"/, '"text":"SECRET"')),
  ],
  ["a row that is not JSON", ({ key, old }) => one.client.hset(key, old, "SECRET")],
  ["JSON that is no row", ({ key, active }) => one.client.hset(key, active, "null")],
  [
    "a row without its tokens",
    ({ key, old, rows }) => one.client.hset(key, old, rows[old]!.replace("tokens", "x")),
  ],
  ["a deleted row", ({ key, old }) => one.client.hdel(key, old)],
  ["a deleted active row", ({ key, active }) => one.client.hdel(key, active)],
  ["no rows", ({ key }) => one.client.del(key)],
  [
    "an added row",
    ({ key, old, rows }) =>
      one.client.hset(key, "=other", rows[old]!.replace(/"version":\d+/, '"version":99')),
  ],
  [
    "two rows swapped",
    ({ key, old, active, rows }) => one.client.hset(key, old, rows[active]!, active, rows[old]!),
  ],
  ["which row is active", ({ key, old }) => one.client.hset(key, "@", `{"active":"${old.slice(1)}"}`)],
  ["that no row is active", ({ key }) => one.client.hdel(key, "@")],
  ["marks that are not JSON", ({ key }) => one.client.hset(key, "@", "SECRET")],
  ["marks that are no object", ({ key }) => one.client.hset(key, "@", "5")],
]

for (const [what, change] of changes) {
  it(`a change by another program is found and mended: ${what}`, () => {
    const prefix = tenant()
    return withLog({ url: one.url, prefix }, (log) =>
      Effect.gen(function* () {
        const manual = { strategy: pairs, compaction: { mode: "manual" } } as const
        const opened = Effect.provideService(
          Memory.make(manual).pipe(Effect.provide(echoing)),
          EventLog.EventLog,
          log as EventLog.Service,
        )
        const memory = yield* opened
        for (const from of [0, 6]) {
          yield* memory.append("s", said(6, from))
          yield* memory.compact("s", { which: "due" })
        }
        const key = keysOf(prefix, "s").rows("summary")
        const [expected, rows] = [
          yield* summariesOf(log, "s"),
          yield* Effect.promise(() => one.client.hgetall(key)),
        ]
        const [old = "", active = ""] = expected.map(({ id }) => `=${id}`)
        const context = yield* memory.context("s")
        expect(yield* Verify.session(log, "s")).toEqual([])
        const damage = Effect.promise(() => change({ key, old, active, rows }))

        yield* damage
        const found = yield* Verify.session(log, "s")
        expect([...new Set(found.map(({ rule }) => rule))]).toEqual(["summaries"])
        expect(JSON.stringify(found)).not.toContain("SECRET")
        expect(yield* Repair.repair(log, "s")).toEqual({
          session: "s",
          mended: ["wrote the summary rows again"],
          left: [],
        })
        expect(yield* summariesOf(log, "s")).toEqual(expected)

        // A memory that lists the summaries mends them as well, and goes on.
        yield* damage
        const again = yield* opened
        expect(yield* again.context("s")).toEqual(context)
        expect((yield* again.summaries("s")).map(({ id }) => `=${id}`)).toEqual([old, active])
        expect(yield* summariesOf(log, "s")).toEqual(expected)
        yield* again.append("s", said(6, 12))
        expect(yield* again.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
        expect(yield* Verify.session(log, "s")).toEqual([])
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
    )
  })
}
