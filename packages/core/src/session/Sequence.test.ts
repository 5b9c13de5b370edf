import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Sequence } from "./Sequence.js"

/** What a sequence is, the slow way: an array and the position of its first element. */
interface Model {
  readonly from: number
  readonly items: ReadonlyArray<number>
}

/** Everything that can be asked of a sequence, and of its model. */
const asked = (sequence: Sequence<number>, range: Range) => ({
  from: sequence.from,
  to: sequence.to,
  length: sequence.length,
  items: [...sequence],
  all: sequence.slice(),
  slice: sequence.slice(...range),
  last: sequence.last,
  at: around(sequence).map((position) => sequence.at(position)),
})

const expected = ({ from, items }: Model, range: Range) => ({
  from,
  to: from + items.length,
  length: items.length,
  items,
  all: items,
  slice: items.filter((_, offset) => from + offset >= range[0] && from + offset < range[1]),
  last: items.at(-1),
  at: around({ from, to: from + items.length }).map((position) =>
    position < from ? undefined : items[position - from],
  ),
})

/** The positions of a sequence and some on either side. */
const around = ({ from, to }: { readonly from: number; readonly to: number }) =>
  Array.from({ length: to - from + 4 }, (_, offset) => from - 2 + offset)

type Range = readonly [from: number, to: number]

const position = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: -3, max: 25 }) },
  { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
)

/** Appends, or drops before a position; on any of the versions there are so far, not only on the newest. */
const step = fc.record({ on: fc.nat(), drop: fc.option(position, { freq: 2 }) })

describe("a sequence", () => {
  it("is an array that keeps its positions, under any interleaving, and older versions stay what they were", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { maxLength: 5 }),
        fc.nat({ max: 10 }),
        fc.array(step, { maxLength: 40, size: "max" }),
        fc.tuple(position, position),
        (items, from, steps, range) => {
          const versions = [{ sequence: Sequence.of(items, from), model: { from, items } as Model }]
          steps.forEach(({ on, drop }, number) => {
            const { sequence, model } = versions[on % versions.length]!
            const gone = drop === null ? 0 : Math.min(Math.max(drop - model.from, 0), model.items.length)
            versions.push(
              drop === null
                ? { sequence: sequence.append(number), model: { ...model, items: [...model.items, number] } }
                : {
                    sequence: sequence.dropBefore(drop),
                    model: { from: model.from + gone, items: model.items.slice(gone) },
                  },
            )
          })
          expect(versions.map(({ sequence }) => asked(sequence, range))).toEqual(
            versions.map(({ model }) => expected(model, range)),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it("finds the first position from which on a condition holds", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 })),
        fc.nat({ max: 10 }),
        fc.integer({ min: -1, max: 21 }),
        (items, from, limit) => {
          const sorted = items.toSorted((one, other) => one - other)
          const found = sorted.findIndex((item) => item >= limit)
          expect(Sequence.of(sorted, from).firstWhere((item) => item >= limit)).toBe(
            from + (found === -1 ? sorted.length : found),
          )
        },
      ),
    )
  })

  it("does not keep what was dropped", () => {
    const long = Sequence.of(Array.from({ length: 1_000 }, (_, position) => position))
    const short = long.dropBefore(999)
    expect(Object.values(short).flat()).not.toContain(998)
    expect(short.at(999)).toBe(999)
  })

  it("takes no notice of what happens to the array it was made from", () => {
    const items = [1, 2, 3]
    const sequence = Sequence.of(items)
    items.push(4)
    items[0] = 9
    expect([...sequence]).toEqual([1, 2, 3])
  })

  it("appends to its newest version in constant time", () => {
    // Were each append to copy, these would be 5,000,000,000 copies: minutes instead of milliseconds.
    let sequence = Sequence.of<number>()
    for (let number = 0; number < 100_000; number++) sequence = sequence.append(number)
    expect(sequence.length).toBe(100_000)
    expect(sequence.last).toBe(99_999)
  }, 10_000)

  it("is written as JSON without the elements that a newer version has appended", () => {
    const older = Sequence.of(["a"], 3)
    older.append("b")
    expect(JSON.stringify(older)).toBe('{"from":3,"items":["a"]}')
  })
})
