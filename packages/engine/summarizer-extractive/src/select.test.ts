import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { Message, TokenCounter } from "@memfold/core"
import { read, type Source } from "./digest.js"
import { salience as salienceSteps } from "./salience.js"
import { selecting } from "./select.js"
import { ofMessages as ofMessagesSteps } from "./sources.js"
import { atOnce } from "@memfold/log/breathe"

const ofMessages = (...given: Parameters<typeof ofMessagesSteps>) => atOnce(ofMessagesSteps(...given))
const salience = (...given: Parameters<typeof salienceSteps>) => atOnce(salienceSteps(...given))

const costs = {
  piece: ({ text }: { readonly text: string }) => TokenCounter.estimating.count(text),
  label: ({ label }: Source) => TokenCounter.estimating.count(`- ${label}: \n`),
}
const chosen = (sources: ReadonlyArray<Source>, budget: number, most = budget) =>
  atOnce(atOnce(selecting(salience(sources, ""), costs, most))(budget)).flatMap(({ parts }) => parts)

const words =
  "amber basil cedar delta ember fable grove haven ivory jolly karma lemon maple noble ocean pearl".split(" ")
const plain = (n: number) =>
  `The ${words[n % 16]} ${words[(n * 5 + 3) % 16]} stands near ${words[(n * 7 + 1) % 16]}${n}ly ${words[(n * 11) % 16]}.`
const numbered = (n: number) => `Ticket QX-${7_000 + n * 13} belongs to account RZ-${900_000 + n * 77}.`
const twenty = Array.from({ length: 20 }, (_, n) => n)

describe("a merge", () => {
  const tokens = (parts: ReturnType<typeof chosen>, old: boolean): number =>
    parts
      .filter(({ source }) => source.old === old)
      .reduce((sum, { piece }) => sum + TokenCounter.estimating.count(piece.text), 0)

  it.each([
    ["a summary full of facts does not shut out what is new", numbered, plain],
    ["news full of facts do not push out the summary", plain, numbered],
  ])("%s", (_, before, after) => {
    const previous = twenty.map((n) => `- user: ${before(n)}`).join("\n")
    const sources = [...read(previous), ...ofMessages(twenty.map((n) => Message.user(after(n))))]
    const budget = 200
    const parts = chosen(sources, budget)
    expect(tokens(parts, true)).toBeGreaterThan(budget * 0.15)
    expect(tokens(parts, false)).toBeGreaterThan(budget * 0.15)
  })

  it("what was kept has a slight advantage over the same thing said anew", () => {
    const previous = "- user: The parcel QX-7001 is lost."
    const sources = [...read(previous), ...ofMessages([Message.user("The parcel QX-7001 is lost.")])]
    expect(chosen(sources, 100).map(({ source }) => source.old)).toEqual([true])
  })
})

describe("a choice", () => {
  it("is the same, whatever larger budget is chosen for beside it", () => {
    const line = fc.oneof(
      fc.nat(40).map(plain),
      fc.nat(40).map(numbered),
      fc.constantFrom("Yes.", "Shall I?"),
    )
    const lines = fc.array(line, { maxLength: 12 })
    fc.assert(
      fc.property(
        lines,
        lines,
        fc.integer({ min: 1, max: 200 }),
        fc.nat(300),
        (before, after, budget, more) => {
          const previous = before.map((one) => `- user: ${one}`).join("\n")
          const said = after.map((one, at) => (at % 2 === 0 ? Message.assistant(one) : Message.user(one)))
          const sources = [...read(previous), ...ofMessages(said)]
          const texts = (most: number) => chosen(sources, budget, most).map(({ piece }) => piece.text)
          expect(texts(budget + more)).toEqual(texts(budget))
          expect(texts(0)).toEqual(texts(budget))
        },
      ),
      { numRuns: often(200, 2_000) },
    )
  })

  it("stays within the budget, and says nothing twice", () => {
    const sources = ofMessages(twenty.flatMap((n) => [Message.user(numbered(n)), Message.user(numbered(n))]))
    const parts = chosen(sources, 150)
    const cost = parts.reduce((sum, { piece, source }) => sum + costs.piece(piece) + costs.label(source), 0)
    expect(cost).toBeLessThanOrEqual(150)
    const texts = parts.map(({ piece }) => piece.text)
    expect(texts.length).toBeGreaterThan(3)
    expect(new Set(texts).size).toBe(texts.length)
  })

  it("does not depend on how sources of equal worth are ordered by chance", () => {
    const sources = ofMessages(twenty.map(() => Message.user("The parcel QX-7001 is lost.")))
    expect(chosen(sources, 100).map(({ source }) => sources.indexOf(source))).toEqual([0])
  })

  it("takes from several messages rather than all from one", () => {
    const sources = ofMessages([
      Message.assistant(twenty.map(numbered).join(" ")),
      Message.assistant(plain(1)),
      Message.assistant(plain(6)),
    ])
    const parts = chosen(sources, 200)
    expect(new Set(parts.map(({ source }) => source)).size).toBeGreaterThan(1)
  })

  it("of nothing is nothing", () => {
    expect(chosen([], 100)).toEqual([])
    expect(chosen(ofMessages([Message.user("hello there, my friend")]), 0)).toEqual([])
  })
})
