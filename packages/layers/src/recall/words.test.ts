import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { words } from "./words.js"

const shares = (one: string, other: string): boolean => {
  const found = new Set(words(one))
  return words(other).some((word) => found.has(word))
}

describe("words", () => {
  it("are lower case, without punctuation and without words that mean nothing alone", () => {
    expect(words("What is the PORT of `db-1`?!")).toEqual(["port", "db", "1"])
    expect(words("请问你的数据在哪里")).toEqual(["数据"])
    expect(words("the of and, 的了吗？")).toEqual([])
  })

  it("fold English endings", () => {
    for (const [one, other] of [
      ["deploys", "deployed"],
      ["testing", "tests"],
      ["prices", "pricing"],
      ["cities", "city"],
      ["dishes", "dish"],
    ] as const) {
      expect(words(one)).toEqual(words(other))
    }
    expect(words("gas")).toEqual(["gas"])
    expect(words("bing")).not.toEqual(words("b"))
  })

  it("meet across the ways a Chinese compound can be cut", () => {
    expect(shares("我们用的数据库是什么", "数据库：PostgreSQL")).toBe(true)
    expect(shares("機器學習的筆記", "關於機器學習")).toBe(true)
    expect(shares("北京天气怎么样", "住在：北京")).toBe(true)
    expect(shares("今天下雨吗", "喜欢：喝茶")).toBe(false)
  })

  it("are found in scripts without spaces next to ones with", () => {
    expect(words("用Rust写的parser")).toEqual(expect.arrayContaining(["rust", "parser"]))
    expect(words("ภาษาไทย").length).toBeGreaterThan(1)
    expect(words("東京タワー").length).toBeGreaterThan(1)
  })

  it("do not choke on what is none", () => {
    expect(words("")).toEqual([])
    expect(words("🎉 \ud83c !!! …")).toEqual([])
    expect(words("x".repeat(65))).toEqual([])
    // Compatibility forms are one word.
    expect(words("ＡＢＣ")).toEqual(words("abc"))
  })

  it("take time linear in the length", () => {
    const time = (text: string): number => {
      const start = cpuTime()
      words(text)
      return start()
    }
    time("warm up 漢字かな")
    for (const unit of ["漢", "word ", "ก", "a1漢 "]) {
      expect(time(unit.repeat(40_000 / unit.length))).toBeLessThan(5_000)
    }
  })
})
