import { Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { conversation, disorder, recorded } from "@memfold/testing/arbitrary"
import { appended, stateOf } from "@memfold/testing"
import { Message, Session } from "../index.js"
import { crc32 } from "../event/checksum.js"
import { foldVersion, isOfOtherFold, snapshot as projection, stateIn, take } from "./Snapshot.js"
import { requiresReplay } from "../session/evolve.js"

const { empty, evolve, fold } = Session

const taken = (state: Session.SessionState, batchId = "b") => take({ state, batchId })!

const restored = (state: Session.SessionState) =>
  Option.getOrThrow(stateIn(state.session, taken(state))).state

const state = stateOf([Message.system("be kind"), Message.user("q"), Message.assistant("a")])

describe("L6: a snapshot", () => {
  it("at any point, with the rest folded onto it, is the fold of all", () => {
    fc.assert(
      fc.property(disorder, fc.nat(), (events, cut) => {
        const point = cut % (events.length + 1)
        let state = restored(fold(empty("s"), events.slice(0, point)))
        for (const event of events.slice(point)) {
          // Such an event makes every earlier snapshot useless, and says so.
          if (requiresReplay(state, event)) return
          state = evolve(state, event)
        }
        expect(taken(state)).toEqual(taken(fold(empty("s"), events)))
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("at every point of a real conversation keeps the messages as they were", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const events = recorded(appended(messages))
        let current = empty("s")
        for (const event of events) current = fold(restored(current), [event])
        expect(current.uncovered.slice().map((entry) => entry.message)).toEqual(messages)
      }),
      { numRuns: often(8, 30) },
    )
  })

  it.runIf(deep)("is not taken of what is longer than a string can be", () => {
    const long = "x".repeat(2 ** 27)
    const messages = Array.from({ length: 5 }, () => Message.user(long))
    const huge = stateOf(messages)
    expect(take({ state: huge, batchId: "b" })).toBeNull()
    expect(projection.rows({ state: huge, batchId: "b" })).toEqual([])
    expect(projection.problems([], { state: huge, batchId: "b" })).toEqual([])
  })

  it("carries the version of the fold and its position in the log", () => {
    expect(taken(state).data.slice(8)).toMatch(new RegExp(`^${foldVersion} "b"\n`))
    expect(projection.until?.([taken(state)])).toBe(3)
    for (const batchId of ["", "a b", 'with "quotes"\nand lines'])
      expect(Option.getOrThrow(stateIn("s", taken(state, batchId))).batchId).toBe(batchId)
  })
})

describe("a snapshot is ignored", () => {
  const snapshot = taken(state)
  const ignored = (other: Partial<typeof snapshot>, session = "s") =>
    Option.isNone(stateIn(session, { ...snapshot, ...other }))
  const [front = "", json = ""] = snapshot.data.slice(8).split("\n", 2)
  const sealed = (text: string) => crc32(text).toString(16).padStart(8, "0") + text
  const changed = (change: (data: Record<string, unknown>) => void) => {
    const data = JSON.parse(json) as Record<string, unknown>
    change(data)
    return sealed(`${front}\n${JSON.stringify(data)}`)
  }

  it("when another fold made it", () => {
    for (const other of [foldVersion + 1, foldVersion - 1]) {
      const data = sealed(`${other} "b"\n${json}`)
      expect(ignored({ data })).toBe(true)
      expect(isOfOtherFold({ key: "", data })).toBe(true)
    }
    expect(isOfOtherFold(snapshot)).toBe(false)
  })

  it("when it is no JSON, or none of ours", () => {
    for (const data of ["", "not json", "null", "{}", "[]", snapshot.data.slice(0, -1)])
      expect(ignored({ data })).toBe(true)
  })

  it("when a single character is another one than was written", () => {
    expect(ignored({ data: snapshot.data.replace("be kind", "be mean") })).toBe(true)
  })

  it("when a field is missing or of another type", () => {
    expect(ignored({ data: changed(() => undefined) })).toBe(false)
    for (const field of Object.keys(JSON.parse(json) as object)) {
      expect(ignored({ data: changed((data) => delete data[field]) })).toBe(true)
      expect(ignored({ data: changed((data) => (data[field] = "?" + field)) })).toBe(true)
    }
  })

  it("when it is another session's", () => {
    expect(ignored({}, "other")).toBe(true)
  })
})
