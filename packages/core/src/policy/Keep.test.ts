import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { stateOf } from "@memfold/testing"
import { Keep, Message } from "../index.js"
import { make } from "./PolicyInput.js"

const { assistant, user } = Message

const from = (keep: Keep.Keep, messages: ReadonlyArray<Message.Message>, coveredTo = 0) =>
  keep.from(make(stateOf(messages, coveredTo), 0))

describe("what stays", () => {
  it("is the newest messages", () => {
    expect(from(Keep.lastMessages(4), chat(10))).toBe(6)
    expect(from(Keep.lastMessages(0), chat(10))).toBe(10)
    expect(from(Keep.lastMessages(10), chat(10))).toBe(0)
    // There is nothing before the first message; the engine clamps.
    expect(from(Keep.lastMessages(12), chat(10))).toBeLessThanOrEqual(0)
  })

  it("is the newest messages within a number of tokens", () => {
    expect(from(Keep.lastTokens(35), chat(10))).toBe(7)
    expect(from(Keep.lastTokens(40), chat(10))).toBe(6)
    expect(from(Keep.lastTokens(9), chat(10))).toBe(10)
    expect(from(Keep.lastTokens(1_000), chat(10))).toBe(0)
    expect(from(Keep.lastTokens(1_000), chat(10), 4)).toBe(4)
    expect(from(Keep.lastTokens(0), [])).toBe(0)
  })

  it("is the newest complete rounds", () => {
    expect(from(Keep.lastTurns(2), chat(10))).toBe(6)
    expect(from(Keep.lastTurns(0), chat(10))).toBe(10)
    expect(from(Keep.lastTurns(5), chat(10))).toBe(0)
  })

  it("is the newest complete rounds and an incomplete round", () => {
    expect(from(Keep.lastTurns(2), chat(11))).toBe(6)
    expect(from(Keep.lastTurns(0), chat(11))).toBe(10)
    const asking = Message.call([{ id: "1", name: "t", arguments: "{}" }])
    expect(from(Keep.lastTurns(0), [user("q"), assistant("1"), asking], 1)).toBe(1)
  })

  it("is everything while there are fewer rounds", () => {
    expect(from(Keep.lastTurns(6), chat(10))).toBe(0)
    expect(from(Keep.lastTurns(4), chat(10), 4)).toBe(4)
    expect(from(Keep.lastTurns(1), [assistant("welcome"), user("q")])).toBe(0)
    expect(from(Keep.lastTurns(1), [assistant("welcome")])).toBe(0)
    expect(from(Keep.lastTurns(1), [])).toBe(0)
  })

  it("is the current round, from its first user message on", () => {
    expect(from(Keep.currentTurn, chat(11))).toBe(10)
    expect(from(Keep.currentTurn, chat(10))).toBe(8)
    expect(from(Keep.currentTurn, [user("q"), assistant("a"), user("q"), user("and"), assistant("a")])).toBe(
      2,
    )
    expect(from(Keep.currentTurn, [assistant("welcome")])).toBe(1)
  })

  it("is what is left of the current round when its beginning is in the summary", () => {
    const turn = [user("q"), assistant("1"), assistant("2"), assistant("3")]
    expect(from(Keep.currentTurn, turn, 2)).toBe(2)
    expect(from(Keep.lastTurns(1), turn, 2)).toBe(2)
  })

  it("is whatever any of several keeps", () => {
    expect(from(Keep.all(Keep.lastMessages(3), Keep.lastTurns(2)), chat(10))).toBe(6)
    expect(from(Keep.all(Keep.lastMessages(5), Keep.lastTurns(2)), chat(10))).toBe(5)
    expect(from(Keep.all(), chat(10))).toBe(10)
  })

  it("says what it is", () => {
    expect(Keep.all(Keep.lastMessages(3), Keep.currentTurn).describe).toBe(
      "the last 3 messages and the current round",
    )
  })
})
