import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readTime } from "./time.js"

const read = (value: unknown) => Either.getOrNull(readTime(value))

describe("readTime", () => {
  it("reads milliseconds and ISO 8601, UTC unless an offset says otherwise", () => {
    const noon = Date.UTC(2026, 2, 2, 12)
    expect(read(noon)).toBe(noon)
    expect(read(0)).toBe(0)
    for (const text of [
      "2026-03-02T12:00:00.000Z",
      "2026-03-02T12:00:00Z",
      "2026-03-02T12:00Z",
      "2026-03-02T12:00:00",
      "2026-03-02 12:00",
      "2026-03-02T13:30:00+01:30",
      "2026-03-02T13:30:00+0130",
      "2026-03-02 13:00:00.000000+01",
    ]) {
      expect(read(text)).toBe(noon)
    }
    expect(read("2026-03-02")).toBe(Date.UTC(2026, 2, 2))
  })

  it("reads back every time that a date can write", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
        expect(read(date.toISOString())).toBe(date.getTime())
      }),
    )
  })

  it("reads seconds as what they are, with a fraction too, and leaves the clock of a simulation alone", () => {
    const noon = Date.UTC(2026, 2, 2, 12)
    expect(read(noon / 1_000)).toBe(noon)
    expect(read(noon / 1_000 + 0.25)).toBe(noon + 250)
    expect(read(-1e9)).toBe(-1e12)
    expect(read(1e11)).toBe(1e11)
    expect(read(60_000)).toBe(60_000)
  })

  it("takes nothing else", () => {
    const wrong = ["", "yesterday", "5", "2026", "2026-13-01", "2026-03-02T25:00Z", "03/02/2026", "12:00Z"]
    for (const value of [...wrong, Number.NaN, Infinity, 9e15, true, null, {}, ["2026-03-02"]]) {
      expect(read(value)).toBeNull()
    }
  })
})
