import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { clip, collapse, sentences, slice, terms } from "./text.js"

const texts = (text: string) => sentences(text).map((sentence) => sentence.text)

describe("sentences", () => {
  it.each([
    ["English", "It arrived today. The lid is broken! Can you help me?", 3],
    ["abbreviations", "We met Dr. Smith, e.g. at the harbour in Graz. He said nothing.", 2],
    ["Chinese", "昨天收到的磨豆机是坏的。订单号是 KX-4471，收件人沈若棠。请问怎么办？", 3],
    ["Japanese", "注文番号はKX-4471です。明日の会議は十時からです。よろしくお願いします。", 3],
    ["Arabic", "رقم الطلب هو KX-4471. هل يمكنك تأكيد العنوان؟ شكرا جزيلا لكم.", 3],
    ["Hindi", "मेरा ऑर्डर अभी तक नहीं आया है। कृपया जल्दी जवाब दें।", 2],
    ["lines", "first line of it\nsecond line of it\r\nthird line of it", 3],
  ])("%s", (_, text, count) => {
    expect(sentences(text)).toHaveLength(count)
  })

  it("joins what is too short to stand alone with what follows", () => {
    expect(texts("OK. Then let us begin with the first part.")).toEqual([
      "OK. Then let us begin with the first part.",
    ])
    expect(texts("好的。我们明天上午十点开始吧。")).toEqual(["好的。我们明天上午十点开始吧。"])
  })

  it("cuts long ones where a clause ends, and says that they go on", () => {
    const long = `${"a clause of some length, ".repeat(30)}the end.`
    const found = sentences(long)
    expect(found.length).toBeGreaterThan(2)
    for (const { text } of found.slice(0, -1)) expect(text).toMatch(/,$/)
    expect(found.map(({ began }) => began)).toEqual(found.map((_, at) => at > 0))
    expect(found.map(({ goesOn }) => goesOn)).toEqual(found.map((_, at) => at < found.length - 1))
    expect(found.map(({ text }) => text).join(" ")).toBe(long)
  })

  it("keeps every letter, in short pieces, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 900 }), (text) => {
        const found = texts(text)
        expect(found.join("").replaceAll(" ", "")).toBe(collapse(text).replaceAll(" ", ""))
        for (const one of found) expect(one.length).toBeLessThanOrEqual(241)
      }),
    )
  })

  it("finds in lines of ASCII what the segmenter finds", () => {
    const ending = fc.constantFrom(". ", "! ", "?", ".", ".5 ", ".b ", "...", ". (", ") ", ", ")
    const some = ending.map((end) => `A word of some length${end}`)
    const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })
    fc.assert(
      fc.property(fc.array(some, { maxLength: 6 }), (found) => {
        const line = collapse(found.join(""))
        const expected = Array.from(segmenter.segment(line), ({ segment }) => segment.trim())
        const canStandAlone = expected.every((one) => one.length >= 16 && one.startsWith("A"))
        if (canStandAlone && line.length < 200) expect(texts(line)).toEqual(expected)
      }),
    )
  })

  it("takes time in proportion to the length", () => {
    const text = "这是一个没有任何换行的很长的句子，".repeat(12_000)
    const before = cpuTime()
    expect(sentences(text).length).toBeGreaterThan(1_000)
    expect(before()).toBeLessThan(4_000)
  })
})

describe("terms", () => {
  it("folds case, width and most inflections; leaves out punctuation and bare numbers", () => {
    expect(terms("Allergies, ALLERGY; ｗｏｒｄ 42!")).toEqual(["allerg", "allerg", "word"])
  })

  it("finds words where no spaces are written, also beside other letters", () => {
    expect(terms("我对坚果过敏")).toContain("过敏")
    expect(terms("注文KX4471の確認")).toEqual(expect.arrayContaining(["注文", "kx4471", "確認"]))
    expect(terms("ผมชอบกินข้าว").length).toBeGreaterThan(1)
  })
})

describe("cutting", () => {
  it("never halves a character, and marks the cut", () => {
    expect(slice("a😀b", 0, 2)).toBe("a")
    expect(slice("a😀b", 2)).toBe("b")
    expect(slice("a😀b", 1, 3)).toBe("😀")
    expect(clip("😀😀😀", 4)).toBe("😀…")
    expect(clip("abc", 3)).toBe("abc")
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, length) => {
        const cut = clip(text, length)
        expect(cut).toBe(Buffer.from(cut).toString())
        expect(cut.length).toBeLessThanOrEqual(Math.max(length, 1))
      }),
    )
  })

  it("puts everything on one line", () => {
    expect(collapse(" a\tb\r\n\u2028c\u0085d\u0000 \u00a0e ")).toBe("a b c d e")
  })
})
