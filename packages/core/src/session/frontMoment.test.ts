import { describe, expect, it } from "vitest"
import { Message } from "../index.js"
import { frontMoment } from "./frontMoment.js"
import { Sequence } from "./Sequence.js"
import { empty, type Entry, type FrontMoment, type SessionState } from "./SessionState.js"

const summary = { id: "a" } as unknown as NonNullable<SessionState["summary"]>
const front: FrontMoment = { time: 1, total: 12, coveredTo: 10, question: "q" }
const entry = (message: Message.Message): Entry => ({ message }) as unknown as Entry
const state = {
  ...empty("s"),
  summary,
  front,
  total: 3,
  uncovered: Sequence.of([
    entry(Message.user("one")),
    entry(Message.user("Where?")),
    entry(Message.assistant("There.")),
  ]),
}

describe("the moment of the facts in front", () => {
  it("stays while blocks are carried on and the summary has not grown by half", () => {
    expect(frontMoment(state, { coveredTo: 14, carried: 3 }, 9)).toBe(front)
  })

  it("is this compaction once the summary has grown by half, or begins anew, or is the first one", () => {
    const now = { time: 9, total: 3 }
    expect(frontMoment(state, { coveredTo: 15, carried: 3 }, 9)).toMatchObject({ ...now, coveredTo: 15 })
    expect(frontMoment(state, { coveredTo: 1, carried: 0 }, 9)).toEqual({
      ...now,
      coveredTo: 1,
      question: "Where?",
    })
    expect(frontMoment({ ...state, summary: null }, { coveredTo: 1, carried: 1 }, 9)).toMatchObject(now)
  })

  it("has no question if the summary covers it", () => {
    expect(frontMoment(state, { coveredTo: 2, carried: 0 }, 9).question).toBeNull()
  })
})
