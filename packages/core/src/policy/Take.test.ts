import { describe, expect, it } from "vitest"
import { chat } from "../../../testing/src/arbitrary/index.js"
import { stateOf } from "../../../testing/src/given/events.js"
import { Message, Take } from "../index.js"
import { make } from "./View.js"

const to = (
  take: Take.Take,
  tailFrom: number,
  options: { readonly total?: number; readonly through?: number } = {},
) => take.to(make(stateOf(chat(options.total ?? 20), options.through ?? 0), 0), tailFrom)

describe("how much goes", () => {
  it("is the whole backlog", () => {
    expect(to(Take.all, 13)).toBe(13)
  })

  it("is at most so many messages of it", () => {
    expect(to(Take.messages(5), 13)).toBe(5)
    expect(to(Take.messages(5), 3)).toBe(3)
    expect(to(Take.messages(5), 13, { through: 6 })).toBe(11)
    expect(to(Take.messages(5), 13, { through: 10 })).toBe(13)
  })

  it("is exactly so many rounds of it", () => {
    expect(to(Take.rounds(3), 13)).toBe(6)
    expect(to(Take.rounds(3), 6)).toBe(6)
    expect(to(Take.rounds(3), 13, { through: 4 })).toBe(10)
  })

  it("is nothing while there are fewer rounds", () => {
    expect(to(Take.rounds(3), 5)).toBe(0)
    expect(to(Take.rounds(3), 13, { through: 8 })).toBe(8)
    expect(to(Take.rounds(11), 20)).toBe(0)
    expect(to(Take.rounds(10), 20)).toBe(20)
    expect(to(Take.rounds(10), 19, { total: 19 })).toBe(0)
  })

  it("takes what stands before the first round along", () => {
    const messages = [Message.assistant("welcome"), ...chat(4)]
    expect(Take.rounds(1).to(make(stateOf(messages), 0), 5)).toBe(3)
  })
})
