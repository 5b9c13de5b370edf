import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger, LogLevel } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { gated, pairs, said, withMemory } from "@memfold/harness/engine"
import { conversation, pruningStrategy, strategy as anyStrategy } from "@memfold/testing/arbitrary"
import { type CompactionOutcome, EventLog, Memory, Message, Summarizer } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

/** Writes one of each word of what it covers, so that a preview of other messages writes another text. */
const words: Summarizer.Service = {
  name: "words",
  summarize: ({ messages, previous = "", from, to }) =>
    Effect.succeed({
      text: `${previous.slice(0, 20)} [${from},${to}) ${messages.map((message) => Message.text(message).slice(0, 3)).join(" ")}`,
    }),
}

/** An outcome without what no two compactions share: ids, and the end of the lease. */
const plain = (outcome: CompactionOutcome): unknown =>
  JSON.parse(
    JSON.stringify(outcome, (key, value: unknown) =>
      ["compaction", "leaseUntil", "supersedes"].includes(key) ||
      (key === "summary" && typeof value === "string")
        ? undefined
        : value,
    ),
  )

const shown = ({ messages, layout, tokens }: Memory.Preview["after"]) => ({
  messages: messages.map(({ metadata: _metadata, ...message }) => message),
  layout,
  tokens,
})

describe("a preview", () => {
  it("says what compact then does, and writes nothing", () =>
    fc.assert(
      fc.asyncProperty(
        conversation,
        fc.oneof(anyStrategy, pruningStrategy),
        fc.constantFrom("next", "due", "all"),
        async (messages, strategy, asked) => {
          const program = Effect.gen(function* () {
            const memory = yield* Memory.Memory
            const log = yield* EventLog.EventLog
            const half = Math.floor(messages.length / 2)
            yield* memory.append("s", messages.slice(0, half))
            yield* memory.compact("s", { which: "due" })
            yield* memory.append("s", messages.slice(half))
            const head = yield* log.head("s")
            const preview = yield* memory.preview("s", { which: asked, strategy })
            expect(yield* log.head("s")).toEqual(head)
            expect(shown(preview.before)).toEqual(shown(yield* memory.context("s", { strategy })))
            const outcomes =
              asked === "next"
                ? [yield* memory.compact("s", { strategy })].filter(({ _tag }) => _tag !== "Idle")
                : yield* memory.compact("s", { which: asked, strategy })
            expect(preview.compactions.map(({ outcome }) => plain(outcome))).toEqual(outcomes.map(plain))
            expect(shown(preview.after)).toEqual(shown(yield* memory.context("s", { strategy })))
          })
          const quiet = Logger.withMinimumLogLevel(program, LogLevel.None)
          await Effect.runPromise(Effect.provide(quiet, withMemory(manual, words)))
        },
      ),
      { numRuns: often(40, 200) },
    ))

  it.effect("names what would be replaced, and why nothing would be", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(3))
      expect(yield* memory.preview("s", { which: "due" })).toMatchObject({ compactions: [], idle: "not-due" })
      yield* memory.append("s", said(7, 3))
      yield* memory.compact("s")
      yield* memory.append("s", said(4, 10))
      const { compactions, idle, version, before, after } = yield* memory.preview("s")
      expect(compactions).toMatchObject([
        {
          outcome: { _tag: "Committed", started: { reason: "demand", from: 8, to: 12 } },
          replaced: { messages: 4, segments: [{ from: 0, to: 8 }] },
        },
      ])
      expect([idle, version]).toEqual([null, (yield* memory.state("s")).version])
      expect(after.tokens).toBeLessThan(before.tokens)
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("can ask another summarizer, and says how a summarizer fails", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(12))
      const refused = new Summarizer.SummarizerError({ session: "s", reason: "refused", detail: "no" })
      const failing = { name: "failing", summarize: () => Effect.fail(refused) }
      const failed = yield* memory.preview("s", { summarizer: failing })
      expect(failed).toMatchObject({
        summarizer: "failing",
        compactions: [
          { outcome: { _tag: "Failed", error: { reason: "refused" } }, replaced: { messages: 0 } },
        ],
      })
      expect(failed.after.messages).toEqual(failed.before.messages)
      expect(yield* memory.preview("s", { summarizer: words })).toMatchObject({
        summarizer: "words",
        compactions: [{ outcome: { committed: { summarizer: "words" } } }],
      })
      const wrong = yield* Effect.flip(memory.preview("s", { summarizer: {} as Summarizer.Service }))
      expect(wrong.message).toContain("summarizer")
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("does nothing where compaction is off, and respects a lock unless it is to be taken", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(12))
      const off = yield* Memory.make({ strategy: pairs, compaction: { mode: "off" } })
      expect(yield* off.preview("s")).toMatchObject({ compactions: [], idle: "off" })
      const { summarizer, entered, gate } = yield* gated
      const slow = yield* Effect.provideService(Memory.make(manual), Summarizer.Summarizer, summarizer)
      const running = yield* Effect.fork(slow.compact("s"))
      yield* Deferred.await(entered)
      expect(yield* memory.preview("s")).toMatchObject({ compactions: [], idle: "running" })
      expect((yield* memory.preview("s", { takeOver: true })).compactions).toHaveLength(1)
      yield* Deferred.succeed(gate, undefined)
      expect((yield* Fiber.join(running))._tag).toBe("Committed")
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )
})
