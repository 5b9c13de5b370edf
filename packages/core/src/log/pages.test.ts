import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { LogError, type LogRecord, type ReadOptions } from "./EventLog.js"
import { foldRecords, readInPages } from "./pages.js"

const recordAt = (version: number): LogRecord => ({
  session: "s",
  version,
  batchId: `b${version}`,
  time: 0,
  type: "SessionCleared",
  schemaVersion: 1,
  data: "{}",
})

/** The records of a log of so many, in pages; and how many pages were read. */
const paged = (length: number, pageSize: number, options?: ReadOptions) => {
  const seen = { pages: 0 }
  const records = readInPages(options, pageSize, ({ fromVersion, toVersion, reverse }) =>
    Effect.sync(() => {
      seen.pages++
      const all = Array.from({ length }, (_, index) => recordAt(index + 1)).filter(
        ({ version }) => version >= fromVersion && version <= toVersion,
      )
      return (reverse ? all.toReversed() : all).slice(0, pageSize)
    }),
  )
  return { seen, records }
}

const versions = (before: ReadonlyArray<number>, { version }: LogRecord) => Either.right([...before, version])

describe("records in pages", () => {
  it("are the same as a stream and in a fold, for every range and page", () => {
    const range = fc.record(
      {
        fromVersion: fc.integer({ min: -1, max: 14 }),
        toVersion: fc.integer({ min: -1, max: 14 }),
        reverse: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.nat({ max: 12 }), fc.integer({ min: 1, max: 5 }), range, (length, pageSize, options) => {
        const { fromVersion = 1, toVersion = length, reverse = false } = options
        const inOrder = Array.from({ length }, (_, index) => index + 1).filter(
          (version) => version >= fromVersion && version <= toVersion,
        )
        const expected = reverse ? inOrder.toReversed() : inOrder
        const { seen, records } = paged(length, pageSize, options)
        expect(Effect.runSync(foldRecords(records, [] as ReadonlyArray<number>, versions))).toEqual(expected)
        // A page that is not full is the last one.
        expect(seen.pages).toBe(Math.floor(expected.length / pageSize) + 1)
        const collected = Effect.runSync(Stream.runCollect(records))
        expect([...collected].map(({ version }) => version)).toEqual(expected)
      }),
    )
  })

  it.effect("that a stream was made of are folded all the same", () =>
    Effect.gen(function* () {
      const even = Stream.filter(paged(9, 2).records, ({ version }) => version % 2 === 0)
      expect(yield* foldRecords(even, [] as ReadonlyArray<number>, versions)).toEqual([2, 4, 6, 8])
    }),
  )

  it.effect("are read no further than the step that fails", () =>
    Effect.gen(function* () {
      const { seen, records } = paged(9, 2)
      const upTo = (last: number) => (before: number, record: LogRecord) =>
        record.version > last ? Either.left(`stopped at ${record.version}`) : Either.right(before + 1)
      expect(yield* Effect.flip(foldRecords(records, 0, upTo(3)))).toBe("stopped at 4")
      expect(seen.pages).toBe(2)
      // The fold is an effect: it can be run again, from the first page.
      expect(yield* foldRecords(records, 0, upTo(9))).toBe(9)
    }),
  )

  it.effect("fail with the error of a page", () =>
    Effect.gen(function* () {
      const error = new LogError({ operation: "read", session: "s", reason: "the disk failed" })
      const records = readInPages({}, 2, ({ fromVersion }) =>
        fromVersion === 1 ? Effect.succeed([recordAt(1), recordAt(2)]) : error,
      )
      expect(yield* Effect.flip(foldRecords(records, [] as ReadonlyArray<number>, versions))).toBe(error)
      expect(yield* Effect.flip(Stream.runCollect(records))).toBe(error)
    }),
  )
})
