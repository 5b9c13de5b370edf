import { describe, expect, it } from "vitest"
import { facts } from "./facts.js"

const worth = (text: string, key: string): number =>
  facts(text).find((fact) => fact.key === key.toLowerCase())?.worth ?? 0

describe("facts", () => {
  it.each([
    ["an order number", "Order KX-4471 is late.", "kx-4471", 3],
    ["one beside Chinese", "订单号SQ20260225-7718，收件人", "sq20260225-7718", 3],
    ["a phone number", "call 0316874512 now", "0316874512", 2.5],
    ["an address", "write to a.b@example.org.", "a.b@example.org", 2.5],
    ["a link", "see https://example.org/x?y=1 for it", "https://example.org/x?y=1", 2.5],
    ["a date", "on 2026-03-02 it", "2026-03-02", 2.5],
    ["a path", "open /etc/nginx/nginx.conf and", "/etc/nginx/nginx.conf", 1.5],
    ["a relative path", "in src/auth/session.ts now", "src/auth/session.ts", 1.5],
    ["a time", "at 05:26 sharp", "05:26", 1.3],
    ["an amount", "it costs 39.90 euros", "39.90", 1.3],
    ["a name", "I spoke to Dana Whitlock today", "dana whitlock", 1],
    ["an identifier in code", "call getUserById first", "getuserbyid", 0.6],
    ["a quotation", "the button 「保存する」 is gone", "「保存する」", 0.6],
    ["a small number", "I have 2 cats", "2", 0.15],
  ])("%s", (_, text, key, expected) => {
    expect(worth(text, key)).toBe(expected)
  })

  it("are not plain words, not even the first of a sentence", () => {
    expect(facts("Nothing of this is a fact, and/or so it seems.")).toEqual([])
  })

  it("an identifier or address says something alone, a number does not", () => {
    expect(facts("KX-4471 weighs 250").map(({ key, alone }) => [key, alone])).toEqual([
      ["kx-4471", true],
      ["250", false],
    ])
  })

  it("count once each, however they are written", () => {
    expect(facts("KX-4471, kx-4471 and ＫＸ-4471").filter(({ key }) => key.includes("kx"))).toHaveLength(1)
  })
})
