import { Chunk, Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { EventLog, InMemoryEventLog } from "./index.js"

eventLogLaws({ name: "in memory", layer: InMemoryEventLog.layer, numRuns: often(10, 100) })

describe("in memory", () => {
  it("each log is one of its own", async () => {
    const program = Effect.gen(function* () {
      const one = yield* InMemoryEventLog.make
      const other = yield* InMemoryEventLog.make
      yield* one.append("s", [{ time: 0, type: "Noted", schemaVersion: 1, data: "{}" }], {
        expectedVersion: 0,
        batchId: "a",
      })
      return [yield* one.head("s"), yield* other.head("s")]
    })
    expect(await Effect.runPromise(program)).toEqual([{ version: 1, batchId: "a" }, null])
  })

  it("what was read stays as it was, whatever is appended meanwhile", async () => {
    const program = Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const note = (expectedVersion: number) =>
        log.append("s", [{ time: 0, type: "Noted", schemaVersion: 1, data: `${expectedVersion}` }], {
          expectedVersion,
          batchId: `c${expectedVersion}`,
        })
      yield* note(0)
      yield* note(1)
      return yield* EventLog.records(log, "s").pipe(
        Stream.mapEffect((record) => Effect.as(note(record.version + 1), record.version)),
        Stream.runCollect,
      )
    })
    expect(Chunk.toReadonlyArray(await Effect.runPromise(program))).toEqual([1, 2])
  })
})
