import { Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { conversation, disorder, recorded } from "@memfold/testing/arbitrary"
import { appended, stateOf } from "@memfold/testing"
import { Message, Session } from "../index.js"
import { crc32 } from "../event/checksum.js"
import { foldVersion, isOfOtherFold, snapshot, stateIn, take } from "./Snapshot.js"

const { empty, evolve, fold, requiresReplay } = Session

const batchId = "batch-1"
const taken = (state: Session.SessionState) => take({ state, batchId })
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

  it("carries the version of the fold and its place in the log", () => {
    const row = taken(state)
    expect(row.data.slice(8).split("\n")[0]).toBe(`${foldVersion} "batch-1"`)
    expect(snapshot.until?.([row])).toBe(3)
    expect(Option.getOrThrow(stateIn("s", row)).batchId).toBe(batchId)
    expect(row.key).toBe("")
  })

  it("carries a batch id of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (batchId) => {
        const row = take({ state, batchId })
        expect(row.data.isWellFormed()).toBe(true)
        expect(Option.getOrThrow(stateIn("s", row)).batchId).toBe(batchId)
      }),
    )
  })
})

const sealed = (text: string) => crc32(text).toString(16).padStart(8, "0") + text

describe("a snapshot is ignored", () => {
  const row = taken(state)
  const ignored = (data: string, session = "s") => Option.isNone(stateIn(session, { key: "", data }))
  const [head = "", json = ""] = row.data.slice(8).split("\n")
  const changed = (change: (data: Record<string, unknown>) => void) => {
    const data = JSON.parse(json) as Record<string, unknown>
    change(data)
    return sealed(`${head}\n${JSON.stringify(data)}`)
  }

  it("when another fold made it", () => {
    for (const fold of [foldVersion + 1, foldVersion - 1]) {
      const other = sealed(`${fold} "batch-1"\n${json}`)
      expect(ignored(other)).toBe(true)
      expect(isOfOtherFold({ key: "", data: other })).toBe(true)
    }
    expect(isOfOtherFold(row)).toBe(false)
    expect(isOfOtherFold({ key: "", data: row.data.replace("be kind", "be mean") })).toBe(false)
  })

  it("when it is no snapshot, or none of ours", () => {
    for (const data of ["", "not json", "null", "{}", "[]", row.data.slice(0, -1)])
      expect(ignored(data)).toBe(true)
    for (const text of ["", "null", json, `${head}`, `${head}\n`, `${head}\nnull`, `\n${json}`])
      expect(ignored(sealed(text))).toBe(true)
  })

  it("when a single character is another one than was written", () => {
    expect(ignored(row.data.replace("be kind", "be mean"))).toBe(true)
    expect(ignored(row.data.replace("batch-1", "batch-2"))).toBe(true)
  })

  it("when a field is missing or of another type", () => {
    expect(ignored(changed(() => undefined))).toBe(false)
    for (const field of Object.keys(JSON.parse(json) as object)) {
      expect(ignored(changed((data) => delete data[field]))).toBe(true)
      expect(ignored(changed((data) => (data[field] = "?" + field)))).toBe(true)
    }
  })

  it("when it is another session's", () => {
    expect(ignored(row.data, "other")).toBe(true)
  })
})

describe("a stored snapshot differs from the log", () => {
  const collected = { state, batchId }
  const problems = (data: string | null) =>
    snapshot.problems(data === null ? [] : [{ key: "", data }], collected)

  it("unless it is that of the fold, of another fold, or missing", () => {
    const row = taken(state)
    expect(problems(row.data)).toEqual([])
    expect(problems(null)).toEqual([])
    expect(problems(sealed(`${foldVersion + 1} ""\n{}`))).toEqual([])
    const differs = [{ version: 3, detail: expect.stringContaining("snapshot") }]
    expect(problems(take({ state, batchId: "batch-2" }).data)).toEqual(differs)
    expect(problems(taken(stateOf([Message.system("be kind")])).data)).toEqual(differs)
    expect(problems(row.data.replace("be kind", "be mean"))).toEqual(differs)
    expect(problems("")).toEqual(differs)
  })
})
