import { describe, expect, it } from "vitest"
import { Message, TokenCounter } from "@memfold/core"
import {
  identified,
  identifiersIn,
  list as listSteps,
  ranked as rankedSteps,
  splitList,
} from "./identifiers.js"
import { ofMessages as ofMessagesSteps } from "./sources.js"
import { atOnce } from "@memfold/log/breathe"

const ofMessages = (...given: Parameters<typeof ofMessagesSteps>) => atOnce(ofMessagesSteps(...given))
const ranked = (...given: Parameters<typeof rankedSteps>) =>
  atOnce(rankedSteps(...given)).map(({ written }) => written)
const list = (identifiers: ReadonlyArray<string>, text: string, options: Parameters<typeof listSteps>[2]) =>
  atOnce(listSteps(identifiers.map(identified), text, options))

describe("identifiers", () => {
  it.each([
    ["Order KX-4471 and parcel RR771204A.", ["KX-4471", "RR771204A"]],
    ["call 0316874512, or write to a.b@example.org.", ["0316874512", "a.b@example.org"]],
    [
      "see https://example.org/x?y=12345 in src/auth/session.ts",
      ["https://example.org/x?y=12345", "src/auth/session.ts"],
    ],
    ["it costs 1,680.50 EUR, or $45, or 369 元", ["1,680.50 EUR", "$45", "369 元"]],
    ["on 2026-03-02, on March 5, 2026 and on 27 February", ["2026-03-02", "March 5, 2026", "27 February"]],
    ["3月2日签收，2026年3月5日寄出", ["3月2日", "2026年3月5日"]],
    ["订单号SQ20260225-7718，收件人", ["SQ20260225-7718"]],
    ["I spoke to Dana Whitlock about 2 cats, and/or “a dog”.", []],
  ])("%s", (text, expected) => {
    expect(identifiersIn(text).toSorted()).toEqual(expected.toSorted())
  })
})

describe("the ranking", () => {
  const of = (...texts: ReadonlyArray<string>) =>
    ranked(ofMessages(texts.map((text) => Message.user(text))), [])

  it("has the most used and the newest first, and short numbers last", () => {
    expect(of("AB-1001 at 20:00", "AB-1002", "AB-1003", "AB-1001", "AB-1001 costs $45", "AB-1004")).toEqual([
      "AB-1001",
      "AB-1004",
      "AB-1003",
      "AB-1002",
      "$45",
      "20:00",
    ])
  })

  it("keeps the order of the list so far, behind what was just said", () => {
    const sources = ofMessages([Message.user("AB-1001")])
    expect(ranked(sources, ["AB-2001", "AB-2002", "AB-2003"])).toEqual([
      "AB-1001",
      "AB-2001",
      "AB-2002",
      "AB-2003",
    ])
    expect(ranked(sources, ["AB-2001", "AB-1001"])).toEqual(["AB-1001", "AB-2001"])
  })

  it("does not count what a tool answered, only what it was asked", () => {
    const messages = [
      Message.call([{ id: "1", name: "find", arguments: '{"order":"AB-1001"}' }]),
      Message.result({ id: "1", output: "found XY-9999" }),
    ]
    expect(ranked(ofMessages(messages), [])).toEqual(["AB-1001"])
  })
})

describe("the list", () => {
  const size = { estimate: TokenCounter.estimating.count, room: 100, minorRoom: 100, limit: 1_000 }

  it("is a line that is read back, without what the text says already", () => {
    const line = list(["AB-1001", "1,680.50 EUR", "March 5, 2026", "ab-1002"], "- user: it is AB-1002", size)
    expect(line).toBe("- identifiers: AB-1001; 1,680.50 EUR; March 5, 2026")
    expect(splitList(`- user: it is AB-1002\n${line}`)).toEqual({
      text: "- user: it is AB-1002\n",
      listed: ["AB-1001", "1,680.50 EUR", "March 5, 2026"],
    })
    expect(splitList("they spoke of - identifiers: none")).toMatchObject({ listed: [] })
  })

  it("is as long as there is room, and empty where there is none", () => {
    const many = Array.from({ length: 50 }, (_, at) => `AB-${1_000 + at}`)
    const line = list(many, "", { ...size, room: 40 })
    expect(line).toMatch(/^- identifiers: AB-1000; /)
    expect(line.split("; ").length).toBeLessThan(20)
    expect(list(many, "", { ...size, limit: 3 })).toBe("")
    expect(list(["20:00", "$45"], "", { ...size, minorRoom: 0 })).toBe("")
  })
})
