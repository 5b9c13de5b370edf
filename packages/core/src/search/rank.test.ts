import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { rank, rankInSteps } from "./rank.js"
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
