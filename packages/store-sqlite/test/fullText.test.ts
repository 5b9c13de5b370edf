/** The full-text index in the file: it answers as the one in the process does, and nothing redacted is in it (L6, L15). */
import {
  EventLog,
  FullTextIndex,
  Keep,
  Memory,
  Message,
  Recall,
  Repair,
  Strategy,
  SummaryMode,
  Trigger,
  Verify,
} from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { start } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { dropFullTextIndex } from "../src/index.js"
import { openDriver, withDriver } from "@memfold/harness/sqlite"
import { bundled, folder, integrity, withLog } from "./support.js"

const script = bundled("searcher")

const strategy = Strategy.make({
  name: "s",
  when: Trigger.backlog({ messages: 6 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

/** Parts of a few messages: a short session has many, and they are merged often. */
const small: Recall.InStoreOptions = { eventsPerPart: 3, largestPart: 8 }

/** A memory over a log, with an index of its own. */
const memoryOver = (log: EventLog.Service, index: FullTextIndex.Service) =>
  Memory.make({ strategy, compaction: "manual" }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(FullTextIndex.FullTextIndex, index),
  )

const storeOf = (log: EventLog.Service): FullTextIndex.FullTextStore<EventLog.LogError> => {
  if (log.fullText === undefined) throw new Error("the store keeps no index")
  return log.fullText
}

/** Everything that lies on the disk for a database. */
const bytes = (file: string): string =>
  [file, `${file}-wal`]
    .filter(existsSync)
    .map((one) => readFileSync(one, "latin1"))
    .join("\n")

const amount = (file: string, table: string): number =>
  withDriver(file, (driver) => Number(driver.prepare(`SELECT count(*) AS n FROM ${table}`).all()[0]?.["n"]))

/** A word of letters alone, which has no parts. */
const markOf = (number: number): string =>
  `quux${[...`${number}`].map((digit) => "abcdefghij"[Number(digit)]).join("")}x`

const words = ["alpha", "bravo", "KX-4471", "src/money.ts", "数据库备份", "deployed", "zebra"]
const said = fc
  .tuple(fc.constantFrom("user" as const, "assistant" as const), fc.subarray(words, { minLength: 1 }))
  .map(([role, list]) => ({ role, text: list.join(" ") }))
const session = fc.constantFrom("s", "t", "u")

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      session,
      said: fc.array(said, { minLength: 1, maxLength: 7 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("search" as const),
      session,
      query: fc.subarray(words, { minLength: 1 }),
      at: fc.option(fc.nat()),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("redact" as const), session, which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constantFrom("clear" as const, "delete" as const, "compact" as const, "revert" as const),
      session,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("fork" as const), session, to: session }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("restart" as const, "verify" as const) }) },
)

describe("the index in the file", () => {
  it("L6: answers as the index in the process, whatever happens to the sessions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const file = join(folder(), "chats.db")
        await withLog({ filename: file, synchronous: "normal" }, (log) =>
          Effect.gen(function* () {
            const open = () =>
              Effect.all({
                stored: memoryOver(log, Recall.inStore(storeOf(log), small)),
                plain: memoryOver(log, Recall.inProcess()),
              })
            let memories = yield* open()
            let count = 0
            /** Of each session the words that only one of its messages has, since the last clear; and those of its log. */
            const marks = new Map<string, Array<string>>()
            const logged = new Map<string, Array<string>>()
            for (const one of steps) {
              const { stored, plain } = memories
              if (one.act === "restart") memories = yield* open()
              else if (one.act === "append") {
                const own = one.said.map(() => markOf(count++))
                yield* stored.append(
                  one.session,
                  one.said.map(({ role, text }, at): Message.Message => ({
                    role,
                    parts: [{ type: "text", text: `${text} ${own[at]}` }],
                  })),
                )
                marks.set(one.session, [...(marks.get(one.session) ?? []), ...own])
                logged.set(one.session, [...(logged.get(one.session) ?? []), ...own])
              } else if (one.act === "search") {
                const { version } = yield* plain.state(one.session)
                const options = {
                  tokens: 300,
                  ...(one.at === null ? {} : { atVersion: one.at % (version + 1) }),
                }
                const query = one.query.join(" ")
                expect(yield* stored.recall(one.session, query, options)).toEqual(
                  yield* plain.recall(one.session, query, options),
                )
              } else if (one.act === "redact") {
                const { total } = yield* plain.state(one.session)
                if (total === 0) continue
                const index = one.which % total
                const mark = marks.get(one.session)![index]!
                yield* stored.redact(one.session, index)
                expect((yield* stored.recall(one.session, mark)).messages).toEqual([])
                const copies = [...logged].filter(
                  ([name, list]) => name !== one.session && list.includes(mark),
                )
                if (copies.length === 0) expect(bytes(file)).not.toContain(mark)
              } else if (one.act === "clear") {
                yield* stored.clear(one.session)
                marks.set(one.session, [])
              } else if (one.act === "delete") {
                yield* stored.delete(one.session)
                marks.delete(one.session)
                logged.delete(one.session)
              } else if (one.act === "fork") {
                const copied = yield* Effect.either(stored.fork(one.session, one.to))
                if (copied._tag === "Right")
                  for (const words of [marks, logged]) words.set(one.to, [...(words.get(one.session) ?? [])])
              } else if (one.act === "compact") yield* stored.compactDue(one.session)
              else if (one.act === "revert") yield* stored.revert(one.session)
              else
                for (const name of ["s", "t", "u"])
                  expect(
                    (yield* Verify.session(log, name)).map(({ rule, detail }) => `${rule}: ${detail}`),
                  ).toEqual([])
            }
            for (const name of ["s", "t", "u"]) {
              const query = words.join(" ")
              const { stored, plain } = memories
              expect(yield* stored.recall(name, query)).toEqual(yield* plain.recall(name, query))
              expect(
                (yield* Verify.session(log, name)).map(({ rule, detail }) => `${rule}: ${detail}`),
              ).toEqual([])
            }
          }),
        )
        expect(integrity(file)).toBe("ok")
      }),
      {
        numRuns: often(15, 600),
        examples: [
          // The log of a session that was cleared still has the words.
          [
            [
              { act: "append", session: "t", said: [{ role: "user", text: "deployed" }] },
              { act: "fork", session: "t", to: "s" },
              { act: "clear", session: "t" },
              { act: "redact", session: "s", which: 0 },
            ],
          ],
        ],
      },
    )
  })

  /** Messages with a word of their own each, in parts of a few. */
  const talk = (count: number): ReadonlyArray<Message.Message> =>
    Array.from({ length: count }, (_, at) => Message.user(`alpha ${words[at % words.length]} ${markOf(at)}`))

  it("L15: a redacted word is in no byte of the file and its write-ahead log, wherever it was", async () => {
    const file = join(folder(), "chats.db")
    const count = 120
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const memory = yield* memoryOver(
          log,
          Recall.inStore(storeOf(log), { eventsPerPart: 8, largestPart: 40 }),
        )
        yield* memory.append("s", talk(count))
        yield* memory.recall("s", "alpha")
        expect(amount(file, "full_text_parts")).toBe(3)
        const gone = new Set<string>()
        for (let turn = 0; turn < often(10, count); turn++) {
          const at = (turn * 77) % count
          expect(bytes(file)).toContain(markOf(at))
          yield* memory.redact("s", at)
          gone.add(markOf(at))
          const now = bytes(file)
          for (const mark of gone) expect(now).not.toContain(mark)
          // Every other time it is built again at once.
          if (turn % 2 === 0) expect((yield* memory.recall("s", markOf(at))).messages).toEqual([])
          // The messages around those that are found are among them.
          if (turn === 9)
            expect((yield* memory.recall("s", "alpha", { tokens: 5_000 })).messages.length).toBe(count)
        }
        const plain = yield* memoryOver(log, Recall.inProcess())
        expect(yield* memory.recall("s", "alpha", { tokens: 5_000 })).toEqual(
          yield* plain.recall("s", "alpha", { tokens: 5_000 }),
        )
        const again = bytes(file)
        for (const mark of gone) expect(again).not.toContain(mark)
        expect(yield* Verify.session(log, "s")).toEqual([])
      }),
    )
    expect(integrity(file)).toBe("ok")
  })

  it("L15: what was read before a redaction is not written after it", async () => {
    const file = join(folder(), "chats.db")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const store = storeOf(log)
        const other = yield* memoryOver(log, Recall.inProcess())
        yield* other.append("s", talk(20))
        const written: Array<boolean> = []
        let isFirst = true
        const late: typeof store = {
          ...store,
          write: (session, place, part) =>
            Effect.gen(function* () {
              if (isFirst) yield* Effect.orDie(other.redact("s", 5))
              isFirst = false
              const done = yield* store.write(session, place, part)
              written.push(done)
              return done
            }),
        }
        const memory = yield* memoryOver(log, Recall.inStore(late, small))
        const found = yield* memory.recall("s", markOf(5))
        expect(written[0]).toBe(false)
        expect(JSON.stringify(found)).not.toContain(markOf(5))
        expect(bytes(file)).not.toContain(markOf(5))
        // The next search writes, and finds the others.
        expect((yield* memory.recall("s", markOf(6), { tokens: 60 })).text).toContain(markOf(6))
        expect(written.at(-1)).toBe(true)
        expect((yield* memory.recall("s", markOf(5))).messages).toEqual([])
        expect(bytes(file)).not.toContain(markOf(5))
      }),
    )
  })

  it("is not written for a session that was deleted and started again meanwhile", async () => {
    const file = join(folder(), "chats.db")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const store = storeOf(log)
        const other = yield* memoryOver(log, Recall.inProcess())
        yield* other.append("s", talk(20))
        let isFirst = true
        const late: typeof store = {
          ...store,
          write: (...args) =>
            Effect.gen(function* () {
              if (isFirst) {
                yield* Effect.orDie(other.delete("s"))
                yield* Effect.orDie(
                  other.append(
                    "s",
                    Array.from({ length: 20 }, () => Message.user("zebra")),
                  ),
                )
              }
              isFirst = false
              return yield* store.write(...args)
            }),
        }
        const memory = yield* memoryOver(log, Recall.inStore(late, { eventsPerPart: 3, largestPart: 50 }))
        yield* memory.recall("s", "alpha")
        expect(amount(file, "full_text_parts")).toBe(0)
        expect((yield* memory.recall("s", "alpha")).messages).toEqual([])
        expect((yield* memory.recall("s", "zebra", { tokens: 2_000 })).messages.length).toBe(20)
        expect(yield* Verify.session(log, "s")).toEqual([])
      }),
    )
  })

  it("is never a wrong answer when it is damaged; verify finds that, and repair drops it", async () => {
    const file = join(folder(), "chats.db")
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.gen(function* () {
        const plain = yield* memoryOver(log, Recall.inProcess())
        yield* plain.append("s", talk(30))
        yield* plain.append("other", talk(30).toReversed())
        const queries = [markOf(3), "alpha zebra", "KX-4471", "数据库"]
        const expected = yield* Effect.forEach(queries, (query) => plain.recall("s", query))
        const build = () =>
          Effect.gen(function* () {
            yield* storeOf(log).drop()
            for (const session of ["s", "other"])
              yield* (yield* memoryOver(log, Recall.inStore(storeOf(log), small))).recall(session, "alpha")
          })
        const flipped = (blob: string, at: number) =>
          `CAST(substr(${blob}, 1, ${at}) || iif(substr(${blob}, ${at + 1}, 1) = X'7F', X'7E', X'7F') || substr(${blob}, ${at + 2}) AS BLOB)`
        const ofSession = "session = (SELECT id FROM sessions WHERE name = 's')"
        const some = `id = (SELECT id FROM full_text_parts WHERE ${ofSession} ORDER BY version LIMIT 1 OFFSET 1)`
        const damages = [
          ...[0, 4, 6, 8].map(
            (at) => `UPDATE full_text_parts SET head = ${flipped("head", at)} WHERE ${some}`,
          ),
          ...[0, 5, 9].map(
            (at) =>
              `UPDATE full_text_buckets SET data = ${flipped("data", at)} WHERE id >> 20 IN (SELECT id FROM full_text_parts WHERE ${ofSession})`,
          ),
          `DELETE FROM full_text_buckets WHERE id >> 20 = (SELECT id FROM full_text_parts WHERE ${some})`,
          `UPDATE full_text_buckets SET data = 'words' WHERE id >> 20 = (SELECT id FROM full_text_parts WHERE ${some})`,
          `UPDATE full_text_parts SET buckets = 2 WHERE ${some}`,
          `UPDATE full_text_parts SET buckets = 0 WHERE ${some}`,
          `UPDATE full_text_parts SET batch_id = 'x' WHERE ${ofSession}`,
          `UPDATE full_text_parts SET version = version + 1 WHERE ${ofSession} AND version = (SELECT max(version) FROM full_text_parts WHERE ${ofSession})`,
          `DELETE FROM full_text_parts WHERE ${some}`,
          // The index of another session, under the name of this one.
          `UPDATE full_text_parts SET session = session + 10; UPDATE full_text_parts SET session = 13 - session`,
        ]
        for (const damage of damages) {
          yield* build()
          expect(yield* Verify.session(log, "s")).toEqual([])
          withDriver(file, (driver) => {
            driver.pragma("foreign_keys = OFF")
            driver.exec(damage)
          })
          const rules = (yield* Verify.session(log, "s")).map(({ rule }) => rule)
          expect(`${damage}: ${[...new Set(rules)].join()}`).toBe(`${damage}: index`)
          for (const [position, query] of queries.entries()) {
            const memory = yield* memoryOver(log, Recall.inStore(storeOf(log), small))
            expect([damage, yield* memory.recall("s", query)]).toEqual([damage, expected[position]])
          }
          yield* build()
          withDriver(file, (driver) => {
            driver.pragma("foreign_keys = OFF")
            driver.exec(damage)
          })
          const { mended, left } = yield* Repair.repair(log, "s")
          expect([mended, left]).toEqual([
            ["dropped the full-text index; the next search builds it again"],
            [],
          ])
        }
      }),
    )
  })

  it("is left alone in a file that is opened for reading, or whose lock is taken", async () => {
    const file = join(folder(), "chats.db")
    await withLog({ filename: file }, (log) =>
      Effect.flatMap(memoryOver(log, Recall.inProcess()), (memory) => memory.append("s", talk(50))),
    )
    const search = (log: EventLog.Service) =>
      Effect.flatMap(memoryOver(log, Recall.inStore(storeOf(log))), (memory) =>
        memory.recall("s", markOf(7), { tokens: 60 }),
      )
    const read = await withLog({ filename: file, readonly: true }, search)
    expect(read.text).toContain(markOf(7))
    const driver = openDriver(file)
    driver.exec("BEGIN IMMEDIATE")
    expect(await withLog({ filename: file }, search)).toEqual(read)
    driver.exec("ROLLBACK")
    expect(amount(file, "full_text_parts")).toBe(0)
    expect(await withLog({ filename: file }, search)).toEqual(read)
    expect(amount(file, "full_text_parts")).toBe(1)
    // The parts from before a clear do not count, even where they cannot be replaced.
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const memory = yield* memoryOver(log, Recall.inProcess())
        yield* memory.clear("s")
        yield* memory.append("s", [Message.user("alpha"), Message.user(markOf(8))])
      }),
    )
    const found = (word: string) =>
      withLog({ filename: file, readonly: true }, (log) =>
        Effect.flatMap(memoryOver(log, Recall.inStore(storeOf(log))), (memory) => memory.recall("s", word)),
      )
    expect((await found(markOf(0))).messages).toEqual([])
    expect((await found(markOf(8))).messages.map(({ index }) => index)).toEqual([0, 1])
  })

  it("is used by default, not with `process`, and can be dropped", async () => {
    const file = join(folder(), "chats.db")
    const search = (options: Pick<Memory.Options, "fullTextIndex">) => (log: EventLog.Service) =>
      Effect.gen(function* () {
        const memory = yield* Memory.make({ strategy, compaction: "manual", ...options }).pipe(
          Effect.provideService(EventLog.EventLog, log),
        )
        yield* memory.append("s", talk(50))
        return yield* memory.recall("s", markOf(7), { tokens: 60 })
      })
    await withLog({ filename: file }, search({ fullTextIndex: "process" }))
    await withLog({ filename: file, fullTextIndex: "process" }, search({}))
    expect(amount(file, "full_text_parts")).toBe(0)
    expect((await withLog({ filename: file }, search({}))).text).toContain(markOf(7))
    expect(amount(file, "full_text_parts")).toBe(1)
    expect(bytes(file).split(markOf(7)).length).toBeGreaterThan(4)
    expect(await Effect.runPromise(dropFullTextIndex({ filename: file }))).toEqual({ sessions: 1 })
    expect([amount(file, "full_text_parts"), amount(file, "full_text_buckets")]).toEqual([0, 0])
    expect(await Effect.runPromise(dropFullTextIndex({ filename: file }))).toEqual({ sessions: 0 })
  })

  it(
    "is as good as before after a process that wrote it was killed",
    async () => {
      const file = join(folder(), "chats.db")
      await withLog({ filename: file }, (log) =>
        Effect.flatMap(memoryOver(log, Recall.inProcess()), (memory) => memory.append("s", talk(90))),
      )
      for (let turn = 0; turn < often(3, 40); turn++) {
        const child = start(script("searcher"), file)
        for (let parts = 0; parts <= 3 * turn; parts++) expect(await child.line()).toBe("part")
        child.kill()
        await child.end()
        await withLog({ filename: file }, (log) =>
          Effect.gen(function* () {
            expect(yield* Verify.session(log, "s")).toEqual([])
            const [stored, plain] = yield* Effect.all([
              memoryOver(log, Recall.inStore(storeOf(log), { eventsPerPart: 4, largestPart: 16 })),
              memoryOver(log, Recall.inProcess()),
            ])
            for (const query of ["alpha", "zebra", markOf(50)])
              expect(yield* stored.recall("s", query)).toEqual(yield* plain.recall("s", query))
            expect(yield* Verify.session(log, "s")).toEqual([])
          }),
        )
        expect(integrity(file)).toBe("ok")
      }
    },
    often(60_000, 300_000),
  )
})
