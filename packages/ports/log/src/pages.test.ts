import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import {
  compareActivity,
  compareSessionIds,
  type FedRecord,
  inPage,
  type ListOptions,
  LogError,
  type LogRecord,
  type PageOptions,
  type ReadOptions,
  type Service,
  type SessionInfo,
} from "./EventLog.js"
import { feed, foldRecords, records, sessions } from "./pages.js"

/** How many records or sessions a page has. */
const pageSize = 512

const recordAt = (version: number): LogRecord => ({
  session: "s",
  version,
  batchId: `b${version}`,
  time: 0,
  type: "SessionCleared",
  schemaVersion: 1,
  data: "{}",
})

/** A log of `length` records, some with data of another length than two, and the pages that were read of it. */
const logOf = (length: number, long: ReadonlyMap<number, number> = new Map()) => {
  const all = Array.from({ length }, (_, index) => {
    const text = long.get(index + 1)
    return { ...recordAt(index + 1), ...(text === undefined ? {} : { data: "x".repeat(text) }) }
  })
  const pages: Array<PageOptions> = []
  const read = (_session: string, page: PageOptions) =>
    Effect.sync(() => {
      pages.push(page)
      const within = all.filter(({ version }) => version >= page.fromVersion && version <= page.toVersion)
      return inPage((page.reverse ? within.toReversed() : within).slice(0, page.limit))
    })
  return { read, pages }
}

const versions = (before: Array<number>, { version }: LogRecord) => {
  before.push(version)
  return Either.right(before)
}

const folded = (log: ReturnType<typeof logOf>, options: ReadOptions) =>
  Effect.suspend(() => foldRecords(log, "s", options, [], versions))

const streamed = (log: ReturnType<typeof logOf>, options?: ReadOptions) =>
  Effect.map(Stream.runCollect(records(log, "s", options)), (some) => [...some].map(({ version }) => version))

const naive = (
  length: number,
  { fromVersion = 1, toVersion = length, reverse = false }: ReadOptions,
): ReadonlyArray<number> => {
  const inOrder = Array.from({ length }, (_, index) => index + 1).filter(
    (version) => version >= fromVersion && version <= toVersion,
  )
  return reverse ? inOrder.toReversed() : inOrder
}

/** Lengths and versions near the bounds of pages, and some others. */
const near = fc.oneof(
  fc.integer({ min: -2, max: 14 }),
  fc
    .constantFrom(1, 2, 3)
    .chain((pages) => fc.integer({ min: pages * pageSize - 2, max: pages * pageSize + 2 })),
  fc.integer({ min: 0, max: 3 * pageSize + 10 }),
)

const range: fc.Arbitrary<ReadOptions> = fc.record(
  { fromVersion: near, toVersion: near, reverse: fc.boolean() },
  { requiredKeys: [] },
)

describe("the records of a session", () => {
  it("are equal to a slice of the log as a stream and in a fold, for every range and order", () => {
    fc.assert(
      fc.property(
        near.map((length) => Math.max(length, 0)),
        range,
        (length, options) => {
          const expected = naive(length, options)
          const log = logOf(length)
          expect(Effect.runSync(folded(log, options))).toEqual(expected)
          const read = log.pages.length
          expect(Effect.runSync(streamed(log, options))).toEqual(expected)
          expect(log.pages).toHaveLength(2 * read)
          // A page that is not full is the last one, and an empty range is not read.
          expect(read).toBeLessThanOrEqual(Math.floor(expected.length / pageSize) + 1)
          for (const page of log.pages) {
            // A page behind another one begins with the last record of that page.
            expect([pageSize, pageSize + 1]).toContain(page.limit)
            expect(page.fromVersion).toBeGreaterThanOrEqual(1)
            expect(page.toVersion).toBeGreaterThanOrEqual(page.fromVersion)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it("are read on behind a page that ends early, and are of one log, wherever long ones are", () => {
    const long = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 700 }), fc.constantFrom(70_000, 600_000, 3_500_000)),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(long, range, fc.nat({ max: 12 }), (some, options, before) => {
        const [log, other] = [logOf(700, new Map(some)), logOf(700, new Map(some))]
        const expected = naive(700, options)
        expect(Effect.runSync(folded(log, options))).toEqual(expected)
        expect(Effect.runSync(streamed(log, options))).toEqual(expected)
        // Each page has records, but for one behind the last record; long ones are not read again.
        expect(log.pages.length / 2).toBeLessThanOrEqual(4 + 2 * some.length)
        let reads = 0
        const changed = {
          read: (session: string, page: PageOptions) =>
            reads++ <= before
              ? log.read(session, page)
              : Effect.map(other.read(session, page), (found) =>
                  found.map((record) => ({ ...record, batchId: `other ${record.version}` })),
                ),
        }
        const found: Array<string> = []
        const collect = (_: null, { batchId }: LogRecord) => Either.right((found.push(batchId), null))
        const end = Effect.runSync(Effect.either(foldRecords(changed, "s", options, null, collect)))
        const isMixed = found.some((batch) => batch.startsWith("other"))
        expect(isMixed).toBe(false)
        if (Either.isLeft(end)) expect(String(end.left)).toContain("it was deleted while it was read")
        else expect(found).toHaveLength(expected.length)
      }),
      { numRuns: 40 },
    )
  })

  it.effect("are the whole log, oldest first, without options", () =>
    Effect.gen(function* () {
      expect(yield* streamed(logOf(1_100))).toEqual(naive(1_100, {}))
      expect(yield* streamed(logOf(0))).toEqual([])
    }),
  )

  it.effect("are read as far as a stream is taken", () =>
    Effect.gen(function* () {
      const log = logOf(2_000)
      const first = yield* Stream.runCollect(Stream.take(records(log, "s"), 3))
      expect([...first].map(({ version }) => version)).toEqual([1, 2, 3])
      expect(log.pages).toHaveLength(1)
    }),
  )

  it.effect("are read no further than the step that fails", () =>
    Effect.gen(function* () {
      const log = logOf(2_000)
      const upTo = (last: number) => (before: number, record: LogRecord) =>
        record.version > last ? Either.left(`stopped at ${record.version}`) : Either.right(before + 1)
      const last = pageSize + 1
      expect(yield* Effect.flip(foldRecords(log, "s", {}, 0, upTo(last)))).toBe(`stopped at ${last + 1}`)
      expect(log.pages).toHaveLength(2)
      const backwards = foldRecords(log, "s", { reverse: true }, 0, upTo(1_999))
      expect(yield* Effect.flip(backwards)).toBe("stopped at 2000")
      expect(log.pages).toHaveLength(3)
      // The fold is an effect: it can be run again, from the first page.
      const whole = foldRecords(log, "s", {}, 0, upTo(2_000))
      expect([yield* whole, yield* whole]).toEqual([2_000, 2_000])
    }),
  )

  it.effect("are not of two logs when the session is deleted and started again between two pages", () =>
    Effect.gen(function* () {
      for (const reverse of [false, true]) {
        const [first, second] = [logOf(1_100), logOf(2_000)]
        let reads = 0
        const log = {
          read: (session: string, page: PageOptions) =>
            reads++ === 0
              ? first.read(session, page)
              : Effect.map(second.read(session, page), (some) =>
                  some.map((record) => ({ ...record, batchId: `other ${record.version}` })),
                ),
        }
        const failed = yield* Effect.flip(foldRecords(log, "s", { reverse }, [], versions))
        expect(failed).toMatchObject({ _tag: "LogError", session: "s" })
        expect(failed.message).toContain("it was deleted while it was read")
        reads = 0
        expect(yield* Effect.flip(Stream.runCollect(records(log, "s", { reverse })))).toEqual(failed)
      }
    }),
  )

  it.effect("fail with the error of a page", () =>
    Effect.gen(function* () {
      const error = new LogError({ operation: "read", session: "s", reason: "the disk failed" })
      const { read } = logOf(2_000)
      const log = {
        read: (session: string, page: PageOptions) => (page.fromVersion === 1 ? read(session, page) : error),
      }
      expect(yield* Effect.flip(foldRecords(log, "s", {}, [], versions))).toBe(error)
      expect(yield* Effect.flip(Stream.runCollect(records(log, "s")))).toBe(error)
    }),
  )
})

/** A log with `count` sessions, which three owners share, and the pages that were listed of it. */
const listOf = (count: number) => {
  const all = Array.from({ length: count }, (_, index): SessionInfo => ({
    session: `s${index}`,
    version: 1,
    createdTime: 0,
    updatedTime: index % 7,
    owner: `o${index % 3}`,
  }))
  const pages: Array<ListOptions> = []
  const compareOf = ({ owner }: ListOptions): typeof compareActivity =>
    owner === undefined ? (one, other) => compareSessionIds(one.session, other.session) : compareActivity
  const list = (options: ListOptions) =>
    Effect.sync(() => {
      pages.push(options)
      const compare = compareOf(options)
      return all
        .filter(({ owner }) => options.owner === undefined || owner === options.owner)
        .filter((info) => options.after === undefined || compare(info, options.after) > 0)
        .toSorted(compare)
        .slice(0, options.limit)
    })
  return { all, list, pages }
}

describe("the sessions of a store", () => {
  it.effect.each([0, 1, pageSize - 1, pageSize, pageSize + 1, 3 * pageSize, 1_700])(
    "are all listed in their order: %d of them",
    (count) =>
      Effect.gen(function* () {
        const log = listOf(count)
        const found = [...(yield* Stream.runCollect(sessions(log)))]
        expect(found).toEqual(log.all.toSorted((one, other) => compareSessionIds(one.session, other.session)))
        expect(log.pages).toHaveLength(Math.floor(count / pageSize) + 1)
        const theirs = [...(yield* Stream.runCollect(sessions(log, "o1")))]
        expect(theirs).toEqual(log.all.filter(({ owner }) => owner === "o1").toSorted(compareActivity))
      }),
  )

  it.effect("are listed as far as a stream is taken", () =>
    Effect.gen(function* () {
      const log = listOf(1_700)
      expect(yield* Stream.runCount(Stream.take(sessions(log), 5))).toBe(5)
      expect(log.pages).toHaveLength(1)
    }),
  )

  it.effect("fail with the error of a page", () =>
    Effect.gen(function* () {
      const error = new LogError({ operation: "list", reason: "the disk failed" })
      const { list } = listOf(1_700)
      const log = { list: (options: ListOptions) => (options.after === undefined ? list(options) : error) }
      expect(yield* Effect.flip(Stream.runCollect(sessions(log)))).toBe(error)
    }),
  )
})

describe("a feed", () => {
  it("L19: is read in its order, and little at a time where its events are large", async () => {
    const given = [
      fc.integer({ min: 0, max: 200 }),
      fc.constantFrom(2, 20_000, 300_000, 2_000_000),
      fc.integer({ min: 1, max: 100 }),
    ] as const
    await fc.assert(
      fc.asyncProperty(...given, async (count, size, limit) => {
        const data = "x".repeat(size)
        const all = Array.from({ length: count }, (_, at): FedRecord => ({
          record: { ...recordAt(at + 1), data },
          position: String(at + 1),
        }))
        const reads: Array<number> = []
        const read: NonNullable<Service["feed"]> = ({ after = "0", limit: most }) =>
          Effect.sync(() => {
            const page = all.slice(Number(after), Number(after) + most)
            reads.push(page.length)
            return page
          })
        const found = feed({ feed: read }, { follow: false }, limit).pipe(
          Stream.runCollect,
          Effect.runPromise,
        )
        expect([...(await found)]).toEqual(all)
        // Nothing is known about the first events; behind them, a page has a MiB, or one event.
        for (const [at, length] of reads.entries())
          expect(length).toBeLessThanOrEqual(Math.min(limit, at === 0 ? 8 : Math.max(1, 2 ** 20 / size)))
        if (size === 2) expect(reads.length).toBeLessThanOrEqual(6 + count / limit)
      }),
    )
  })
})
