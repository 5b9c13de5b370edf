import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { inBatches, interleaving } from "./interleaving.js"

describe("batches", () => {
  it("have these sizes, over and over; without any, one each", () => {
    expect(inBatches([1, 2, 3, 4, 5, 6], [1, 2])).toEqual([[1], [2, 3], [4], [5, 6]])
    expect(inBatches([1, 2], [])).toEqual([[1], [2]])
    expect(inBatches([], [3])).toEqual([])
    expect(inBatches([1, 2], [0])).toEqual([[1], [2]])
  })
})

describe("an interleaving", () => {
  it("gives each as many turns as there are steps, in many an order", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(interleaving([2, 0, 3]), (turns) => {
        seen.add(turns.join(""))
        expect(turns.toSorted()).toEqual([0, 0, 2, 2, 2])
      }),
    )
    expect(seen.size).toBeGreaterThan(3)
  })
})
