import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fuse, rank, rankInSteps } from "./rank.js"
import { postingsOf } from "./postings.js"
import { atOnce } from "@memfold/log/breathe"

const terms = ["alpha", "bravo", "zebra"]
const message = fc.array(fc.constantFrom(...terms, "other"), { maxLength: 6 })
const conversation = fc.array(message, { maxLength: 8 })

describe("rank", () => {
  it("ranks the messages of several sessions as if they were one, but no neighbours across them", () => {
    fc.assert(
      fc.property(fc.array(conversation, { minLength: 1, maxLength: 4 }), (sessions) => {
        // Four empty messages separate two sessions. Scores spread over two neighbours, so no session reaches another.
        const apart = sessions.map((one) => [[], [], ...one, [], []])
        const starts = apart.map((_, at) => apart.slice(0, at).flat().length)
        const together = new Map(
          rank(terms, [postingsOf(apart.flat())]).map(({ index, ...rest }) => [index, rest]),
        )
        const ranked = rank(terms, apart.map(postingsOf))
        for (const { source, index, score, covered } of ranked) {
          const other = together.get(starts[source]! + index)
          expect(score).toBeCloseTo(other?.score ?? Number.NaN, 10)
          expect(covered).toBeCloseTo(other?.covered ?? Number.NaN, 10)
        }
        for (const [at, { score }] of ranked.entries())
          expect(score).toBeLessThanOrEqual(ranked[at - 1]?.score ?? Number.POSITIVE_INFINITY)
        const places = ranked.map(({ source, index }) => starts[source]! + index)
        expect(new Set(places)).toEqual(new Set(together.keys()))
        // Without anything between them, a neighbour in another session is none.
        const close = rank(terms, sessions.map(postingsOf)).map(({ source, index }) => `${source} ${index}`)
        const alone = sessions.flatMap((one, source) =>
          rank(terms, [postingsOf(one)]).map(({ index }) => `${source} ${index}`),
        )
        expect(close.toSorted()).toEqual(alone.toSorted())
      }),
    )
  })
})

describe("rank by what is covered", () => {
  it("prefers a text with two terms of the query to a text with one that is rarer, again and again", () => {
    const apart = (...texts: ReadonlyArray<ReadonlyArray<string>>) =>
      texts.flatMap((text) => [text, ["other"], ["other"], ["other"]])
    const texts = apart(
      ["zebra", "zebra", "zebra", "zebra"],
      ["apple", "pear"],
      ["apple", "other"],
      ["pear", "other"],
      ["apple", "other"],
      ["pear", "other"],
    )
    expect(rank(["zebra", "apple", "pear"], [postingsOf(texts)])[0]?.index).toBe(4)
  })
})

describe("rank with bounds", () => {
  it("goes by the rarest 32 terms of a query", () => {
    // The term "t1" is in one text, "t2" in two, and so on; each text has the terms from its number on.
    const all = Array.from({ length: 60 }, (_, at) => `t${at + 1}`)
    const texts = all.map((_, text) => all.slice(text))
    const rarest = all.slice(0, 32)
    expect(rank(all.toReversed(), [postingsOf(texts)])).toEqual(
      rank(rarest.toReversed(), [postingsOf(texts)]),
    )
    expect(rank(all, [postingsOf(texts)])).not.toEqual(rank(all.slice(28), [postingsOf(texts)]))
  })

  it("has the 10,000 best candidates; among equals, the first session and the newest messages win", () => {
    const sessions = [0, 1].map(() => postingsOf(Array.from({ length: 8_000 }, () => ["alpha"])))
    const ranked = rank(["alpha"], sessions)
    expect(ranked).toHaveLength(10_000)
    // Two messages at each end of a session have fewer neighbours, and are not among the best.
    const places = (source: number) => ranked.filter((one) => one.source === source).map(({ index }) => index)
    expect(places(0)).toEqual(Array.from({ length: 7_996 }, (_, at) => 7_997 - at))
    expect(places(1)).toEqual(Array.from({ length: 2_004 }, (_, at) => 7_997 - at))
  })

  it("has of many different scores the 10,000 that are best", () => {
    const texts = Array.from({ length: 14_000 }, (_, at) => [
      ...Array.from({ length: 1 + ((at * 7_919) % 101) }, () => "alpha"),
      ...Array.from({ length: (at * 104_729) % 37 }, () => "other"),
    ])
    const of = (isWanted?: (source: number, index: number) => boolean) =>
      atOnce(rankInSteps(["alpha"], [postingsOf(texts)], { isWanted }))
    // Neither half has too many.
    const halves = [of((_, index) => index < 7_000), of((_, index) => index >= 7_000)].flat()
    const best = halves.toSorted((one, other) => other.score - one.score || other.index - one.index)
    expect(of()).toEqual(best.slice(0, 10_000))
  })

  it("counts only messages that are wanted among the 10,000", () => {
    const texts = Array.from({ length: 20_000 }, (_, at) => (at === 9 ? ["alpha", "other"] : ["alpha"]))
    const wanted = (_: number, index: number) => index === 9 || index >= 8_000
    const steps = rankInSteps(["alpha"], [postingsOf(texts)], { isWanted: wanted })
    let step = steps.next()
    while (step.done !== true) step = steps.next()
    expect(step.value).toHaveLength(10_000)
    const few = rankInSteps(["alpha"], [postingsOf(texts)], { isWanted: (_, index) => index === 9 })
    for (step = few.next(); step.done !== true;) step = few.next()
    expect(step.value.map(({ index }) => index)).toEqual([9])
  })
})

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
