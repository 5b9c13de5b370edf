/** The laws of stores over PGlite, the embedded PostgreSQL. */
import { PGlite } from "@electric-sql/pglite"
import { EventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { all, records } from "@memfold/harness/crowd"
import { deep } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { layerEmbedded, makeEmbedded } from "../src/index.js"
import { newSchema } from "./support.js"

// Its data are made once, by the first who opens it.
const folder = mkdtempSync(join(tmpdir(), "memfold-pglite-"))
const database = join(folder, "chats")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("a folder keeps the log", async () => {
  const append = (expectedVersion: number) =>
    Effect.scoped(
      Effect.flatMap(makeEmbedded({ database }), (log) =>
        Effect.zipRight(
          log.append("s", records(2), { expectedVersion, batchId: `at ${expectedVersion}` }),
          all(EventLog.records(log, "s")),
        ),
      ),
    )
  await Effect.runPromise(append(0))
  expect(existsSync(database)).toBe(true)
  const list = await Effect.runPromise(append(2))
  expect(list.map(({ batchId }) => batchId)).toEqual(["at 0", "at 0", "at 2", "at 2"])
})

describe("over a PGlite of the application", () => {
  let pglite: PGlite
  beforeAll(async () => {
    pglite = await PGlite.create(database)
  })
  afterAll(() => pglite.close())

  // PostgreSQL runs these laws at each test, with the same statements.
  if (deep)
    eventLogLaws({
      name: "PGlite",
      layer: () => Layer.suspend(() => layerEmbedded({ database: pglite, schema: newSchema() })),
      reopen: () => {
        const schema = newSchema()
        return Layer.suspend(() => layerEmbedded({ database: pglite, schema }))
      },
      numRuns: 50,
      timeout: 900_000,
      timeLimit: 60_000,
    })

  it("an error says what is wrong, and nothing of what was written", async () => {
    const failed = Effect.flatMap(makeEmbedded({ database: pglite, schema: newSchema() }), (log) =>
      log.append("private\0words", records(1, '"private"'), { expectedVersion: 0, batchId: "a" }),
    )
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(failed)))
    expect(error).toMatchObject({
      reason:
        "PostgreSQL keeps no text with a NUL character; the session id, the key, the owner or the title has one",
    })
    expect(inspect((error as EventLog.LogError).cause, { depth: 10, showHidden: true })).not.toContain(
      "private",
    )
  })

  it("neither the application nor the log writes in a transaction of the other", async () => {
    await pglite.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const log = yield* makeEmbedded({ database: pglite, schema: newSchema() })
          const put = (n: number) => pglite.query("INSERT INTO orders VALUES ($1)", [n])
          const kept: Array<number> = []
          for (let n = 0; n < 60; n += 3) {
            // Work of the log that takes a transaction: it is committed, or fails at its mark and is rolled back.
            const rows = [`${n}`, `${n}b`].map((key) => ({
              key,
              data: "{}",
              mark: n % 2 === 0 ? key : "one",
            }))
            const at = { version: n / 3, batchId: n === 0 ? "" : `${n - 3}` }
            const noted = Effect.either(log.projections.put("s", at, [{ kind: "note", rows }]))
            const appended = log.append("s", records(1), { expectedVersion: n / 3, batchId: `${n}` })
            const application = Effect.promise(async () => {
              await put(n)
              const failed = pglite.transaction(async () => {
                throw new Error("rolled back")
              })
              await failed.catch(() => undefined)
              await put(n + 1)
              await pglite.transaction((tx) => tx.query("INSERT INTO orders VALUES ($1)", [n + 2]))
              kept.push(n, n + 1, n + 2)
            })
            yield* Effect.all([appended, noted, application], { concurrency: "unbounded" })
          }
          const { rows } = yield* Effect.promise(() =>
            pglite.query<{ id: number }>("SELECT id FROM orders ORDER BY id"),
          )
          expect(rows.map(({ id }) => id)).toEqual(kept)
          expect(yield* all(EventLog.records(log, "s"))).toHaveLength(20)
        }),
      ),
    )
  })
})
