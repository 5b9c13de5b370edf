import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { stateOf } from "@memfold/testing"
import { Message, BatchSize } from "../index.js"
import { make } from "./PolicyInput.js"

const to = (
  take: BatchSize.BatchSize,
  tailFrom: number,
  options: { readonly total?: number; readonly coveredTo?: number } = {},
) => take.to(make(stateOf(chat(options.total ?? 20), options.coveredTo ?? 0), 0), tailFrom)

describe("how much goes", () => {
  it("is the whole backlog", () => {
    expect(to(BatchSize.all, 13)).toBe(13)
  })

  it("is at most a number of its messages", () => {
    expect(to(BatchSize.messages(5), 13)).toBe(5)
    expect(to(BatchSize.messages(5), 3)).toBe(3)
    expect(to(BatchSize.messages(5), 13, { coveredTo: 6 })).toBe(11)
    expect(to(BatchSize.messages(5), 13, { coveredTo: 10 })).toBe(13)
  })

  it("is exactly a number of its rounds", () => {
    expect(to(BatchSize.turns(3), 13)).toBe(6)
    expect(to(BatchSize.turns(3), 6)).toBe(6)
    expect(to(BatchSize.turns(3), 13, { coveredTo: 4 })).toBe(10)
  })

  it("is nothing while there are fewer rounds", () => {
    expect(to(BatchSize.turns(3), 5)).toBe(0)
    expect(to(BatchSize.turns(3), 13, { coveredTo: 8 })).toBe(8)
    expect(to(BatchSize.turns(11), 20)).toBe(0)
    expect(to(BatchSize.turns(10), 20)).toBe(20)
    expect(to(BatchSize.turns(10), 19, { total: 19 })).toBe(0)
  })

  it("takes what stands before the first round along", () => {
    const messages = [Message.assistant("welcome"), ...chat(4)]
    expect(BatchSize.turns(1).to(make(stateOf(messages), 0), 5)).toBe(3)
  })
})
