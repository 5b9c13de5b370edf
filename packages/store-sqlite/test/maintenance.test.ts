/** What an operator does with a file: its size, making it smaller, copying it while others write. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it, describe, onTestFinished } from "vitest"
import { backup, size, vacuum } from "../src/index.js"
import { start } from "@memfold/harness/children"
import { openDriver } from "@memfold/harness/sqlite"
import {
  bundled,
  findings,
  folder,
  integrity,
  records,
  summary,
  summaryRows,
  textsOf,
  versionOf,
  withLog,
} from "./support.js"

const script = bundled("untilKilled", "many")

/** A file with sessions of `count` records of `length` characters each. */
const written = async (sessions: number, count: number, length = 500): Promise<string> => {
  const file = join(folder(), "chats.db")
  await withLog({ filename: file, synchronous: "normal" }, (log) =>
    Effect.forEach(Array.from({ length: sessions }), (_, index) =>
      log.append(`s${index}`, records(count, JSON.stringify("x".repeat(length))), {
        expectedVersion: 0,
        batchId: "first",
      }),
    ),
  )
  return file
}

const failure = (effect: Effect.Effect<unknown, EventLog.LogError>) => Effect.runPromise(Effect.flip(effect))

describe("size", () => {
  it("counts what there is, and every byte of the file is somewhere", async () => {
    const file = join(folder(), "chats.db")
    const running = start(script("many"), file, "a", "one", "40", "two", "10")
    expect(await running.line()).toBe("ready")
    running.say("go")
    expect(await running.end()).toEqual(["done"])
    const report = await Effect.runPromise(size({ filename: file }))
    expect(report).toMatchObject({ sessions: 2, file: statSync(file).size, wal: 0 })
    expect(report.events).toBe(report.types.reduce((sum, { count }) => sum + count, 0))
    expect(report.types.find(({ name }) => name === "MessageAppended")?.count).toBe(50)
    expect(report.tables.find(({ name }) => name === "events")?.count).toBe(report.events)
    expect(report.tables.reduce((sum, { bytes }) => sum + bytes, report.free)).toBe(report.file)
  })

  it("says of a file in use what has not come to it yet, and disturbs nobody", async () => {
    const file = join(folder(), "chats.db")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const projections = [summaryRows([summary(1, { status: "superseded" }), summary(2)])]
        yield* log.append("one", records(10), { expectedVersion: 0, batchId: "first", projections })
        const report = yield* size({ filename: file })
        expect(report.summaries).toBe(2)
        expect(report.wal).toBeGreaterThan(0)
        expect(report.events).toBe(10)
        yield* log.append("one", records(1), { expectedVersion: 10, batchId: "second" })
      }),
    )
  })

  it("is an error for a file that is not there", async () => {
    const path = folder()
    const error = await failure(size({ filename: join(path, "chats.db") }))
    expect(error.reason).toContain("does not exist")
    expect(readdirSync(path)).toEqual([])
    expect((await failure(size({ filename: ":memory:" }))).reason).toContain("in memory")
  })
})

describe("vacuum", () => {
  it("gives back what deleted sessions took, and keeps the others", async () => {
    const file = await written(10, 200)
    await withLog({ filename: file }, (log) =>
      Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], (index) => log.delete(`s${index}`)),
    )
    expect((await Effect.runPromise(size({ filename: file }))).free).toBeGreaterThan(500_000)
    const { before, after } = await Effect.runPromise(vacuum({ filename: file }))
    expect(after).toBeLessThan(0.4 * before)
    expect(statSync(file).size).toBe(after)
    expect(integrity(file)).toBe("ok")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(yield* versionOf(log, "s9")).toBe(200)
        const again = log.append("s9", records(200), { expectedVersion: 0, batchId: "first" })
        expect(yield* again).toEqual({ fromVersion: 1, version: 200, duplicate: true })
      }),
    )
  })

  it("waits for a writer, and says so when it waits in vain", async () => {
    const file = await written(1, 10)
    const driver = openDriver(file)
    driver.exec("BEGIN IMMEDIATE")
    const error = await failure(vacuum({ filename: file, busyTimeout: "20 millis" }))
    expect(error.message).toContain("is locked by another process")
    driver.exec("ROLLBACK")
    expect(await Effect.runPromise(vacuum({ filename: file }))).toMatchObject({ after: expect.any(Number) })
  })
})

describe("backup", () => {
  it("is whole while another process writes, and tells how far it is", async () => {
    const file = await written(20, 300, 1_000)
    const to = join(folder(), "copy.db")
    const writer = start(script("untilKilled"), file, "normal", "0")
    expect(await writer.line()).toBe("ready")
    writer.say("go")
    expect(await writer.line()).toBeDefined()
    const heard: Array<{ readonly copied: number; readonly total: number }> = []
    const done = await Effect.runPromise(
      backup({ filename: file, to, onProgress: (progress) => heard.push(progress) }),
    )
    // The writer has gone on meanwhile, and goes on.
    expect(await writer.line()).toBeDefined()
    writer.kill()
    await writer.end()

    expect(heard[0]?.total).toBeGreaterThan(6_000_000)
    expect(heard.at(-1)).toEqual({ copied: statSync(to).size, total: statSync(to).size })
    expect(heard.map(({ copied }) => copied)).toEqual(
      heard.map(({ copied }) => copied).toSorted((one, other) => one - other),
    )
    expect(done.copied).toBe(statSync(to).size)
    expect(readdirSync(join(to, ".."))).toEqual(["copy.db"])
    expect(integrity(to)).toBe("ok")
    await withLog({ filename: to }, (log) =>
      Effect.gen(function* () {
        for (let index = 0; index < 20; index++) expect(yield* versionOf(log, `s${index}`)).toBe(300)
        for (const session of ["one", "two"]) {
          const texts = yield* textsOf(log, session)
          expect(texts).toEqual(texts.map((_, index) => `0.${index}`))
        }
        const found = yield* findings(log)
        expect(found.filter(({ session }) => session === "one" || session === "two")).toEqual([])
      }),
    )
  })

  it("never overwrites, and leaves nothing behind when it fails", async () => {
    const file = await written(1, 10)
    const path = folder()
    writeFileSync(join(path, "mine.db"), "dear diary")
    const taken = await failure(backup({ filename: file, to: join(path, "mine.db") }))
    expect(taken.message).toContain("exists already; choose another name")
    const nowhere = await failure(backup({ filename: file, to: join(path, "nowhere", "copy.db") }))
    expect(nowhere.message).toContain("create the folder")
    const missing = await failure(backup({ filename: join(path, "none.db"), to: join(path, "copy.db") }))
    expect(missing.message).toContain("does not exist")
    expect(readdirSync(path)).toEqual(["mine.db"])
  })

  it("to a full disk is an error that names the copy, and the file is as it was", async ({ skip }) => {
    const file = await written(20, 100, 1_000)
    const disk = folder()
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], { stdio: "ignore" })
    } catch {
      skip("a small disk can only be mounted as root, on Linux")
    }
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]))
    const to = join(disk, "copy.db")
    const error = await failure(backup({ filename: file, to }))
    expect(error.message).toMatch(/^The event log failed at backup: the disk (is full|failed) at .*copy\.db/)
    expect(existsSync(to)).toBe(false)
    expect(readdirSync(disk)).toEqual([])
    expect(integrity(file)).toBe("ok")
  })
})
