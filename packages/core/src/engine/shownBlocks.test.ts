import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Summary, type TokenCounter, Wording } from "../index.js"
import { shownBlocks } from "./shownBlocks.js"

const counter: TokenCounter.Service = { name: "words", count: (text) => text.split(/\s+/u).length }

const blocks = (...texts: ReadonlyArray<string>): ReadonlyArray<Summary.Segment> =>
  texts.map((text, index) => ({ kind: "block", from: 2 * index, to: 2 * index + 2, text }))

const shown = (segments: ReadonlyArray<Summary.Segment>, question: string, maxTokens: number) =>
  shownBlocks(segments, question, { counter, wording: Wording.separately(Wording.sessionMemory), maxTokens })

describe("the blocks that contexts show", () => {
  const six = blocks(
    "the parser fails on tabs",
    "a flat in Graz is wanted",
    "the invoice was 12 euros",
    "a train leaves at nine",
    "tea is preferred to coffee",
    "the garden needs some water",
  )

  it("are all of them as long as there is room", () => {
    expect(shown(six, "the parser?", 100)).toBeUndefined()
    expect(shown([], "the parser?", 1)).toBeUndefined()
  })

  it("are the newest block, the blocks that fit the question, and the newest other blocks, in the order of the conversation", () => {
    // Seven words each, heading included.
    expect(shown(six, "What about the parser and the tabs?", 14)).toEqual([0, 5])
    expect(shown(six, "How much was the invoice?", 14)).toEqual([2, 5])
    expect(shown(six, "", 21)).toEqual([3, 4, 5])
    expect(shown(six, "zebras", 28)).toEqual([2, 3, 4, 5])
  })

  it("are the newest alone if it takes all of the room", () => {
    expect(shown(six, "the parser", 1)).toEqual([5])
  })

  it("never take more than the room, but for a single block, and always have the newest", () => {
    const words = fc.constantFrom("parser", "tea", "flat", "invoice", "train")
    const text = fc.array(words, { minLength: 1, maxLength: 12 }).map((all) => all.join(" "))
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 12 }),
        text,
        fc.integer({ min: 1, max: 80 }),
        (all, question, most) => {
          const segments = blocks(...all)
          const positions = shown(segments, question, most) ?? segments.map((_, position) => position)
          const size = positions.reduce(
            (sum, position) => sum + counter.count(`[Session Memory]\n${all[position]}`),
            0,
          )
          expect(positions).toContain(segments.length - 1)
          expect(positions).toEqual(positions.toSorted((one, other) => one - other))
          expect(size <= most || positions.length === 1).toBe(true)
        },
      ),
    )
  })
})
