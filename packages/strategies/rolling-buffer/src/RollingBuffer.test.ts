import { Message } from "@memfold/core"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { decisions, oneByOne, ofTokens, runOf, unmarked } from "@memfold/testing"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "./index.js"

interface Compaction {
  readonly total: number
  readonly from: number
  readonly to: number
}

/** The reference's store: emptied and filled with the recent messages when it has more than twice the buffer. */
const reference = (batches: ReadonlyArray<number>, bufferSize: number): ReadonlyArray<Compaction> => {
  const found: Array<Compaction> = []
  let stored = 0
  let total = 0
  for (const count of batches) {
    stored += count
    total += count
    if (stored <= bufferSize * 2) continue
    found.push({ total, from: total - stored, to: total - bufferSize })
    stored = bufferSize
  }
  return found
}

const ours = (batches: ReadonlyArray<number>, bufferSize: number): ReadonlyArray<Compaction> => {
  let from = 0
  const messages = batches.map((count) => chat(count, (from += count) - count))
  return decisions(RollingBuffer({ bufferSize }), messages).map(({ total, from, to }) => ({
    total,
    from,
    to,
  }))
}

const ones = (count: number) => Array.from({ length: count }, () => 1)

describe("a rolling buffer", () => {
  it("does nothing up to twice its size, then folds all but its size", () => {
    expect(ours(ones(8), 4)).toEqual([])
    expect(ours(ones(9), 4)).toEqual([{ total: 9, from: 0, to: 5 }])
    expect(ours(ones(20), 4)).toEqual([
      { total: 9, from: 0, to: 5 },
      { total: 14, from: 5, to: 10 },
      { total: 19, from: 10, to: 15 },
    ])
  })

  it("does what the reference does, for every total up to 300 and other sizes", () => {
    for (const bufferSize of [1, 2, 3, 4, 10, 50, 149, 150]) {
      expect(ours(ones(300), bufferSize)).toEqual(reference(ones(300), bufferSize))
    }
  })

  it("does what the reference does when messages arrive together", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 15 }),
        fc.integer({ min: 1, max: 12 }),
        (batches, bufferSize) => {
          expect(ours(batches, bufferSize)).toEqual(reference(batches, bufferSize))
        },
      ),
    )
  })

  it("keeps one summary, written anew from the one before", async () => {
    const { state, events, moments } = await runOf(RollingBuffer(), oneByOne(chat(20)))
    expect(state.summary?.segments).toEqual([{ kind: "history", from: 0, to: 15, text: "[0,15)" }])
    expect(state.supersededCount).toBe(2)
    expect(events.filter(({ event }) => event._tag === "SummaryCommitted")).toHaveLength(3)
    expect(unmarked(moments.at(-1)!.context.messages)).toEqual([
      Message.system("Summary of earlier conversation: [0,15)"),
      ...chat(5, 15),
    ])
    expect(Math.max(...moments.map(({ state }) => state.uncovered.length))).toBe(9)
  })

  it("keeps a group whole, even where that means to wait", () => {
    const calls = Array.from({ length: 8 }, (_, position) => ({
      id: `c${position}`,
      name: "t",
      arguments: "{}",
    }))
    const messages = [
      Message.user("q"),
      Message.call(calls),
      ...calls.map(({ id }) => Message.result({ id, output: "x" })),
    ]
    expect(decisions(RollingBuffer(), oneByOne(messages))).toMatchObject([{ total: 9, from: 0, to: 1 }])
    const welcome = messages.slice(1)
    expect(decisions(RollingBuffer(), oneByOne(welcome))).toEqual([])
    expect(decisions(RollingBuffer(), oneByOne([...welcome, ...chat(4)]))).toMatchObject([
      { total: 13, from: 0, to: 9 },
    ])
  })

  it("has one setting", () => {
    expect(RollingBuffer.defaults).toEqual({ bufferSize: 4 })
    expect(
      decisions(Either.getOrThrow(RollingBuffer.decode({ buffer_size: 1 })), oneByOne(chat(3))),
    ).toMatchObject([{ total: 3, from: 0, to: 2 }])
    for (const bufferSize of [0, -1, 1.5, "4"]) {
      expect(Either.isLeft(RollingBuffer.decode({ bufferSize }))).toBe(true)
    }
  })
})

describe("a window", () => {
  it("has exactly the newest messages, and asks no summarizer", async () => {
    const { moments, events } = await runOf(Window({ windowSize: 5 }), oneByOne(chat(12)))
    const settled = moments.filter((moment) => moment.settled)
    settled.forEach(({ context }, index) => {
      expect(unmarked(context.messages)).toEqual(chat(12).slice(Math.max(0, index - 4), index + 1))
    })
    const commits = events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event] : []))
    expect(commits).toHaveLength(7)
    expect(commits.every(({ calls, segments }) => calls === 0 && segments.length === 0)).toBe(true)
  })
})

/** Messages of 30 tokens each, questions and answers in turn. */
const sized = (count: number) =>
  Array.from({ length: count }, (_, index) => ofTokens(index % 2 === 0 ? "user" : "assistant", 30))

describe("a token buffer", () => {
  it("has the newest messages that fit, and asks no summarizer", async () => {
    const { moments, events } = await runOf(TokenBuffer({ maxTokens: 100 }), oneByOne(sized(9)))
    const settled = moments.filter((moment) => moment.settled)
    expect(settled.map(({ state }) => state.uncovered.length)).toEqual([1, 2, 3, 3, 3, 3, 3, 3, 3])
    expect(settled.every(({ context }) => context.tokens <= 100)).toBe(true)
    const calls = events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event.calls] : []))
    expect(calls).toEqual([0, 0, 0, 0, 0, 0])
  })
})

it.each([TokenBuffer, SummaryBuffer])("a message beyond the limit is sent all the same: %#", async (make) => {
  const huge = ofTokens("user", 300)
  const { moments, state } = await runOf(make({ maxTokens: 100 }), oneByOne([...sized(2), huge]))
  expect(state.uncovered.length).toBe(1)
  expect(unmarked(moments.at(-1)!.context.messages).at(-1)).toEqual(huge)
})

describe("a summary buffer", () => {
  it("has the newest messages that fit, and a summary of all before them", async () => {
    const messages = sized(9)
    const { moments, state } = await runOf(SummaryBuffer({ maxTokens: 100 }), oneByOne(messages))
    expect(state.uncovered.length).toBe(3)
    expect(unmarked(moments.at(-1)!.context.messages)).toEqual([
      Message.system("Summary of earlier conversation: [0,6)"),
      ...messages.slice(6),
    ])
  })
})
