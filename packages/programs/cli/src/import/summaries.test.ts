import { Message } from "@memfold/core"
import { Rounds } from "@memfold/strategy-rounds"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import type { OldState, OldSummary } from "./OldState.js"
import { rangesOf } from "./ranges.js"
import { imported, summary, block, withImport, became, segments } from "../../test/oldStates.js"

describe("cumulative summaries", () => {
  const old: OldState = {
    messages: chat(40),
    summaries: [summary("a", 10, { status: "superseded" }), summary("b", 20), summary("c", 30)],
  }

  it("give way one to the next, and the newest active one holds (L1)", async () => {
    const result = imported(old)
    expect(became(result)).toEqual([
      ["a", "superseded", 0, 10],
      ["b", "superseded", 0, 20],
      ["c", "active", 0, 30],
    ])
    expect(segments(result)).toEqual([["history", 0, 30, "what c says"]])
    expect(
      result.events.flatMap(({ event }) => (event._tag === "SummarySuperseded" ? [event] : [])),
    ).toMatchObject([
      { summary: "a", by: "b" },
      { summary: "b", by: "c" },
    ])
    expect(result.events.find(({ event }) => event._tag === "CompactionStarted")).toMatchObject({
      event: { strategy: "import", reason: "import", from: 0, to: 10 },
    })
    expect(result.state.supersededCount).toBe(2)
  })

  it("leave out a summary that covers more than a newer summary (L3)", () => {
    const result = imported({
      ...old,
      summaries: [summary("a", 30, { status: "superseded" }), summary("b", 20)],
    })
    expect(became(result)).toEqual([
      ["a", "left-out"],
      ["b", "active", 0, 20],
    ])
    expect(result.summaries[0]?.notes).toEqual(["it covers more than a newer one, which ends at 20"])
  })

  it("of which two are active count as the newer one says, though it covers less", () => {
    const result = imported({ ...old, summaries: [summary("a", 30), summary("b", 20)] })
    expect(became(result)).toEqual([
      ["a", "left-out"],
      ["b", "active", 0, 20],
    ])
  })

  it("keep the active one where a superseded one is newer", () => {
    const result = imported({
      ...old,
      summaries: [summary("a", 20), summary("b", 30, { status: "superseded" })],
    })
    expect(became(result)).toEqual([
      ["a", "active", 0, 20],
      ["b", "left-out"],
    ])
  })

  it("are in force again where what took their place is not there", () => {
    const result = imported({
      ...old,
      summaries: [summary("a", 10, { status: "superseded" }), summary("b", 20, { text: "" })],
    })
    expect(became(result)).toEqual([
      ["a", "active", 0, 10],
      ["b", "left-out"],
    ])
    expect(result.summaries.map(({ notes }) => notes)).toEqual([
      ["nothing that is there took its place"],
      ["it has no text"],
    ])
  })

  it("count as what their program may have read, and what rests on them, too", async () => {
    for (const given of [old, { ...old, summaries: [block("a", 0, 10), block("b", 10, 20)] }]) {
      const result = imported(given)
      expect(new Set(result.state.summary?.origins)).toEqual(new Set(["tool"]))
      const after = await withImport(result, (memory) =>
        Effect.gen(function* () {
          yield* memory.compact("s")
          yield* memory.fork("s", "fork")
          return yield* memory.state("fork")
        }),
      )
      expect(after.summary?.origins).toEqual(["tool"])
    }
  })

  it("may be written anew for the same messages", () => {
    const result = imported({
      ...old,
      summaries: [summary("a", 10, { status: "superseded" }), summary("b", 10)],
    })
    expect(became(result)).toEqual([
      ["a", "superseded", 0, 10],
      ["b", "active", 0, 10],
    ])
    expect(segments(result)).toEqual([["history", 0, 10, "what b says"]])
  })
})

describe("several active summaries of ranges that follow one another", () => {
  const old: OldState = {
    messages: chat(40),
    summaries: [block("a", 0, 10), block("b", 10, 20), block("c", 20, 30)],
  }

  it("are blocks of one summary (L1)", () => {
    const result = imported(old)
    expect(became(result)).toEqual([
      ["a", "active", 0, 10],
      ["b", "active", 10, 20],
      ["c", "active", 20, 30],
    ])
    expect(segments(result)).toEqual([
      ["block", 0, 10, "what a says"],
      ["block", 10, 20, "what b says"],
      ["block", 20, 30, "what c says"],
    ])
    const carried = result.events.flatMap(({ event }) =>
      event._tag === "SummaryCommitted" ? [event.carried] : [],
    )
    expect(carried).toEqual([0, 1, 2])
  })

  it("are merged at the next rolling compaction, and carried on by one of blocks", async () => {
    const rolling = await withImport(imported(old), (memory) =>
      Effect.zipRight(memory.compact("s"), memory.state("s")),
    )
    expect(rolling.summary?.segments).toMatchObject([{ kind: "history", from: 0, to: 36, text: "[0,36)" }])
    const blocks = await withImport(
      imported(old),
      (memory) => Effect.zipRight(memory.compact("s"), memory.state("s")),
      Rounds({ fullContextTurns: 2, cachedContextTurns: 1 }),
    )
    expect(blocks.summary?.segments.map(({ kind, text }) => [kind, text])).toEqual([
      ["block", "what a says"],
      ["block", "what b says"],
      ["block", "what c says"],
      ["block", "[30,32)"],
    ])
  })

  it("are put in the order of their ranges, whatever the order they came in", () => {
    const [a, b, c] = old.summaries as [OldSummary, OldSummary, OldSummary]
    const result = imported({ ...old, summaries: [c, b, a] })
    expect(segments(result)).toEqual(segments(imported(old)))
  })

  it("end at the first hole; what lies beyond stays raw, and the report says why (L3)", () => {
    const result = imported({ ...old, summaries: [block("a", 0, 10), block("c", 20, 30)] })
    expect(result.state.coveredTo).toBe(10)
    expect(became(result)).toEqual([
      ["a", "active", 0, 10],
      ["c", "left-out"],
    ])
    expect(result.summaries[1]?.notes).toEqual(["message 10 before it is in no summary"])
  })

  it("give way to a newer summary of their messages", () => {
    const result = imported({ ...old, summaries: [...old.summaries, block("d", 10, 35)] })
    expect(segments(result)).toEqual([
      ["block", 0, 10, "what a says"],
      ["block", 10, 35, "what d says"],
    ])
    expect(became(result).map(([, is]) => is)).toEqual(["active", "superseded", "superseded", "active"])
  })

  it("cover nothing twice where they overlap", () => {
    const result = imported({ ...old, summaries: [block("a", 0, 10), block("b", 5, 15), block("c", 2, 8)] })
    expect(became(result)).toEqual([
      ["a", "active", 0, 10],
      ["b", "active", 10, 15],
      ["c", "left-out"],
    ])
    expect(result.summaries[1]?.notes).toEqual(["the messages before 10 are covered by another one"])
    expect(result.summaries[2]?.notes).toEqual(["its messages are covered by another one"])
  })
})

describe("a rolling summary", () => {
  it("speaks of what it was merged from, though it lists its own messages alone", () => {
    const result = imported({
      messages: chat(40),
      summaries: [
        block("a", 0, 10, { status: "superseded" }),
        block("b", 10, 20, { status: "superseded" }),
        block("c", 20, 30),
      ],
    })
    expect(became(result)).toEqual([
      ["a", "superseded", 0, 10],
      ["b", "superseded", 0, 20],
      ["c", "active", 0, 30],
    ])
    expect(segments(result)).toEqual([["history", 0, 30, "what c says"]])
  })

  it("is merged with the newest of several active ones, and the others stay blocks before it", () => {
    const result = imported({
      messages: chat(40),
      summaries: [block("a", 0, 10), block("b", 10, 20, { status: "superseded" }), block("c", 20, 30)],
    })
    expect(segments(result)).toEqual([
      ["block", 0, 10, "what a says"],
      ["block", 10, 30, "what c says"],
    ])
  })

  it("reaches as far as it has no hole", () => {
    const gappy = summary("a", 12, { covers: rangesOf([0, 1, 2, 3, 5, 6]) })
    const result = imported({ messages: chat(20), summaries: [gappy] })
    expect(result.state.coveredTo).toBe(4)
    expect(result.summaries[0]?.notes).toEqual([
      "message 4 is not in it; the messages from there on stay uncovered",
    ])
  })

  it("begins at the start if only the system prompt is before it", () => {
    const messages = [Message.system("Be kind."), ...chat(20)]
    expect(became(imported({ messages, summaries: [block("a", 1, 9)] }))).toEqual([["a", "active", 0, 9]])
    expect(became(imported({ messages: chat(20), summaries: [block("a", 1, 9)] }))).toEqual([
      ["a", "left-out"],
    ])
  })
})

describe("a split turn", () => {
  const split = (to: number, rest: Partial<OldSummary> = {}) =>
    summary("a", to, { text: "history", turnPrefix: "prefix", ...rest })

  it("is a history and the beginning of the newest round, in the words of reference design 3", async () => {
    const messages = [
      ...chat(10),
      Message.user("Now everything at once."),
      ...Array(6).fill(Message.assistant("step")),
    ]
    const result = imported({ messages, summaries: [split(14)] })
    expect(segments(result)).toEqual([
      ["history", 0, 10, "history"],
      ["turn-prefix", 10, 14, "prefix"],
    ])
    expect(result.events.find(({ event }) => event._tag === "CompactionStarted")?.event).toMatchObject({
      tailFrom: 10,
      parts: [
        { kind: "history", from: 0, to: 10 },
        { kind: "turn-prefix", from: 10, to: 14 },
      ],
    })
    const { messages: shown } = await withImport(result, (memory) => memory.context("s"))
    expect(Message.text(shown[0]!)).toBe(
      "[Conversation Summary]\nhistory\n\n---\n\n**Turn Context (split turn):**\n\nprefix",
    )
  })

  it("may end where the next round begins", () => {
    expect(segments(imported({ messages: chat(20), summaries: [split(10)] }))).toEqual([
      ["history", 0, 8, "history"],
      ["turn-prefix", 8, 10, "prefix"],
    ])
  })

  it("has no history in a conversation of one turn", () => {
    const messages = [Message.user("Do everything."), ...Array(8).fill(Message.assistant("step"))]
    expect(segments(imported({ messages, summaries: [split(5, { text: "" })] }))).toEqual([
      ["turn-prefix", 0, 5, "prefix"],
    ])
    expect(segments(imported({ messages, summaries: [split(5)] }))).toEqual([
      ["turn-prefix", 0, 5, "history\n\n---\n\n**Turn Context (split turn):**\n\nprefix"],
    ])
  })
})
