/** The rows of full-text indexes in a file. What they are made of is tested with the engine. */
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { dropFullTextIndex } from "../src/index.js"
import { folder, records, withLog } from "./support.js"

/** Everything that lies on the disk for a database. */
const bytes = (file: string): string =>
  [file, `${file}-wal`]
    .filter(existsSync)
    .map((one) => readFileSync(one, "latin1"))
    .join("\n")

const indexRows = [
  { kind: "index", rows: [{ key: "part-1", data: "SECRET of the part" }] },
  { kind: "index-terms", rows: [{ key: "part-1:7", data: "SECRET terms" }] },
]

it("are dropped for all sessions, and nothing else is", async () => {
  const filename = join(folder(), "chats.db")
  const other = { kind: "snapshot", rows: [{ key: "", data: "{}" }] }
  await withLog({ filename }, (log) =>
    Effect.forEach(["one", "two", "three"], (session) =>
      log.append(session, records(1), {
        expectedVersion: 0,
        batchId: "b",
        projections: session === "three" ? [other] : [...indexRows, other],
      }),
    ),
  )
  expect(await Effect.runPromise(dropFullTextIndex({ filename }))).toEqual({ sessions: 2 })
  expect(await Effect.runPromise(dropFullTextIndex({ filename }))).toEqual({ sessions: 0 })
  await withLog({ filename }, (log) =>
    Effect.gen(function* () {
      for (const session of ["one", "two", "three"]) {
        for (const { kind } of indexRows) expect(yield* log.projections.get(session, kind)).toEqual([])
        expect(yield* log.projections.get(session, "snapshot")).toEqual(other.rows)
      }
    }),
  )
})

it("L15: are in no byte of the files after a rewrite", async () => {
  const filename = join(folder(), "chats.db")
  await withLog({ filename }, (log) =>
    Effect.gen(function* () {
      yield* log.append("one", records(3, '"SECRET message"'), {
        expectedVersion: 0,
        batchId: "b",
        projections: indexRows,
      })
      expect(bytes(filename)).toContain("SECRET")
      const rewritten = [1, 2, 3].map((version) => ({ version, schemaVersion: 1, data: "{}" }))
      yield* log.rewrite("one", rewritten, records(1), { expectedVersion: 3, batchId: "r" })
      yield* log.finishRewrites!("one")
      expect(bytes(filename)).not.toContain("SECRET")
    }),
  )
})
