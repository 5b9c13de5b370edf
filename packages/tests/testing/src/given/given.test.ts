// A specification reads like a sentence; its `then` is no promise.
/* oxlint-disable vitest/valid-expect-in-promise */
import { SummaryMode, Keep, Message, Strategy, Trigger } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { committed, started } from "./events.js"
import { decides, given } from "./given.js"

const said = ["one", "two", "three", "four"].map((text) => Message.user(text))

const brief = Strategy.make({
  name: "brief",
  when: Trigger.uncovered({ messages: 4 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

describe("a specification", () => {
  it("of a reducer: given what has happened, when more happens, then a state", () => {
    given(said, started(2))
      .when(committed(2), Message.user("five"))
      .then(({ coveredTo, running, total }) =>
        expect({ coveredTo, running, total }).toEqual({ coveredTo: 2, running: null, total: 5 }),
      )
    given(said)
      .when()
      .then(({ version }) => expect(version).toBe(4))
  })

  it("of a strategy: given a conversation, when it looks at it, then a decision", () => {
    given(said)
      .when(brief)
      .then(decides.compact({ from: 0, to: 3, reason: "uncovered" }))
    given(said.slice(1)).when(brief).then(decides.nothing("not-due"))
    given(said.slice(1))
      .when(brief, { onDemand: true })
      .then(decides.compact({ to: 2 }))
    given(said, started(2)).when(brief).then(decides.nothing("running"))
  })

  it("fails where it does not hold, and says why", () => {
    expect(() => given(said).when(brief).then(decides.nothing())).toThrow(/a compaction is due/)
    expect(() =>
      given(said)
        .when(brief)
        .then(decides.compact({ to: 4 })),
    ).toThrow("the plan has to 3, expected is 4")
    expect(() => given().when(brief).then(decides.compact())).toThrow("nothing is due (not-due)")
    expect(() => given().when(brief).then(decides.nothing("paused"))).toThrow(
      "nothing is due (not-due), expected is (paused)",
    )
  })
})
