import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat, conversation } from "../../../testing/src/arbitrary/index.js"
import * as oracles from "../../../testing/src/oracle/groups.js"
import { after, appended, committed, started, stateOf } from "../../../testing/src/given/events.js"
import { Message } from "../index.js"
import { make } from "./View.js"

const { assistant, call, result, user } = Message

const now = 1_700_000_100_000

/** What the view on these messages has to say, each question answered by looking at all of them. */
const asked = (messages: ReadonlyArray<Message.Message>, tokens: ReadonlyArray<number>, through: number) => {
  const total = messages.length
  const sum = (from: number, to: number) => tokens.slice(from, to).reduce((one, other) => one + other, 0)
  const everywhere = Array.from({ length: total - through + 1 }, (_, offset) => through + offset)
  const all = oracles.roundStarts(messages)
  const starts = all.filter((start) => start >= through)
  const complete = oracles.roundComplete(messages)
  const ends = starts.flatMap((_, n) => starts[n + 1] ?? (complete ? [total] : []))
  const newest = all.at(-1)
  return {
    total,
    through,
    contextTokens: (through === 0 ? 0 : 7) + sum(through, total),
    tokens: everywhere.map((from) => everywhere.map((to) => (from <= to ? sum(from, to) : 0))),
    lastTokens: [0, 1, 5, 20, 10_000].map((limit) => everywhere.find((from) => sum(from, total) <= limit)),
    rounds: ends.length,
    roundsTo: everywhere.map((position) => ends.filter((end) => end <= position).length),
    roundStart: [-2, -1, 0, 1, 2, 50].map((n) => (n < 0 ? through : (starts[n] ?? total))),
    currentRound: newest === undefined ? total : Math.max(newest, through),
    openRound: newest === undefined || complete ? total : Math.max(newest, through),
  }
}

it("answers every question as a look at the whole conversation does", () => {
  fc.assert(
    fc.property(conversation, fc.nat(), (conversation, cut) => {
      const messages = conversation.map(({ pinned: _pinned, usage: _usage, ...message }) => message)
      const boundaries = oracles.boundaries(messages)
      const through = boundaries[cut % boundaries.length]!
      const tokens = messages.map((_, index) => (index * 7) % 11)
      const state = after(
        ...appended(messages).map((event, index) => ({ ...event, tokens: tokens[index]! })),
        ...(through === 0 ? [] : [started(through), committed(through)]),
      )
      // What is pinned takes room in the context wherever it stands; that is for another test.
      const view = make({ ...state, pinned: [] }, now)
      const everywhere = Array.from({ length: view.total - through + 1 }, (_, offset) => through + offset)
      expect({
        total: view.total,
        through: view.through,
        contextTokens: view.contextTokens,
        tokens: everywhere.map((from) => everywhere.map((to) => (from <= to ? view.tokens(from, to) : 0))),
        lastTokens: [0, 1, 5, 20, 10_000].map(view.lastTokens),
        rounds: view.rounds,
        roundsTo: everywhere.map(view.roundsTo),
        roundStart: [-2, -1, 0, 1, 2, 50].map(view.roundStart),
        currentRound: view.currentRound,
        openRound: view.openRound,
      }).toEqual(asked(messages, tokens, through))
    }),
    { numRuns: 150 },
  )
})

describe("a view", () => {
  it("of nothing has zeros", () => {
    const view = make(stateOf([]), now)
    expect(view).toMatchObject({ total: 0, through: 0, now, contextTokens: 0, rounds: 0, currentRound: 0 })
    expect([view.roundStart(0), view.roundStart(-1), view.lastTokens(5), view.roundsTo(0)]).toEqual([
      0, 0, 0, 0,
    ])
  })

  it("counts a round when the assistant has ended it, or the user has begun another", () => {
    const asking = call([{ id: "1", name: "t", arguments: "{}" }])
    const rounds = (...messages: ReadonlyArray<Message.Message>) => make(stateOf(messages), now).rounds
    expect(rounds(user("q"))).toBe(0)
    expect(rounds(user("q"), assistant("a"))).toBe(1)
    expect(rounds(user("q"), asking)).toBe(0)
    expect(rounds(user("q"), asking, result({ id: "1", output: "x" }))).toBe(0)
    expect(rounds(user("q"), asking, result({ id: "1", output: "x" }), assistant("a"))).toBe(1)
    expect(rounds(user("q"), asking, user("stop"))).toBe(1)
  })

  it("still knows the current round when its beginning is in the summary", () => {
    const view = make(stateOf([user("q"), assistant("1"), assistant("2"), assistant("3")], 2), now)
    expect(view).toMatchObject({ currentRound: 2, rounds: 0, openRound: 4 })
    const asking = call([{ id: "1", name: "t", arguments: "{}" }])
    expect(make(stateOf([user("q"), assistant("1"), asking], 1), now).openRound).toBe(1)
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
    const messages = [user("q", { at: 17 }), assistant("a", { at: 99 })]
    expect(make(stateOf(messages), now)).toMatchObject({ compactedAt: 17, lastMessageAt: 99 })
    expect(make(stateOf(messages, 1), now).compactedAt).toBe(1_700_000_000_003)
    expect(make(stateOf([]), now)).toMatchObject({ compactedAt: now, lastMessageAt: now })
  })

  it("counts pinned messages into the context, covered or not", () => {
    const messages = [user("q", { pinned: true }), ...chat(5, 1)]
    expect(make(stateOf(messages), now).contextTokens).toBe(60)
    // The summary's 7, the pinned message, and two raw ones.
    expect(make(stateOf(messages, 4), now).contextTokens).toBe(37)
  })
})
