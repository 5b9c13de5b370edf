/** Undoing a revert, a recompaction and a compaction: the context before is there again, by new events. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger, LogLevel, Stream } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { blocks, pairs, said, withMemory, withoutSummaryIds } from "@memfold/harness/engine"
import {
  EventLog,
  Keep,
  Memory,
  Message,
  Prune,
  type Render,
  Session,
  Strategy,
  SummaryMode,
  Trigger,
  Verify,
} from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const pruning = Strategy.make({
  name: "pruning",
  when: Trigger.backlog({ messages: 1 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.none,
  prune: [Prune.softTrim({ keep: Keep.lastMessages(2), above: 200, head: 20, tail: 20 })],
})

/** Shortens tool outputs with a summary. */
const both = Strategy.make({
  name: "both",
  when: Trigger.backlog({ messages: 3 }),
  keep: Keep.lastMessages(6),
  summaryMode: SummaryMode.rolling,
  prune: [Prune.softTrim({ keep: Keep.lastMessages(1), above: 200, head: 20, tail: 20 })],
})

const strategies = { pairs, blocks, pruning, both } as const

const clean = Effect.gen(function* () {
  expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
})

/** A context without the ids of summaries: what is committed again has new ones. */
const shown = ({ messages, layout, tokens }: Render.Context) => ({
  layout,
  tokens,
  messages: withoutSummaryIds(messages),
})

/** Fourteen messages, compacted three times: `[0,4)`, `[0,8)`, `[0,12)`. */
const thrice = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  for (const [count, start] of [
    [6, 0],
    [4, 6],
    [4, 10],
  ] as const) {
    yield* memory.append("s", said(count, start))
    yield* memory.compact("s", { which: "due" })
  }
  const summaries = yield* memory.summaries("s")
  expect(summaries.map(({ coveredTo }) => coveredTo)).toEqual([4, 8, 12])
  const look = Effect.map(memory.context("s"), shown)
  return { memory, ids: summaries.map(({ id }) => id), look, full: yield* look }
})

describe("undo of a revert", () => {
  it.effect("has the context again that the revert took away, also with messages since", () =>
    Effect.gen(function* () {
      const { memory, ids, look, full } = yield* thrice
      for (const toSummary of [ids[0]!, null]) {
        yield* memory.revert("s", { toSummary })
        expect(yield* look).not.toEqual(full)
        expect(yield* memory.undo("s")).toMatchObject({ undone: "revert" })
        expect(yield* look).toEqual(full)
        yield* clean
        // It ends the pause of the revert.
        expect((yield* memory.state("s")).pausedUntil).toBe(0)
      }
      yield* memory.revert("s")
      yield* memory.append("s", said(1, 14))
      yield* memory.undo("s")
      const { messages, layout } = yield* memory.context("s")
      expect(layout.find(({ section }) => section === "summary")).toMatchObject({ from: 0, to: 12 })
      expect(messages.at(-1)).toMatchObject(said(1, 14)[0]!)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("can be undone: then the revert is done again, and holds compactions", () =>
    Effect.gen(function* () {
      const { memory, ids, look, full } = yield* thrice
      yield* memory.revert("s", { toSummary: ids[0]! })
      const reverted = yield* look
      for (let time = 0; time < 3; time++) {
        expect(yield* memory.undo("s")).toMatchObject({ undone: "revert" })
        expect(yield* look).toEqual(full)
        expect(yield* memory.undo("s", { pauseFor: 7 })).toMatchObject({ undone: "revert" })
        expect(yield* look).toEqual(reverted)
        expect((yield* memory.state("s")).pausedUntil).toBe(14 + 7)
      }
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("commits one summary again where that says all, and each block of a summary in blocks", () =>
    Effect.gen(function* () {
      const { memory } = yield* thrice
      const commits = Effect.map(
        Stream.runCollect(Session.readEvents(yield* EventLog.EventLog, "s")),
        (events) => [...events].filter(({ event }) => event._tag === "SummaryCommitted").length,
      )
      yield* memory.revert("s")
      yield* memory.undo("s")
      expect(yield* commits).toBe(4)
      yield* memory.compact("s", { which: "all", strategy: blocks })
      expect(yield* commits).toBe(7)
      const inBlocks = shown(yield* memory.context("s"))
      yield* memory.revert("s")
      yield* memory.undo("s")
      expect(shown(yield* memory.context("s"))).toEqual(inBlocks)
      expect(yield* commits).toBe(10)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("is not done once a message was redacted: summaries may have lost their text", () =>
    Effect.gen(function* () {
      const { memory } = yield* thrice
      yield* memory.revert("s")
      yield* memory.redact("s", 2)
      const before = shown(yield* memory.context("s"))
      expect(yield* memory.undo("s")).toMatchObject({ undone: null })
      expect(shown(yield* memory.context("s"))).toEqual(before)
      yield* memory.compact("s")
      expect(yield* memory.undo("s")).toMatchObject({ undone: "compaction" })
      expect(shown(yield* memory.context("s"))).toEqual(before)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("is not reached behind an edit: undo takes the edit back, and then makes it again", () =>
    Effect.gen(function* () {
      const { memory, look } = yield* thrice
      yield* memory.revert("s")
      const reverted = yield* look
      yield* memory.edit("s", 13, said(1, 20))
      const edited = yield* look
      expect(yield* memory.undo("s")).toMatchObject({ undone: "branch" })
      expect(yield* look).toEqual(reverted)
      expect(yield* memory.undo("s")).toMatchObject({ undone: "branch" })
      expect(yield* look).toEqual(edited)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("undo of a recompaction", () => {
  it.effect("takes back all that it committed, and has the summary before it again", () =>
    Effect.gen(function* () {
      const { memory, look, full } = yield* thrice
      expect((yield* memory.compact("s", { which: "all", strategy: blocks })).length).toBeGreaterThan(2)
      const anew = yield* look
      expect(yield* memory.undo("s")).toMatchObject({ undone: "revert" })
      expect(yield* look).toEqual(full)
      expect((yield* memory.state("s")).pausedUntil).toBe(0)
      expect(yield* memory.undo("s", { pauseFor: 0 })).toMatchObject({ undone: "revert" })
      expect(yield* look).toEqual(anew)
      yield* memory.undo("s")
      expect(yield* look).toEqual(full)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("takes back a compaction that came behind more messages by itself", () =>
    Effect.gen(function* () {
      const { memory, look, full } = yield* thrice
      yield* memory.compact("s", { which: "all" })
      yield* memory.append("s", said(4, 14))
      const anew = yield* look
      yield* memory.compact("s")
      expect(yield* memory.undo("s")).toMatchObject({ undone: "compaction" })
      expect(yield* look).toEqual(anew)
      // The newest change was an undo, and the one before it was the recompaction's own compaction.
      expect(yield* memory.undo("s")).toMatchObject({ undone: "revert" })
      expect((yield* look).layout.find(({ section }) => section === "summary")).toEqual(
        full.layout.find(({ section }) => section === "summary"),
      )
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("undo of a compaction", () => {
  it.effect("goes on with the one before it", () =>
    Effect.gen(function* () {
      const { memory } = yield* thrice
      for (const coveredTo of [8, 4, 0]) {
        expect(yield* memory.undo("s")).toMatchObject({ undone: "compaction" })
        expect((yield* memory.state("s")).coveredTo).toBe(coveredTo)
      }
      expect(yield* memory.undo("s")).toMatchObject({ undone: null })
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("that only shortened tool outputs leaves the summary before it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const output = "line\n".repeat(400)
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due", strategy: pairs })
      const { summary } = yield* memory.state("s")
      yield* memory.append("s", [
        Message.user("Read it"),
        Message.call([{ id: "c", name: "read", arguments: "{}" }]),
        Message.result({ id: "c", output }),
        ...said(4, 9),
      ])
      const before = shown(yield* memory.context("s"))
      expect(yield* memory.compact("s", { which: "due", strategy: pruning })).toMatchObject([
        { _tag: "Pruned" },
      ])
      const pruned = shown(yield* memory.context("s"))
      expect(pruned.tokens).toBeLessThan(before.tokens)
      expect(yield* memory.undo("s")).toMatchObject({ undone: "compaction" })
      expect(shown(yield* memory.context("s"))).toEqual(before)
      expect((yield* memory.state("s")).summary?.id).toBe(summary?.id)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("undo", () => {
  const strategy = fc.constantFrom(...(Object.keys(strategies) as Array<keyof typeof strategies>))
  const act = fc.oneof(
    fc.record({ act: fc.constant("compact" as const), strategy }),
    fc.record({ act: fc.constant("recompact" as const), strategy }),
    fc.record({ act: fc.constant("revert" as const), which: fc.nat(9) }),
    fc.record({ act: fc.constant("undo" as const), times: fc.integer({ min: 1, max: 3 }) }),
  )
  const steps = fc.array(fc.record({ messages: fc.integer({ min: 1, max: 6 }), one: act }), { maxLength: 8 })

  it("of what was done has the context from before, whatever came earlier", () =>
    fc.assert(
      fc.asyncProperty(steps, (steps) =>
        Effect.gen(function* () {
          const memory = yield* Memory.Memory
          const output = "line of a file\n".repeat(60)
          for (const { messages, one } of steps) {
            yield* memory.append("s", [
              ...said(messages),
              Message.call([{ id: "c", name: "read", arguments: "{}" }]),
              Message.result({ id: "c", output }),
            ])
            const before = shown(yield* memory.context("s"))
            const { version, summary } = yield* memory.state("s")
            if (one.act === "undo") for (let time = 0; time < one.times; time++) yield* memory.undo("s")
            else {
              if (one.act === "revert") {
                const known = (yield* memory.summaries("s")).filter(({ status }) => status !== "invalid")
                const toSummary = known[one.which % (known.length + 1)]?.id ?? null
                yield* memory.revert("s", { toSummary, pauseFor: 0 })
              } else
                yield* memory.compact("s", {
                  which: one.act === "compact" ? "due" : "all",
                  strategy: strategies[one.strategy],
                })
              // Each compaction is a step, unless they belong to a recompaction that took a summary back.
              const isOne = one.act === "revert" || (one.act === "recompact" && summary !== null)
              const steps = (yield* memory.state("s")).version === version ? 0 : isOne ? 1 : 20
              for (
                let time = 0;
                time < steps && JSON.stringify(shown(yield* memory.context("s"))) !== JSON.stringify(before);
                time++
              )
                yield* memory.undo("s", { pauseFor: 0 })
              expect(shown(yield* memory.context("s"))).toEqual(before)
            }
            yield* clean
          }
        }).pipe(
          Effect.provide(withMemory(manual)),
          Logger.withMinimumLogLevel(LogLevel.Warning),
          Effect.runPromise,
        ),
      ),
      { numRuns: often(12, 1_000) },
    ))
})
