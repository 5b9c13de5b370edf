import { Effect, Logger, LogLevel } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs, said } from "@memfold/harness/engine"
import { InMemoryEventLog, type Memory, Message } from "../index.js"
import { openSession } from "./openSession.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

/** What happens to a session between two looks at its past. */
const step = fc.record({
  what: fc.constantFrom("append", "append", "compact", "edit", "redact", "revert", "clear", "delete"),
  by: fc.constantFrom(0, 1),
  at: fc.nat({ max: 200 }),
  looks: fc.array(fc.nat({ max: 1_000 }), { maxLength: 6 }),
})

const happen = (
  memory: Memory.Service,
  { what, at }: { readonly what: string; readonly at: number },
): Effect.Effect<unknown, unknown> =>
  Effect.gen(function* () {
    const { total } = yield* memory.state("s")
    switch (what) {
      case "append":
        return yield* memory.append("s", said(40, total))
      case "compact":
        return yield* memory.compact("s", { which: "due" })
      case "edit":
        return yield* memory.edit("s", at % Math.max(total, 1), Message.user(`other ${at}`))
      case "redact":
        return yield* memory.redact("s", at % Math.max(total, 1))
      case "revert":
        return yield* memory.revert("s", { pauseFor: 0 })
      case "clear":
        return yield* memory.clear("s")
      default:
        return yield* memory.delete("s")
    }
  })

describe("a state of the past", () => {
  it("is the fold of the log up to there, in whatever order it is looked at, and whoever wrote since", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const program = Effect.gen(function* () {
          const log = yield* InMemoryEventLog.make
          const memories = [yield* memoryOver(log, manual), yield* memoryOver(log, manual)]
          for (const one of [
            { what: "append", by: 0, at: 0, looks: [] as ReadonlyArray<number> },
            ...steps,
          ]) {
            // What cannot be done then is refused.
            yield* Effect.ignore(happen(memories[one.by]!, one))
            const head = (yield* log.head("s"))?.version ?? 0
            for (const look of one.looks) {
              const version = look % (head + 1)
              const expected = (yield* openSession(log, "s", { toVersion: version })).read.state
              for (const memory of memories) {
                const state = yield* memory.state("s", { atVersion: version })
                // Sequences share their buffers, which equality of objects would see.
                expect(JSON.stringify(state)).toBe(JSON.stringify(expected))
              }
            }
          }
        })
        await Effect.runPromise(Effect.scoped(Logger.withMinimumLogLevel(program, LogLevel.None)))
      }),
      { numRuns: often(30, 500) },
    ))
})
