import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { postingsOf } from "../search/postings.js"
import { termsOf } from "../search/terms.js"
import { identifiersOf } from "./identifiers.js"
import { sentencesOf } from "./sentences.js"
import { atOnce } from "@memfold/log/breathe"
import { mayRestOn, mostMessages, parsedSentences as sentenceSteps, supportOf, weigh } from "./support.js"

const parsedSentences = (texts: ReadonlyArray<string>) => atOnce(sentenceSteps(texts))

/** The messages that count: all of them, said on no day that a sentence names. */
const groundOf = (messages: ReadonlyArray<string>, range = { from: 0, to: messages.length }) => ({
  postings: postingsOf(messages.map(termsOf)),
  range,
  days: new Set<string>(),
})

/** Traces a text to messages. */
const traced = (text: string, messages: ReadonlyArray<string>, range?: { from: number; to: number }) =>
  parsedSentences([text])
    .flat()
    .map((parsed) => supportOf(weigh(parsed, groundOf(messages, range))))

const words = [
  "order parcel invoice garden train coffee parser money discount refund customer warehouse".split(" "),
  "заказ посылка счёт сад поезд кофе скидка клиент склад".split(" "),
  "订单 包裹 发票 花园 火车 咖啡 折扣 客户 仓库".split(" "),
]
/** A sentence of one language with an identifier, as people write it. */
const sentence = fc
  .tuple(fc.constantFrom(...words), fc.integer({ min: 1_000, max: 9_999 }))
  .chain(([list, number]) =>
    fc
      .array(fc.constantFrom(...list), { minLength: 3, maxLength: 9 })
      .map((said) => `${said.join(" ")} KX-${number}`),
  )

describe("a sentence", () => {
  it("that is quoted from a message rests on it, whatever else was said", () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(sentence, { minLength: 1, maxLength: 20, selector: (text) => text.slice(-7) }),
        fc.nat(),
        (messages, at) => {
          const index = at % messages.length
          const [found] = traced(messages[index]!, messages)
          expect(found).toMatchObject({ supported: true, missing: [], share: expect.closeTo(1, 9) })
          expect(found?.messages[0]).toMatchObject({ index, share: expect.closeTo(1, 9) })
        },
      ),
      { numRuns: often(100, 2_000) },
    ))

  it("with an identifier that nobody said is not supported, however well the rest fits", () =>
    fc.assert(
      fc.property(
        fc.array(sentence, { minLength: 1, maxLength: 20 }),
        fc.nat(),
        fc.constantFrom(
          "QZ-99",
          "src/invented.ts",
          "inventPrice",
          "ann@invented.org",
          "77123.45",
          "99887766",
        ),
        (messages, at, invented) => {
          const [found] = traced(`${messages[at % messages.length]!} ${invented}`, messages)
          expect(found?.supported).toBe(false)
          expect(found?.missing).toEqual([invented])
        },
      ),
      { numRuns: often(100, 2_000) },
    ))

  it("rests only on messages of the range, on few of them, and always on the same", () =>
    fc.assert(
      fc.property(
        fc.array(sentence, { maxLength: 20 }),
        sentence,
        fc.nat(20),
        fc.nat(20),
        (messages, text, one, other) => {
          const range = { from: Math.min(one, other), to: Math.max(one, other) }
          const [found] = traced(text, messages, range)
          for (const { index } of found?.messages ?? [])
            expect(index >= range.from && index < Math.min(range.to, messages.length)).toBe(true)
          expect(found?.messages.length).toBeLessThanOrEqual(mostMessages)
          expect(traced(text, messages, range)[0]).toEqual(found)
          // A message without a word of it changes nothing.
          const longer = [...messages, "unrelated"]
          expect(traced(text, longer, range)[0]).toEqual(found)
        },
      ),
      { numRuns: often(100, 2_000) },
    ))

  it("rests only on messages that it may rest on", () =>
    fc.assert(
      fc.property(
        fc.array(sentence, { minLength: 1, maxLength: 20 }),
        fc.array(sentence, { minLength: 1, maxLength: 3 }),
        (messages, said) => {
          const ground = groundOf(messages)
          for (const parsed of parsedSentences([said.join(" ")]).flat()) {
            const weighed = weigh(parsed, ground)
            for (const { index } of supportOf(weighed).messages) expect(mayRestOn(weighed, index)).toBe(true)
          }
        },
      ),
      { numRuns: often(100, 2_000) },
    ))

  it("cannot rest on a message that shares a common word and nothing else", () => {
    const messages = [
      "The customer wants the parcel by Friday.",
      ...Array.from({ length: 30 }, (_, at) => `The customer asked for invoice ${at}.`),
    ]
    const [[parsed] = []] = parsedSentences([messages[0]!])
    const weighed = weigh(parsed!, groundOf(messages))
    expect(mayRestOn(weighed, 0)).toBe(true)
    expect(mayRestOn(weighed, 1)).toBe(false)
  })

  it("that shares only common words rests on nothing that supports it", () => {
    const messages = [
      "The customer asked about the invoice of March.",
      "The customer wants the parcel by Friday.",
      "The customer likes the garden.",
    ]
    const [invented] = traced("The customer hates flying and will sue the airline.", messages)
    expect(invented?.supported).toBe(false)
    const [real] = traced("The customer wants the parcel by Friday.", messages)
    expect(real).toMatchObject({ supported: true, messages: [{ index: 1 }] })
    expect(real?.messages[0]?.words).toEqual(["customer", "wants", "parcel", "Friday"])
  })

  it("may name the day on which its messages were said, and no other day", () => {
    const [[parsed] = []] = parsedSentences(["2026-05-01: the parcel was sent to Graz."])
    const ground = groundOf(["The parcel was sent to Graz."])
    expect(supportOf(weigh(parsed!, { ...ground, days: new Set(["2026-05-01"]) }))).toMatchObject({
      supported: true,
      missing: [],
    })
    expect(supportOf(weigh(parsed!, { ...ground, days: new Set(["2026-05-02"]) }))).toMatchObject({
      supported: false,
      missing: ["2026-05-01"],
    })
  })

  it("that joins two messages rests on both", () => {
    const messages = ["Deploy with make ship.", "Unrelated talk.", "The port is 8443."]
    const [found] = traced("Deploy with make ship; the port is 8443.", messages)
    expect(found?.supported).toBe(true)
    expect(found?.messages.map(({ index }) => index).toSorted()).toEqual([0, 2])
  })
})

describe("the sentences of a text", () => {
  it("are where they stand in it, and end at marks and lines, not within identifiers", () => {
    const text =
      "## Goal\n- Fix src/money.ts. Then ship!\n订单已发。客户满意。 It costs 39.90 EUR\n2. Keep it … short."
    const found = sentencesOf(text)
    expect(found.map((one) => one.text)).toEqual([
      "## Goal",
      "- Fix src/money.ts.",
      "Then ship!",
      "订单已发。",
      "客户满意。",
      "It costs 39.90 EUR",
      "2. Keep it … short.",
    ])
    for (const { text: said, from, to } of found) expect(text.slice(from, to)).toBe(said)
  })

  it("hold any text without a gap in what it says", () =>
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const found = sentencesOf(text)
        expect(found.map((one) => one.text.replace(/\s/gu, "")).join("")).toBe(text.replace(/\s/gu, ""))
        for (const one of found) expect(text.slice(one.from, one.to)).toBe(one.text)
      }),
      { numRuns: often(100, 2_000) },
    ))
})

describe("identifiers", () => {
  it.each([
    ["Order KX-4471 and parcel 7781234", ["KX-4471", "7781234"]],
    ["call parsePrice() in src/money.ts", ["parsePrice", "src/money.ts"]],
    ["read/write of 3 well-known files", []],
    ["mail ann@example.org, 39.90 EUR", ["ann@example.org", "39.90"]],
    ["订单KX-4471已发", ["订单KX-4471已发"]],
  ])("of %s", (text, expected) => {
    expect(identifiersOf(text).map((one) => one.text)).toEqual(expected)
  })
})

it("a sentence that goes on without an end is looked at in pieces, none within a character", () => {
  for (const text of ["word ".repeat(4_000), "a".repeat(9_999), "😀".repeat(4_000)]) {
    const found = sentencesOf(text)
    expect(Math.max(...found.map(({ from, to }) => to - from))).toBeLessThanOrEqual(2_000)
    expect(
      found
        .map((one) => one.text)
        .join("")
        .replaceAll(" ", ""),
    ).toBe(text.replaceAll(" ", ""))
    for (const { text: piece, from, to } of found) {
      expect(text.slice(from, to)).toBe(piece)
      expect(piece.isWellFormed()).toBe(true)
    }
  }
})
