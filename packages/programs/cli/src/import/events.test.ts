import { InMemoryEventLog, Memory, Message, type Session, Verify } from "@memfold/core"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat, conversation, startOfTime } from "@memfold/testing/arbitrary"
import { boundaries, boundaryBefore } from "@memfold/testing/oracle"
import { eventsOf } from "./events.js"
import type { OldState, OldSummary } from "./OldState.js"
import { rangesOf } from "./ranges.js"
import {
  options,
  imported,
  summary,
  block,
  withImport,
  became,
  segments,
  totals,
} from "../../test/oldStates.js"

/** Times, ranges and statuses of all sorts, sensible or not. */
const summaries = (total: number): fc.Arbitrary<ReadonlyArray<OldSummary>> => {
  const index = fc.integer({ min: 0, max: total })
  const covers = fc.oneof(
    index.map((to) => (to === 0 ? [] : [{ from: 0, to }])),
    fc
      .tuple(index, index)
      .map(([one, other]) =>
        one === other ? [] : [{ from: Math.min(one, other), to: Math.max(one, other) }],
      ),
    fc
      .array(fc.integer({ min: 0, max: Math.max(total - 1, 0) }), { maxLength: 8 })
      .map((list) => (total === 0 ? [] : rangesOf(list))),
  )
  return fc.array(
    fc.record({
      id: fc.constantFrom("a", "b", "c", "d", ""),
      status: fc.constantFrom("active" as const, "superseded" as const, "invalid" as const),
      text: fc.oneof({ weight: 9, arbitrary: fc.constantFrom("one", "another") }, fc.constant(" ")),
      covers,
      time: fc.option(fc.integer({ min: startOfTime, max: startOfTime + 3_600_000 })),
      total: fc.option(fc.nat({ max: total + 3 })),
    }),
    { maxLength: 8 },
  )
}

const oldState: fc.Arbitrary<OldState> = conversation.chain((messages) =>
  summaries(messages.length).map((summaries) => ({ messages, summaries })),
)

/** A state without the batch id, which only a stored log has. */
const plainState = ({ uncovered, turnStarts, pinned, prefix, ...state }: Session.SessionState) => ({
  ...state,
  prefix: { ...prefix, batch: "" },
  raw: [...uncovered],
  turnStarts: [...turnStarts],
  pinned: [...pinned],
})

it("a damaged summary is left out, and its messages are summarized anew when that is due", async () => {
  const damaged = summary("a", 0, { damaged: "compact_up_to_index is 11, and there are 10 messages" })
  const imported = eventsOf({ messages: chat(10), summaries: [damaged] }, options)
  expect(imported.summaries).toMatchObject([
    {
      is: "left-out",
      notes: [
        "compact_up_to_index is 11, and there are 10 messages; its messages are summarized anew when that is due",
      ],
    },
  ])
  const outcomes = await withImport(imported, (memory) => memory.compact("s", { which: "due" }))
  expect(outcomes).toMatchObject([{ committed: { coveredTo: 6, segments: [{ text: "[0,6)" }] } }])
})

describe("whatever was in the old state", () => {
  it("verifies clean, and folds to the state that was reported (L1, L3, L5, L6)", () =>
    fc.assert(
      fc.asyncProperty(oldState, async (old) => {
        if (old.messages.length === 0) return
        const result = imported(old)
        const { findings, state } = await withImport(result, (memory, log) =>
          Effect.all({ findings: Verify.session(log, "s"), state: memory.state("s") }),
        )
        expect(findings).toEqual([])
        expect(plainState(state)).toEqual(plainState(result.state))
      }),
    ))

  it("has every message raw or covered, and covers none that no summary speaks of (L4)", () =>
    fc.assert(
      fc.property(oldState, (old) => {
        const { state, events } = imported(old)
        expect(state.total).toBe(old.messages.length)
        expect([...state.uncovered].map(({ index }) => index)).toEqual(
          old.messages.map((_, index) => index).slice(state.coveredTo),
        )
        const said = events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.message] : []))
        expect(said).toEqual(old.messages)
        // The leading system messages need no summary: they are pinned. They can be all there is.
        const first = old.messages.findIndex(({ role }) => role !== "system")
        for (let index = first === -1 ? state.total : first; index < state.coveredTo; index++) {
          expect(
            old.summaries.some(({ covers }) => covers.some(({ from, to }) => from <= index && index < to)),
          ).toBe(true)
        }
        expect(boundaries(old.messages)).toContain(state.coveredTo)
      }),
    ))

  it("says of each summary what became of it, as the log has it (L10)", () =>
    fc.assert(
      fc.asyncProperty(oldState, async (old) => {
        if (old.messages.length === 0) return
        const result = imported(old)
        const inLog = await withImport(result, (memory) => memory.summaries("s"))
        expect(result.summaries).toHaveLength(old.summaries.length)
        const active = inLog.filter(({ status }) => status === "active")
        expect(active).toHaveLength(result.state.summary === null ? 0 : 1)
        for (const [position, { id, is, notes, was, range }] of result.summaries.entries()) {
          const stored = inLog.find((one) => one.id === id)
          const { text } = old.summaries[position]!
          if (is === "left-out") {
            expect(stored).toBeUndefined()
            expect(notes.join()).not.toBe("")
            expect(range).toBeNull()
          } else if (is === "active") {
            expect(active[0]?.segments.map((segment) => segment.text)).toContain(text)
          } else if (stored !== undefined) {
            expect(stored.status).toBe(is)
          }
          if (is !== "left-out" && is !== was) expect(notes.join()).not.toBe("")
        }
      }),
    ))

  it("has an active summary if an active one begins at the start", () =>
    fc.assert(
      fc.property(oldState, (old) => {
        const newest = old.summaries.findLast(
          ({ status, covers, text }) => status === "active" && covers[0]?.from === 0 && text.trim() !== "",
        )
        if (newest === undefined || boundaryBefore(old.messages, newest.covers[0]!.to) === 0) return
        const { state } = imported(old)
        expect(state.summary).not.toBeNull()
      }),
    ))
})

describe("an invalid summary", () => {
  it("is committed and taken back at once; what was in force stays so", async () => {
    const result = imported({
      messages: chat(40),
      summaries: [summary("a", 10), summary("x", 20, { status: "invalid" }), summary("b", 30)],
    })
    expect(became(result)).toEqual([
      ["a", "superseded", 0, 10],
      ["x", "invalid", 0, 20],
      ["b", "active", 0, 30],
    ])
    const inLog = await withImport(result, (memory) => memory.summaries("s"))
    expect(inLog.map(({ id, status, text }) => [id, status, text])).toEqual([
      ["a", "superseded", "what a says"],
      ["x", "invalid", "what x says"],
      ["b", "active", "what b says"],
    ])
  })

  it("changes nothing for the summaries after it", () => {
    const x = block("x", 10, 20, { status: "invalid" })
    const alone = imported({ messages: chat(40), summaries: [block("a", 0, 10), x] })
    expect(segments(alone)).toEqual([["history", 0, 10, "what a says"]])
    const followed = imported({ messages: chat(40), summaries: [block("a", 0, 10), x, block("b", 10, 20)] })
    expect(became(followed)).toEqual([
      ["a", "active", 0, 10],
      ["x", "invalid", 10, 20],
      ["b", "active", 10, 20],
    ])
  })

  it("leaves everything raw where it is the only one", () => {
    const result = imported({ messages: chat(10), summaries: [summary("x", 5, { status: "invalid" })] })
    expect(result.state).toMatchObject({ coveredTo: 0, summary: null })
    expect(became(result)).toEqual([["x", "invalid", 0, 5]])
  })
})

describe("boundaries (L5)", () => {
  const calling = Message.call([{ id: "1", name: "weather", arguments: "{}" }])
  const messages = [
    Message.user("weather?"),
    calling,
    Message.result({ id: "1", output: "rain" }),
    Message.assistant("It rains."),
    ...chat(4),
  ]

  it("move back to the start of a group of tool calls, and the report says so", () => {
    const result = imported({ messages, summaries: [summary("a", 2)] })
    expect(result.state.coveredTo).toBe(1)
    expect(result.summaries[0]?.notes).toEqual([
      "it ends at 1 instead of 2, which would cut a group of tool calls",
    ])
  })

  it("between two blocks keep both texts", () => {
    const result = imported({ messages, summaries: [block("a", 0, 2), block("b", 2, 6)] })
    expect(segments(result)).toEqual([
      ["block", 0, 1, "what a says"],
      ["block", 1, 6, "what b says"],
    ])
  })

  it("leave a summary out of which nothing remains", () => {
    const result = imported({ messages: [calling, ...messages.slice(2)], summaries: [summary("a", 1)] })
    expect(became(result)).toEqual([["a", "left-out"]])
    expect(result.summaries[0]?.notes).toEqual(["its messages are in the middle of a group of tool calls"])
  })

  it("may be after a call that never was answered, seen once the user has gone on", () => {
    const dead = [Message.user("weather?"), calling, ...chat(6)]
    const result = imported({ messages: dead, summaries: [summary("a", 2)] })
    expect(result.state.coveredTo).toBe(2)
    expect(totals(result)).toEqual([["a", 3]])
  })
})

describe("times", () => {
  const minute = 60_000
  const timed = chat(20).map((message, index) => ({ ...message, time: startOfTime + index * minute }))
  const at = (minutes: number) => startOfTime + minutes * minute

  it("are the old ones, in the envelopes of messages and summaries (design 1: the cooldown goes on)", () => {
    const { events, state } = imported({ messages: timed, summaries: [summary("a", 5, { time: at(9) })] })
    expect(state.lastCompactionTime).toBe(at(9))
    for (const { time, event } of events) {
      expect(time).toBe(event._tag === "MessageAppended" ? event.message.time : startOfTime + 9 * minute)
    }
  })

  it("tell after which messages a summary was made, if it does not say so itself", () => {
    const made = (rest: Partial<OldSummary>, messages: OldState["messages"] = timed) =>
      totals(imported({ messages, summaries: [summary("a", 5, rest)] }))[0]?.[1]
    expect(made({ total: 12, time: at(9) })).toBe(12)
    expect(made({ total: 2 })).toBe(5)
    expect(made({ total: 1_700_000_000 })).toBe(5)
    expect(made({ time: at(9) })).toBe(10)
    expect(made({ time: at(1) })).toBe(5)
    expect(made({ time: at(99) })).toBe(20)
    expect(made({ time: at(9) }, chat(20))).toBe(5)
    expect(made({})).toBe(5)
  })

  it("that are missing are taken from the messages around, or are now", () => {
    const some = timed.map(({ time, ...message }, index) =>
      index % 5 === 2 ? { ...message, time } : message,
    )
    const { events, state } = imported({ messages: some, summaries: [summary("a", 5)] })
    expect(events.slice(0, 5).map(({ time }) => time)).toEqual(Array(5).fill(at(2)))
    expect(state.lastCompactionTime).toBe(at(2))
    const none = imported({ messages: chat(4), summaries: [summary("a", 2)] })
    expect(none.events.map(({ time }) => time)).toEqual(Array(none.events.length).fill(options.now))
  })
})

describe("what is counted", () => {
  it("is as an append and a commit would count it", async () => {
    const { events } = imported({ messages: chat(10), summaries: [summary("a", 4), summary("b", 6)] })
    const appended = await Effect.gen(function* () {
      const memory = yield* Memory.make({ strategy: RollingBuffer(), compaction: { mode: "manual" } }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
      )
      yield* memory.append("s", chat(10))
      return yield* memory.state("s")
    }).pipe(Effect.scoped, Effect.provide(InMemoryEventLog.layer), Effect.runPromise)
    const tokens = events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.tokens] : []))
    expect(tokens).toEqual([...appended.uncovered].map((entry) => entry.tokens))
    const [first, second] = events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event] : []))
    const covered = tokens.slice(0, 4).reduce((sum, one) => sum + one, 0)
    expect(first!.tokensBefore).toBe(covered)
    expect(first!.tokensAfter).toBe(first!.tokens)
    const more = tokens[4]! + tokens[5]!
    expect(second!.tokensBefore).toBe(first!.tokens + more)
    expect(second!.tokensAfter).toBe(second!.tokens)
  })
})

describe("ids", () => {
  it("are the old ones where they tell summaries apart", async () => {
    const summaries = [summary("a", 2), summary("a", 4), summary("", 6)]
    const result = imported({ messages: chat(10), summaries })
    expect(result.summaries.map(({ id }) => id)).toEqual(["a", "import-2", "import-3"])
    const inLog = await withImport(result, (memory) => memory.summaries("s"))
    expect(inLog.map(({ id }) => id)).toEqual(["a", "import-2", "import-3"])
  })
})
