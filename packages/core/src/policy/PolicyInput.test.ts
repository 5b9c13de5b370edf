import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat, conversation } from "@memfold/testing/arbitrary"
import * as oracles from "@memfold/testing/oracle"
import { after, appended, committed, started, stateOf } from "@memfold/testing"
import { Message } from "../index.js"
import { make } from "./PolicyInput.js"

const { assistant, call, result, user } = Message

const now = 1_700_000_100_000

/** What the view on these messages has to say, each question answered by looking at all of them. */
const asked = (
  messages: ReadonlyArray<Message.Message>,
  tokens: ReadonlyArray<number>,
  coveredTo: number,
) => {
  const total = messages.length
  const sum = (from: number, to: number) => tokens.slice(from, to).reduce((one, other) => one + other, 0)
  const everywhere = Array.from({ length: total - coveredTo + 1 }, (_, offset) => coveredTo + offset)
  const all = oracles.turnStarts(messages)
  const starts = all.filter((start) => start >= coveredTo)
  const complete = oracles.turnComplete(messages)
  const ends = starts.flatMap((_, n) => starts[n + 1] ?? (complete ? [total] : []))
  const newest = all.at(-1)
  return {
    total,
    coveredTo,
    contextTokens: (coveredTo === 0 ? 0 : 7) + sum(coveredTo, total),
    tokens: everywhere.map((from) => everywhere.map((to) => (from <= to ? sum(from, to) : 0))),
    startOfLastTokens: [0, 1, 5, 20, 10_000].map((limit) =>
      everywhere.find((from) => sum(from, total) <= limit),
    ),
    completeTurns: ends.length,
    completeTurnsTo: everywhere.map((position) => ends.filter((end) => end <= position).length),
    turnStart: [-2, -1, 0, 1, 2, 50].map((n) => (n < 0 ? coveredTo : (starts[n] ?? total))),
    currentTurn: newest === undefined ? total : Math.max(newest, coveredTo),
    openTurn: newest === undefined || complete ? total : Math.max(newest, coveredTo),
  }
}

it("answers every question as a look at the whole conversation does", () => {
  fc.assert(
    fc.property(conversation, fc.nat(), (conversation, cut) => {
      const messages = conversation.map(({ pinned: _pinned, usage: _usage, ...message }) => message)
      const boundaries = oracles.boundaries(messages)
      const coveredTo = boundaries[cut % boundaries.length]!
      const tokens = messages.map((_, index) => (index * 7) % 11)
      const state = after(
        ...appended(messages).map((event, index) => ({ ...event, tokens: tokens[index]! })),
        ...(coveredTo === 0 ? [] : [started(coveredTo), committed(coveredTo)]),
      )
      // What is pinned takes room in the context wherever it stands; that is for another test.
      const view = make({ ...state, pinned: [] }, now)
      const everywhere = Array.from({ length: view.total - coveredTo + 1 }, (_, offset) => coveredTo + offset)
      expect({
        total: view.total,
        coveredTo: view.coveredTo,
        contextTokens: view.contextTokens,
        tokens: everywhere.map((from) => everywhere.map((to) => (from <= to ? view.tokens(from, to) : 0))),
        startOfLastTokens: [0, 1, 5, 20, 10_000].map(view.startOfLastTokens),
        completeTurns: view.completeTurns,
        completeTurnsTo: everywhere.map(view.completeTurnsTo),
        turnStart: [-2, -1, 0, 1, 2, 50].map(view.turnStart),
        currentTurn: view.currentTurn,
        openTurn: view.openTurn,
      }).toEqual(asked(messages, tokens, coveredTo))
    }),
    { numRuns: 150 },
  )
})

describe("a view", () => {
  it("of nothing has zeros", () => {
    const view = make(stateOf([]), now)
    expect(view).toMatchObject({
      total: 0,
      coveredTo: 0,
      now,
      contextTokens: 0,
      completeTurns: 0,
      currentTurn: 0,
    })
    expect([
      view.turnStart(0),
      view.turnStart(-1),
      view.startOfLastTokens(5),
      view.completeTurnsTo(0),
    ]).toEqual([0, 0, 0, 0])
  })

  it("counts a round when the assistant has ended it, or the user has begun another", () => {
    const asking = call([{ id: "1", name: "t", arguments: "{}" }])
    const turns = (...messages: ReadonlyArray<Message.Message>) => make(stateOf(messages), now).completeTurns
    expect(turns(user("q"))).toBe(0)
    expect(turns(user("q"), assistant("a"))).toBe(1)
    expect(turns(user("q"), asking)).toBe(0)
    expect(turns(user("q"), asking, result({ id: "1", output: "x" }))).toBe(0)
    expect(turns(user("q"), asking, result({ id: "1", output: "x" }), assistant("a"))).toBe(1)
    expect(turns(user("q"), asking, user("stop"))).toBe(1)
  })

  it("still knows the current round when its beginning is in the summary", () => {
    const view = make(stateOf([user("q"), assistant("1"), assistant("2"), assistant("3")], 2), now)
    expect(view).toMatchObject({ currentTurn: 2, completeTurns: 0, openTurn: 4 })
    const asking = call([{ id: "1", name: "t", arguments: "{}" }])
    expect(make(stateOf([user("q"), assistant("1"), asking], 1), now).openTurn).toBe(1)
  })

  it("counts the calls that wait for their results", () => {
    const two = call(["1", "2"].map((id) => ({ id, name: "t", arguments: "{}" })))
    const openCalls = (...messages: ReadonlyArray<Message.Message>) => make(stateOf(messages), now).openCalls
    expect(openCalls()).toBe(0)
    expect(openCalls(user("q"), two)).toBe(2)
    expect(openCalls(user("q"), two, result({ id: "2", output: "x" }))).toBe(1)
    expect(openCalls(user("q"), two, user("stop"))).toBe(0)
  })

  it("takes the first message's time for the last compaction's, before there is one", () => {
    const messages = [user("q", { time: 17 }), assistant("a", { time: 99 })]
    expect(make(stateOf(messages), now)).toMatchObject({ lastCompactionTime: 17, lastMessageTime: 99 })
    expect(make(stateOf(messages, 1), now).lastCompactionTime).toBe(1_700_000_000_003)
    expect(make(stateOf([]), now)).toMatchObject({ lastCompactionTime: now, lastMessageTime: now })
  })

  it("counts the calls of the model, and knows when the newest one was", () => {
    const messages = [user("q", { time: 17 }), assistant("a", { time: 99 }), user("q", { time: 500 })]
    const input = { modelCalls: 1, lastModelCallTime: 99, appendedTokens: 30 }
    expect(make(stateOf(messages), now)).toMatchObject(input)
    // A compaction forgets neither.
    expect(make(stateOf(messages, 2), now)).toMatchObject(input)
    expect(make(stateOf(messages.slice(0, 1)), now)).toMatchObject({ modelCalls: 0, lastModelCallTime: 17 })
    expect(make(stateOf([]), now)).toMatchObject({ lastModelCallTime: now, appendedTokens: 0 })
  })

  it("counts pinned messages into the context, covered or not", () => {
    const messages = [user("q", { pinned: true }), ...chat(5, 1)]
    expect(make(stateOf(messages), now).contextTokens).toBe(60)
    // The summary's 7, the pinned message, and two raw ones.
    expect(make(stateOf(messages, 4), now).contextTokens).toBe(37)
  })
})
