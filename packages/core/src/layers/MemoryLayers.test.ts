import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { conversation } from "@memfold/testing/arbitrary"
import { after, appended, committed, started, stateOf } from "@memfold/testing"
import { type Event, Message } from "../index.js"
import { turnsToLearn } from "./MemoryLayers.js"

const { assistant, call, result, system, user } = Message

const learned = (from: number, to: number): Event.FactsLearned => ({
  _tag: "FactsLearned",
  from,
  to,
  facts: [],
})

describe("due", () => {
  it("is nothing before a round has ended", () => {
    expect(turnsToLearn(stateOf([]))).toBeNull()
    expect(turnsToLearn(stateOf([user("a")]))).toBeNull()
    expect(turnsToLearn(stateOf([system("rules"), user("a")]))).toBeNull()
    expect(turnsToLearn(stateOf([assistant("Welcome!"), user("a"), user("b")]))).toBeNull()
    expect(turnsToLearn(stateOf([user("a"), call([{ id: "1", name: "f", arguments: "{}" }])]))).toBeNull()
    expect(
      turnsToLearn(
        stateOf([
          user("a"),
          call([{ id: "1", name: "f", arguments: "{}" }]),
          result({ id: "1", output: "x" }),
        ]),
      ),
    ).toBeNull()
  })

  it("is every round that has ended, the running one left out", () => {
    expect(turnsToLearn(stateOf([user("a"), assistant("b")]))).toEqual({ from: 0, to: 2 })
    expect(turnsToLearn(stateOf([system("rules"), user("a"), assistant("b"), user("c")]))).toEqual({
      from: 0,
      to: 3,
    })
    const working = [user("c"), call([{ id: "1", name: "f", arguments: "{}" }])]
    expect(turnsToLearn(stateOf([user("a"), assistant("b"), ...working]))).toEqual({ from: 0, to: 2 })
  })

  it("goes on where the last look ended, and where the summary ends", () => {
    const messages = [user("a"), assistant("b"), user("c"), assistant("d")]
    expect(turnsToLearn(after(...appended(messages), learned(0, 2)))).toEqual({ from: 2, to: 4 })
    expect(turnsToLearn(after(...appended(messages), learned(0, 4)))).toBeNull()
    expect(turnsToLearn(after(...appended(messages), started(2), committed(2)))).toEqual({ from: 2, to: 4 })
    expect(turnsToLearn(after(...appended(messages), started(4), committed(4)))).toBeNull()
  })

  it("takes what an assistant adds to a round that had ended", () => {
    const messages = [user("a"), assistant("b"), assistant("one more thing")]
    expect(
      turnsToLearn(
        after(...appended(messages.slice(0, 2)), learned(0, 2), ...appended(messages.slice(2), { from: 2 })),
      ),
    ).toEqual({ from: 2, to: 3 })
  })

  it("is of raw messages only, begins where it left off, and never holds a call that is open", () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, cut) => {
        const until = cut % (messages.length + 1)
        const first = turnsToLearn(stateOf(messages.slice(0, until)))
        const seen = first === null ? [] : [learned(first.from, first.to)]
        const state = after(
          ...appended(messages.slice(0, until)),
          ...seen,
          ...appended(messages.slice(until), { from: until }),
        )
        const range = turnsToLearn(state)
        if (range === null) return
        expect(range.from).toBe(first?.to ?? 0)
        expect(range.to).toBeGreaterThan(range.from)
        expect(range.to).toBeLessThanOrEqual(state.structure.open?.from ?? state.total)
      }),
    )
  })
})
