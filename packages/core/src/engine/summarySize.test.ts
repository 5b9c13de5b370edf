import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Summary, TokenCounter, Wording } from "../index.js"
import { summarySize } from "./summarySize.js"

const wording = fc
  .tuple(fc.constantFrom(Wording.sessionMemory, Wording.asData(Wording.conversationSummary)), fc.boolean())
  .map(([one, separate]) => (separate ? Wording.separately(one) : one))
const text = fc.string({ minLength: 1, maxLength: 40 })
const segments = fc.array(
  fc.record({
    kind: fc.constantFrom("history" as const, "block" as const, "turn-prefix" as const),
    from: fc.constant(0),
    to: fc.constant(1),
    text,
  }),
  { maxLength: 6 },
)
const files = fc.record({
  read: fc.array(text, { maxLength: 2 }),
  modified: fc.array(text, { maxLength: 2 }),
})

/** A counter that remembers what it was asked to count. */
const asked = (): TokenCounter.Service & { readonly texts: Array<string> } => {
  const texts: Array<string> = []
  return { name: "asked", texts, count: (text) => (texts.push(text), TokenCounter.estimating.count(text)) }
}

describe("the size of a summary", () => {
  it("is the same however its segments were counted before", () => {
    fc.assert(
      fc.property(segments, fc.array(fc.tuple(wording, files, fc.nat(6), fc.nat(6))), (all, looks) => {
        const counter = asked()
        for (const [around, some, from, to] of looks) {
          const shown = all.slice(from, to)
          const anew = shown.map((one) => ({ ...one }))
          expect(summarySize(counter, around, { segments: shown, files: some })).toBe(
            summarySize(counter, around, { segments: anew, files: some }),
          )
        }
      }),
    )
  })

  it("takes all that the context shows into account, each piece once", () => {
    fc.assert(
      fc.property(segments, wording, files, (all, around, some) => {
        const counter = asked()
        summarySize(counter, around, { segments: all, files: some })
        expect(counter.texts.join("")).toBe(Wording.texts(around, { segments: all, files: some }).join(""))
      }),
    )
  })

  it("counts a block once, and for each summary behind it only what is new", () => {
    const counter = asked()
    const blocks = Array.from({ length: 50 }, (_, at): Summary.Segment => ({
      kind: "block",
      from: at,
      to: at + 1,
      text: `block ${at}`,
    }))
    for (let count = 1; count <= blocks.length; count++)
      summarySize(counter, Wording.sessionMemory, {
        segments: blocks.slice(0, count),
        files: { read: [], modified: [] },
      })
    expect(counter.texts).toHaveLength(blocks.length)
  })
})
