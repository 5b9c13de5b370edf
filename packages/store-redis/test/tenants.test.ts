/** Sessions and tenants by names of any characters: nobody reaches what is another's. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { keysOf } from "../src/index.js"
import { bucketKeys } from "../src/keys.js"
import { fromStored, toStored } from "../src/stored.js"
import { type Server, servers } from "@memfold/harness/redisServers"
import { snapshotOf } from "@memfold/harness/logs"
import { all, putSnapshot, records, withLog } from "./support.js"

const { server } = servers()
let one: Server
beforeAll(async () => {
  one = await server()
})

const names = [
  "",
  "a",
  "{",
  "}",
  "{}",
  "{a}",
  "a}{b",
  "a:{0}:log:b",
  ":",
  "::",
  "*",
  "?",
  "[a]",
  "\\",
  "%",
  "%7B",
  " ",
  "\n",
  "\r\n",
  "\u0000",
  '\u0000"a"',
  "é",
  "e\u0301",
  "🎈",
  "\ud83c",
  "\udf88",
  "\ud83c ",
  "\ufffd",
  "sessions",
  "x".repeat(4_000),
]

/** All keys of a session by what they are, with the rows of two kinds. */
const keys = (prefix: string, session: string): ReadonlyArray<readonly [kind: string, key: string]> => {
  const { rows, ...others } = keysOf(prefix, session)
  return [
    ...Object.entries(others),
    ...["snapshot", "summary"].map((kind) => [`rows:${kind}`, rows(kind)] as const),
  ]
}

describe("sessions and tenants", () => {
  it("whatever they are called, have their own logs, snapshots and lists", async () => {
    const prefixes = ["", "a", "{", "{a}", "a:{0}:log:b", "%7B", "\n", "\ud83c", "\ufffd"]
    for (const prefix of prefixes) {
      await withLog({ url: one.url, prefix, require: "memory" }, (log) =>
        Effect.gen(function* () {
          expect(yield* all(EventLog.sessions(log))).toEqual([])
          for (const [at, session] of names.entries()) {
            yield* log.append(session, records(1 + (at % 3), `${prefix} ${session}`), {
              expectedVersion: 0,
              batchId: "c",
            })
            yield* putSnapshot(log, session, { version: 1 + (at % 3), batchId: "c" }, `${at}`)
          }
        }),
      )
    }
    for (const prefix of prefixes) {
      await withLog({ url: one.url, prefix }, (log) =>
        Effect.gen(function* () {
          for (const [at, session] of names.entries()) {
            const found = yield* all(EventLog.records(log, session))
            expect(found.map(({ session, data }) => ({ session, data }))).toEqual(
              Array.from({ length: 1 + (at % 3) }, () => ({ session, data: `${prefix} ${session}` })),
            )
            expect((yield* snapshotOf(log, session))?.data).toBe(`${at}`)
          }
          const listed = yield* all(EventLog.sessions(log))
          expect(new Set(listed.map(({ session }) => session))).toEqual(new Set(names))
          expect(listed.length).toBe(names.length)
        }),
      )
    }
    await withLog({ url: one.url, prefix: "a" }, (log) =>
      Effect.forEach(names, (session) => log.delete(session), { discard: true }),
    )
    await withLog({ url: one.url, prefix: "{a}" }, (log) =>
      Effect.map(all(EventLog.sessions(log)), (listed) => expect(listed.length).toBe(names.length)),
    )
  })

  it("have keys that no other has (for all names)", () => {
    const name = fc.oneof(
      fc.constantFrom(...names),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc
        .array(fc.constantFrom("a", "{", "}", ":", "%", "*", "\ud83c", "\udf88"), { maxLength: 8 })
        .map((all) => all.join("")),
    )
    fc.assert(
      fc.property(name, name, name, name, (prefix, session, otherPrefix, otherSession) => {
        fc.pre(prefix !== otherPrefix || session !== otherSession)
        const own = new Map(keys(prefix, session).map(([kind, key]) => [key, kind]))
        expect(own.size).toBe(10)
        for (const [kind, key] of keys(otherPrefix, otherSession)) {
          const shared = own.get(key)
          // Sessions of one tenant may stand in the same lists.
          if (shared !== undefined) {
            expect(["sessions", "owned", "unfinished", "feed", "numbers"]).toContain(kind)
            expect([shared, prefix]).toEqual([kind, otherPrefix])
          }
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it("are spread evenly over a cluster", () => {
    const lists = bucketKeys("memfold").map(({ sessions }) => sessions)
    expect(new Set(lists).size).toBe(256)
    const counts = new Map<string, number>()
    for (let n = 0; n < 25_600; n++) {
      const { sessions } = keysOf("memfold", `chat-${n}`)
      counts.set(sessions, (counts.get(sessions) ?? 0) + 1)
    }
    expect(counts.size).toBe(256)
    expect(Math.max(...counts.values())).toBeLessThan(200)
    expect(Math.min(...counts.values())).toBeGreaterThan(30)
  })

  it("texts that are no UTF-8, or look like those, come back as they were", () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...names), fc.string({ unit: "binary" })), (text) => {
        const stored = toStored(text)
        expect(stored.isWellFormed()).toBe(true)
        expect(fromStored(stored)).toBe(text)
      }),
    )
  })

  it("have keys of one slot, at even distances", async () => {
    const { client } = await server({ clustered: true })
    const slotOf = async (key: string) => Number(await client.call("CLUSTER", "KEYSLOT", key))
    const slots = await Promise.all(bucketKeys("memfold").map(({ sessions }) => slotOf(sessions)))
    expect(slots.map((slot) => Math.floor(slot / 64))).toEqual(
      Array.from({ length: 256 }, (_, bucket) => bucket),
    )
    for (const prefix of ["memfold", ...names.slice(0, 12)]) {
      for (const session of names) {
        const own = await Promise.all(keys(prefix, session).map(([, key]) => slotOf(key)))
        expect(new Set(own).size).toBe(1)
      }
    }
  })
})
