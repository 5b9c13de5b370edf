import { expect, it, vi } from "vitest"
import { type Bound, holds, printBounds } from "./bounds.js"

const share = (measured: number, limit: Partial<Bound>): Bound => ({
  what: "x",
  measured,
  unit: "%",
  ...limit,
})

it("a bound holds at its limit, below a limit that is excluded, and never without a measurement", () => {
  expect([50, 50.1].map((measured) => holds(share(measured, { most: 50 })))).toEqual([true, false])
  expect([75, 74.9].map((measured) => holds(share(measured, { least: 75 })))).toEqual([true, false])
  expect([0.99, 1].map((measured) => holds(share(measured, { below: 1 })))).toEqual([true, false])
  for (const limit of [{ most: 1 }, { least: 0 }, { below: 1 }])
    expect(holds(share(Number.NaN, limit))).toBe(false)
})

it("prints each bound with its measurement, and a missed bound fails the benchmark", () => {
  const lines: Array<string> = []
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
  const outcomes = [
    printBounds([share(80, { least: 72 })]),
    printBounds([share(80, { least: 72 }), { what: "y", measured: 1.456, unit: "×", most: 1.4 }]),
  ]
  log.mockRestore()
  expect(outcomes).toEqual([true, false])
  expect(lines.filter((line) => /80\.0 %  at least 72 % +holds/.test(line))).toHaveLength(2)
  expect(lines.filter((line) => /y +1\.46×  at most 1\.4× +MISSED/.test(line))).toHaveLength(1)
})
