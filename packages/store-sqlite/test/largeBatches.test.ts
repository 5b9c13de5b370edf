/** Large batches, as a fork appends them, and many projection rows: one transaction, during which the event loop and other sessions go on. */
import { EventCodec, type EventLog } from "@memfold/core"
import { Effect, Either } from "effect"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { make } from "../src/index.js"
import { openDriver } from "@memfold/harness/sqlite"
import { folder, versionOf } from "./support.js"

const record: EventLog.NewRecord = {
  time: 0,
  ...EventCodec.encode({ _tag: "CompactionReleased", compaction: "k" }),
}
const many = 20_000
const batch = Array.from({ length: many }, () => record) as [EventLog.NewRecord, ...Array<EventLog.NewRecord>]

describe("a batch of 20,000 records", () => {
  it("lets the event loop go on, and other appends wait for it in their order", async () => {
    const file = join(folder(), "large.db")
    await Effect.gen(function* () {
      const log = yield* make({ filename: file })
      yield* log.append("other", [record], { expectedVersion: 0, batchId: "o1" })
      const outside = openDriver(file)
      let turns = 0
      let over = false
      /** How many records another process saw of the session, at each turn of the event loop. */
      const seen = new Set<unknown>()
      const turn = () => {
        // The last one may come when the file is closed.
        if (over) return
        turns++
        seen.add(outside.prepare("SELECT count(*) AS n FROM log WHERE session = 'large'").all()[0]?.["n"])
        setTimeout(turn, 0)
      }
      setTimeout(turn, 0)
      const done: Array<string> = []
      const appended = (name: string, appending: Effect.Effect<EventLog.AppendResult, Error>) =>
        Effect.tap(appending, () => Effect.sync(() => done.push(name)))
      const [large] = yield* Effect.all(
        [
          appended("large", log.append("large", batch, { expectedVersion: 0, batchId: "b" })),
          appended("other", log.append("other", [record], { expectedVersion: 1, batchId: "o2" })),
          appended("large again", log.append("large", [record], { expectedVersion: many, batchId: "c" })),
        ],
        { concurrency: "unbounded" },
      )
      over = true
      expect(large).toEqual({ fromVersion: 1, version: many, duplicate: false })
      expect(done).toEqual(["large", "other", "large again"])
      expect(turns).toBeGreaterThan(4)
      // All of it or nothing.
      expect([...seen].filter((count) => Number(count) > 0 && Number(count) < many)).toEqual([])
      expect(yield* versionOf(log, "large")).toBe(many + 1)
      expect(yield* versionOf(log, "other")).toBe(2)
      // Sent again, and at a version that is gone.
      expect(yield* log.append("large", batch, { expectedVersion: 0, batchId: "b" })).toMatchObject({
        version: many,
        duplicate: true,
      })
      const late = yield* Effect.either(log.append("large", batch, { expectedVersion: 5, batchId: "d" }))
      expect(Either.isLeft(late) && late.left._tag).toBe("VersionConflict")
      expect(yield* versionOf(log, "large")).toBe(many + 1)
    }).pipe(Effect.scoped, Effect.runPromise)
  })

  it("is not there at all if its process gives up in the middle", async () => {
    const file = join(folder(), "gone.db")
    await Effect.gen(function* () {
      const log = yield* make({ filename: file })
      yield* log.append("other", [record], { expectedVersion: 0, batchId: "o1" })
      const outside = openDriver(file)
      // A row that is in the way of the last one: SQLite refuses that one when the others are written.
      outside.exec(
        `CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.id & 0xffffffff = ${many} BEGIN SELECT raise(ABORT, 'no'); END`,
      )
      const tried = yield* Effect.either(log.append("large", batch, { expectedVersion: 0, batchId: "b" }))
      expect(Either.isLeft(tried)).toBe(true)
      expect(yield* versionOf(log, "large")).toBe(0)
      outside.exec("DROP TRIGGER full")
      expect(yield* log.append("other", [record], { expectedVersion: 1, batchId: "o2" })).toMatchObject({
        version: 2,
      })
      expect(yield* log.append("large", batch, { expectedVersion: 0, batchId: "b" })).toMatchObject({
        version: many,
      })
    }).pipe(Effect.scoped, Effect.runPromise)
  })
})

describe("a thousand projection rows", () => {
  it("are put all or none, and the event loop goes on meanwhile", async () => {
    const file = join(folder(), "rows.db")
    await Effect.gen(function* () {
      const log = yield* make({ filename: file })
      yield* log.append("chat", [record], { expectedVersion: 0, batchId: "b" })
      const rows = Array.from({ length: 1_000 }, (_, at) => ({ key: `${at}`, data: `row ${at}` }))
      const outside = openDriver(file)
      const seen = new Set<unknown>()
      let [turns, over] = [0, false]
      const turn = () => {
        if (over) return
        turns++
        seen.add(outside.prepare("SELECT count(*) AS n FROM projections").all()[0]?.["n"])
        setImmediate(turn)
      }
      setImmediate(turn)
      const put = log.projections.put("chat", { version: 1, batchId: "b" }, [{ kind: "index", rows }])
      yield* put
      over = true
      expect(turns).toBeGreaterThan(4)
      expect([...seen].filter((count) => Number(count) > 0 && Number(count) < rows.length)).toEqual([])
      const stored = yield* log.projections.get("chat", "index")
      expect(stored.toSorted((one, other) => Number(one.key) - Number(other.key))).toEqual(rows)

      outside.exec(
        "CREATE TRIGGER full BEFORE INSERT ON projections WHEN NEW.key = '999' BEGIN SELECT raise(ABORT, 'no'); END",
      )
      const anew = rows.map(({ key }) => ({ key, data: "changed" }))
      const change = { kind: "index", replace: true, rows: anew }
      const tried = yield* Effect.either(log.projections.put("chat", { version: 1, batchId: "b" }, [change]))
      expect(Either.isLeft(tried)).toBe(true)
      expect(yield* log.projections.get("chat", "index", { keys: ["0"] })).toEqual([rows[0]])
    }).pipe(Effect.scoped, Effect.runPromise)
  })
})
