/** A log that has lost its end: nothing is shown as if it were whole, and nothing is written over the place. */
import { EventLog, Memory, Verify } from "@memfold/core"
import { Effect, Either, Layer } from "effect"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { make } from "../src/index.js"
import { withDriver } from "@memfold/harness/sqlite"
import { folder, versionOf } from "./support.js"

const using = <A, E>(
  file: string,
  use: (memory: Memory.Service) => Effect.Effect<A, E, EventLog.EventLog>,
): Promise<A> =>
  Effect.flatMap(Memory.Memory, use).pipe(
    Effect.provide(
      Layer.provideMerge(
        Memory.layer({ strategy: pairs, compaction: { mode: "manual" } }).pipe(Layer.provide(echoing)),
        Layer.scoped(EventLog.EventLog, make({ filename: file })),
      ),
    ),
    Effect.runPromise,
  )

describe("a log that has lost its end", () => {
  it.each([
    ["one message", 1, 4, 0],
    ["several", 7, 10, 0],
    ["all of them", 10, 10, 0],
    ["one behind a snapshot", 1, 600, 1],
    ["one within a snapshot", 1, 500, 1],
  ])(
    "%s: it is damage for every reader and writer, and for verify",
    async (_, lost, messages, compactions) => {
      const file = join(folder(), "cut.db")
      await using(file, (memory) =>
        Effect.gen(function* () {
          yield* memory.append("whole", said(2))
          for (let from = 0; from < messages; from += 100)
            yield* memory.append("cut", said(Math.min(100, messages - from), from))
          if (compactions > 0) yield* memory.compact("cut", { which: "due" })
        }),
      )
      const version = withDriver(file, (driver) => {
        const cut = "session = (SELECT id FROM sessions WHERE name = 'cut')"
        const [row] = driver.prepare(`SELECT max(version) AS newest FROM events WHERE ${cut}`).all()
        const newest = Number(row?.["newest"])
        driver.exec(`DELETE FROM events WHERE version > ${newest - lost} AND ${cut}`)
        return newest
      })
      await using(file, (memory) =>
        Effect.gen(function* () {
          const log = yield* EventLog.EventLog
          const tries: ReadonlyArray<readonly [string, Effect.Effect<unknown, Error>]> = [
            ["context", memory.context("cut")],
            ["messages", memory.messages("cut")],
            ["append", memory.append("cut", said(1))],
            [
              "log",
              log.append("cut", [{ type: "x", schemaVersion: 1, time: 0, data: "{}" }], {
                expectedVersion: version - lost,
                batchId: "b",
              }),
            ],
          ]
          for (const [name, attempt] of tries) {
            const tried = yield* Effect.either(attempt)
            expect({ name, failed: Either.isLeft(tried) }).toEqual({ name, failed: true })
            const message = Either.isLeft(tried) ? tried.left.message : ""
            expect(message).toContain('"cut"')
            expect(message).toContain(`at version ${version}`)
          }
          const findings = yield* Verify.session(log, "cut")
          expect(findings.map(({ rule }) => rule)).toContain("contiguous")
          // Nobody else is concerned, and nothing was written.
          expect((yield* memory.context("whole")).messages).toHaveLength(2)
          expect(yield* Verify.session(log, "whole")).toEqual([])
          expect(yield* versionOf(log, "cut")).toBe(version)
        }),
      )
    },
  )

  it("is no damage where a session was deleted and begun anew", async () => {
    const file = join(folder(), "anew.db")
    await using(file, (memory) =>
      Effect.gen(function* () {
        yield* memory.append("s", said(20))
        yield* memory.delete("s")
        yield* memory.append("s", said(2))
      }),
    )
    const shown = await using(file, (memory) => memory.context("s"))
    expect(shown.messages).toHaveLength(2)
  })
})
