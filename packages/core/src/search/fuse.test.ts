import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fuse } from "./fuse.js"

/** Candidates by words, the best first. */
const words = fc.uniqueArray(fc.nat({ max: 60 }), { maxLength: 40 }).chain((indexes) =>
  fc
    .array(fc.double({ min: 0.1, max: 9, noNaN: true }), {
      minLength: indexes.length,
      maxLength: indexes.length,
    })
    .map((scores) =>
      scores
        .toSorted((one, other) => other - one)
        .map((score, at) => ({ source: 0, index: indexes[at]!, score, fits: true, covered: 0.5 })),
    ),
)
const similarities = fc
  .dictionary(fc.nat({ max: 60 }).map(String), fc.double({ min: -1, max: 1, noNaN: true }), {
    maxKeys: 40,
    noNullPrototype: true,
  })
  .map((found) =>
    Object.entries(found).map(([index, similarity]) => ({
      index: Number(index),
      similarity,
      isNear: similarity >= 0.5,
      offset: 0,
    })),
  )
const placesOf = (candidates: ReadonlyArray<{ readonly index: number }>) =>
  candidates.map(({ index }) => index)

describe("a ranking by words and one by meaning", () => {
  const byWords = [4, 7, 1].map((index) => ({ source: 0, index, score: 9 - index, fits: true, covered: 0.5 }))
  const near = [
    [7, 8, 9].map((index) => ({ index, similarity: 1.2 - index / 10, isNear: index < 9, offset: index })),
  ]

  it("are fused by their scores, each as a part of the best", () => {
    const fused = fuse(byWords, near)
    // Scores by words are 5, 2 and 8, similarities 0.5, 0.4 and 0.3; the message 9 is not near enough to be found by that alone.
    const sorted = byWords.toSorted((one, other) => other.score - one.score)
    // A message gives 0.2 of its similarity to those beside it, and 0.1 to those two places away.
    const ofSeven = 0.5 + 0.2 * 0.4 + 0.1 * 0.3
    const ofEight = 0.4 + 0.2 * (0.5 + 0.3)
    expect(fuse(sorted, near).map(({ index, score }) => [index, Number(score.toFixed(4))])).toEqual([
      [1, 0.65],
      [7, Number((0.65 * (2 / 8) + 0.35).toFixed(4))],
      [4, Number((0.65 * (5 / 8)).toFixed(4))],
      [8, Number(((0.35 * ofEight) / ofSeven).toFixed(4))],
    ])
    expect(fused.find(({ index }) => index === 7)).toMatchObject({ covered: 0.5, offset: 7 })
    expect(fused.find(({ index }) => index === 8)).toMatchObject({ covered: 0, fits: true })
  })

  it("let a message that words find gain by what is near beside it", () => {
    const others = [20, 10].map((index) => ({ source: 0, index, score: 1, fits: true, covered: 0.5 }))
    const beside = [{ index: 11, similarity: 0.4, isNear: false, offset: 0 }]
    expect(fuse(others, [beside]).map(({ index, score }) => [index, Number(score.toFixed(2))])).toEqual([
      [10, 0.72],
      [20, 0.65],
    ])
  })

  it("stay as the words are where nothing is near, and keep sessions apart", () => {
    expect(fuse(byWords, [[], []])).toBe(byWords)
    expect(new Set(fuse(byWords, [[], ...near]).map(({ source, index }) => `${source} ${index}`))).toEqual(
      new Set(["0 4", "0 7", "0 1", "1 7", "1 8"]),
    )
  })

  it("do not depend on the order in which the near messages come", () => {
    fc.assert(
      fc.property(words, similarities, (found, close) => {
        expect(fuse(found, [close.toReversed()])).toEqual(fuse(found, [close]))
      }),
    )
  })

  it("show the first of each: no ranking hides what the other has first", () => {
    fc.assert(
      fc.property(words, similarities, (found, close) => {
        const fused = placesOf(fuse(found, [close]))
        const nearest = close
          .filter(({ isNear }) => isNear)
          .toSorted((one, other) => other.similarity - one.similarity || other.index - one.index)[0]
        if (nearest !== undefined) expect(fused.indexOf(nearest.index)).toBeLessThan(20)
        // Ahead of what words found first stands only what meaning has much nearer.
        const first = found[0]
        if (first !== undefined && nearest !== undefined) {
          const ahead = fuse(found, [close]).slice(0, fused.indexOf(first.index))
          for (const { score } of ahead) expect(score).toBeGreaterThanOrEqual(0.65)
        }
        expect(new Set(fused).size).toBe(fused.length)
      }),
    )
  })

  it("are monotone: a message that comes nearer, with all else as it was, does not fall behind another", () => {
    fc.assert(
      fc.property(words, similarities, fc.nat(), (found, close, pick) => {
        const nearest = Math.max(...close.map(({ similarity }) => similarity))
        const chosen = close[pick % Math.max(close.length, 1)]
        // The nearest one is the measure of the others, so it stays.
        fc.pre(chosen !== undefined && chosen.similarity < nearest && nearest > 0)
        const nearer = close.map((one) =>
          one === chosen ? { ...one, similarity: (one.similarity + nearest) / 2, isNear: one.isNear } : one,
        )
        const before = placesOf(fuse(found, [close])).indexOf(chosen!.index)
        const after = placesOf(fuse(found, [nearer])).indexOf(chosen!.index)
        if (before !== -1) expect(after).toBeLessThanOrEqual(before)
      }),
    )
  })
})
