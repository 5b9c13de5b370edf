/** Tables that follow from the log and that another program has dropped: the file has them again, with their rows. */
import { EventLog, Memory, Session, Verify } from "@memfold/core"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { withDriver } from "@memfold/harness/sqlite"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { integrity, make, type Options } from "../src/index.js"
import { folder, openingFails, withLog } from "./support.js"

const projectionsOf: Options["projectionsOf"] = (session, records) =>
  Session.projectionsOf(session, Session.decodeRecords(records))

const use = <A, E>(file: string, work: (memory: Memory.Service) => Effect.Effect<A, E>): Promise<A> =>
  Effect.flatMap(Memory.Memory, work).pipe(
    Effect.provide(Memory.layer({ strategy: pairs, compaction: { mode: "manual" } })),
    Effect.provide(
      Layer.merge(echoing, Layer.scoped(EventLog.EventLog, make({ filename: file, projectionsOf }))),
    ),
    Effect.scoped,
    Effect.runPromise,
  )

const compacted = (memory: Memory.Service, session: string, from: number) =>
  Effect.zipRight(memory.append(session, said(6, from)), memory.compact(session, { which: "due" }))

/** A file with two sessions, each with two summaries. */
const filled = async (): Promise<string> => {
  const file = join(folder(), "chats.db")
  await use(file, (memory) =>
    Effect.forEach(["one", "two"], (session) =>
      Effect.zipRight(compacted(memory, session, 0), compacted(memory, session, 6)),
    ),
  )
  return file
}

const run = (file: string, sql: string) => withDriver(file, (driver) => driver.exec(sql))
const summariesIn = (file: string) =>
  withDriver(file, (driver) => driver.prepare("SELECT * FROM summaries ORDER BY thread_id, version").all())

describe("what follows from the log is made again on opening, after", () => {
  for (const harm of [
    "DROP TABLE summaries",
    "DROP TABLE summaries; CREATE TABLE summaries (summary_id TEXT)",
    "ALTER TABLE summaries DROP COLUMN tokens",
    "DROP INDEX summaries_one_active",
    "DROP TABLE projections",
    "DROP VIEW compressed_summaries; DROP VIEW log",
    "DROP INDEX events_by_batch; DROP INDEX sessions_by_owner",
    "DROP TRIGGER last_version_of_session; DROP TRIGGER events_of_deleted_session",
    "DROP TABLE unfinished_rewrites",
    "DROP TABLE feed",
    "DROP TRIGGER feed_of_events",
  ])
    it(harm, async () => {
      const file = await filled()
      await withLog({ filename: file }, (log) => log.feed!({ limit: 1 }))
      const before = summariesIn(file)
      expect(before).toHaveLength(4)
      if (harm.startsWith("ALTER")) run(file, "DROP VIEW compressed_summaries")
      run(file, harm)
      await withLog({ filename: file, projectionsOf }, (log) =>
        Effect.gen(function* () {
          for (const session of ["one", "two"]) expect(yield* Verify.session(log, session)).toEqual([])
        }),
      )
      expect(summariesIn(file)).toEqual(before)
      expect(await Effect.runPromise(integrity({ filename: file }))).toEqual([])
      await use(file, (memory) => compacted(memory, "one", 12))
      expect(summariesIn(file)).toHaveLength(5)
    })
})

describe("a store that nobody has told how rows are computed", () => {
  it("has the rows of a session again when a memory has opened it", async () => {
    const file = await filled()
    const before = summariesIn(file)
    run(file, "DROP TABLE summaries")
    await withLog({ filename: file }, () => Effect.void)
    expect(summariesIn(file)).toEqual([])
    await use(file, (memory) => Effect.forEach(["one", "two"], (session) => memory.context(session)))
    expect(summariesIn(file)).toEqual(before)
  })
})

describe("while a process has the file open", () => {
  it("a table that another program drops is there again for the next compaction", async () => {
    const file = await filled()
    await use(file, (memory) =>
      Effect.gen(function* () {
        yield* memory.append("one", said(6, 12))
        run(file, "DROP TABLE summaries")
        yield* memory.compact("one", { which: "due" })
        expect(yield* memory.summaries("one")).toHaveLength(3)
      }),
    )
    expect(summariesIn(file)).toHaveLength(5)
  })
})

describe("a table of the log itself", () => {
  it("cannot be made again, and the file is refused by the table's name", async () => {
    const file = await filled()
    run(file, "PRAGMA foreign_keys = OFF; DROP TABLE types")
    expect((await openingFails({ filename: file })).reason).toContain(
      "has lost its table types; restore the file from a backup",
    )
  })
})

describe("the feed of a file", () => {
  const feedOf = (file: string) =>
    withDriver(file, (driver) =>
      driver.prepare("SELECT name FROM sqlite_master WHERE sql LIKE '% feed%'").all(),
    )

  it("begins with its first reader, with every event, and the reader goes on from there", async () => {
    const file = await filled()
    expect(feedOf(file)).toEqual([])
    await expect(
      withLog({ filename: file, readonly: true }, (log) => log.feed!({ limit: 1 })),
    ).rejects.toThrow("the feed begins when a process that may write reads it first")
    const page = await withLog({ filename: file }, (log) => log.feed!({ limit: 1_000 }))
    expect(page.filter(({ record }) => record.session === "two").map(({ record }) => record.version)).toEqual(
      page.filter(({ record }) => record.session === "one").map((_, at) => at + 1),
    )
    await use(file, (memory) => memory.append("one", said(1, 12)))
    expect(feedOf(file)).toHaveLength(3)
    const more = await withLog({ filename: file }, (log) =>
      log.feed!({ after: page.at(-1)!.position, limit: 1_000 }),
    )
    expect(more.map(({ record }) => record.session)).toEqual(["one"])
    // Whoever has read a feed that another program has dropped since reads all of it again, and misses nothing.
    run(file, "DROP TABLE feed")
    const again = await withLog({ filename: file }, (log) =>
      log.feed!({ after: more[0]!.position, limit: 1_000 }),
    )
    expect(again).toHaveLength(page.length + 1)
  })
})
