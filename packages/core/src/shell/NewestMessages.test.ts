/** What a process keeps of the newest messages: never anything else than the log has, and for the reads of what it knows no statement. */
import { InMemoryEventLog, Keep, type Memory, Message, Strategy, SummaryMode, Trigger } from "../index.js"
import { often } from "@memfold/harness/depth"
import { memoryOver } from "@memfold/harness/engine"
import { Effect, Exit, Logger, LogLevel } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 3 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const options: Memory.Options = { strategy, compaction: { mode: "manual" } }

const result = (at: number) => [
  Message.call([{ id: `c${at}`, name: "search", arguments: "{}" }]),
  Message.result({ id: `c${at}`, output: "found ".repeat(50) }),
]

/** What may happen to a session. What is refused, such as to go back in an empty one, changes nothing. */
const changes: Readonly<
  Record<string, (memory: Memory.Service, at: number) => Effect.Effect<unknown, unknown>>
> = {
  append: (memory, at) => memory.append("s", [Message.user(`question ${at}`), ...result(at)]),
  edit: (memory, at) => memory.edit("s", at % 5, Message.user(`edited ${at}`)),
  undo: (memory) => memory.undo("s"),
  clear: (memory) => memory.clear("s"),
  redact: (memory, at) => memory.redact("s", at % 5),
  compact: (memory) => memory.compact("s"),
  "compact anew": (memory) => memory.compact("s", { which: "all" }),
  revert: (memory) => memory.revert("s"),
  delete: (memory) => memory.delete("s"),
}

const names = Object.keys(changes)
const appends = fc.constant("append")

it("answers as a process that begins, whoever changed the session and how", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          change: fc.oneof(appends, fc.constantFrom(...names)),
          who: fc.integer({ min: 0, max: 1 }),
          limit: fc.integer({ min: 1, max: 9 }),
        }),
        { minLength: 3, maxLength: 25 },
      ),
      (steps) =>
        Effect.gen(function* () {
          const log = yield* InMemoryEventLog.make
          const memories = [yield* memoryOver(log, options), yield* memoryOver(log, options)] as const
          for (const [at, { change, who, limit }] of steps.entries()) {
            yield* Effect.ignore(changes[change]!(memories[who as 0 | 1], at))
            const fresh = yield* memoryOver(log, options)
            const page = yield* fresh.messages("s", { limit })
            for (const memory of memories) {
              expect(yield* memory.messages("s", { limit })).toEqual(page)
              expect(yield* memory.known!.messages("s", { limit })).toEqual(page)
            }
          }
        }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None), Effect.runPromise),
    ),
    { numRuns: often(50, 2_000) },
  ))

it("is what the process knew last, until it asks the store, which refuses a write at that version", () =>
  Effect.gen(function* () {
    const log = yield* InMemoryEventLog.make
    const one = yield* memoryOver(log, options)
    const other = yield* memoryOver(log, options)
    yield* one.append("s", Message.user("first"))
    yield* other.append("s", Message.user("second"))
    const { known } = one
    expect((yield* known!.messages("s")).total).toBe(1)
    const ifVersion = (yield* known!.version("s"))!
    const refused = yield* Effect.flip(one.append("s", Message.user("third"), { ifVersion }))
    expect(refused).toMatchObject({ _tag: "VersionMismatch", version: 2, expected: 1 })
    // The refusal has brought the process up.
    expect((yield* known!.messages("s")).total).toBe(2)
    expect(yield* known!.version("unknown")).toBeNull()
  }).pipe(Effect.scoped, Effect.runPromise))

it("is answered at once, which takes no fiber, and as the store answers", () =>
  Effect.gen(function* () {
    const { known, ...memory } = yield* memoryOver(yield* InMemoryEventLog.make, options)
    const given = [Message.user("first"), ...result(1), Message.assistant("second")]
    yield* memory.append("s", given)
    yield* memory.edit("s", 3, Message.assistant("third"))
    for (const limit of [1, 3, 100]) {
      const page = known!.messages("s", { limit })
      expect(Exit.isExit(page)).toBe(true)
      expect(yield* page).toEqual(yield* memory.messages("s", { limit }))
    }
    const [branches, version, stored] = [
      known!.branches("s"),
      known!.version("s"),
      known!.asStored("s", given),
    ]
    expect([branches, version, stored].map(Exit.isExit)).toEqual([true, true, true])
    expect(yield* branches).toEqual(yield* memory.branches("s"))
    expect([yield* version, yield* stored]).toEqual([(yield* memory.state("s")).version, given])
    // What has to be checked or read is work.
    for (const page of [{ limit: 0 }, { length: 10 }, { before: "0.1.2" }, { branch: 0 }])
      expect(Exit.isExit(known!.messages("s", page))).toBe(false)
    expect(Exit.isExit(known!.branches("unknown"))).toBe(false)
  }).pipe(Effect.scoped, Effect.runPromise))
