/** Events come back as they were written, in order (L10: the log never changes the past). */
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import * as fc from "fast-check"
import { batch, numbered } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { type LogKit, readAll } from "../input.js"

const bound = fc.oneof(fc.constant(undefined), fc.integer({ min: -3, max: 12 }))

const recordsAreUnchanged = ({ law }: LogKit): Law =>
  law({
    id: "L10",
    name: "records are returned unchanged",
    explanation:
      "Data is text, stored byte for byte. Type, schema version, time, batch id and checksum do not change, and a\n" +
      "record without a checksum gets none.",
    arbitrary: fc.record({
      records: batch,
      batchId: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    }),
    holds: (log, { records, batchId }) =>
      Effect.gen(function* () {
        yield* log.append("s", records, { expectedVersion: 0, batchId })
        const expected = records.map((record, at) => ({
          ...record,
          session: "s",
          version: at + 1,
          batchId,
        }))
        same(yield* readAll(log, "s"), expected, () => "the records, as they are read")
      }),
  })

const largeRecordIsWhole = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L10",
    name: "a record of one megabyte is returned whole",
    explanation: "Tool outputs are large. A store that cannot keep one must fail instead of cutting it.",
    numRuns: Math.min(numRuns, 2),
    arbitrary: fc.constantFrom("单🎈x", "x"),
    holds: (log, unit) =>
      Effect.gen(function* () {
        const data = JSON.stringify(unit.repeat(Math.ceil(1_000_000 / unit.length)))
        yield* log.append("s", [{ time: 0, type: "Noted", schemaVersion: 1, data }], {
          expectedVersion: 0,
          batchId: "a",
        })
        const [found] = yield* readAll(log, "s")
        same(found?.data === data, true, () => `${found?.data.length} of ${data.length} characters came back`)
      }),
  })

const rangeIncludesBothEnds = ({ law }: LogKit): Law =>
  law({
    id: "L10",
    name: "a range includes both ends, in both directions",
    explanation:
      "`fromVersion` and `toVersion` are versions, both included; versions outside the log are ignored. `reverse`\n" +
      "returns the newest first. A page has the first records of its range, at most `limit`. A session that does not exist\n" +
      "has no records.",
    arbitrary: fc.record({
      count: fc.nat({ max: 9 }),
      fromVersion: bound,
      toVersion: bound,
      reverse: fc.boolean(),
      take: fc.nat({ max: 4 }),
    }),
    holds: (log, { count, fromVersion, toVersion, reverse, take }) =>
      Effect.gen(function* () {
        if (count > 0) yield* log.append("s", numbered(count), { expectedVersion: 0, batchId: "a" })
        yield* log.append("other", numbered(5, 100), { expectedVersion: 0, batchId: "a" })
        const range = {
          ...(fromVersion === undefined ? {} : { fromVersion }),
          ...(toVersion === undefined ? {} : { toVersion }),
          reverse,
        }
        const within = Array.from({ length: count }, (_, at) => at + 1).filter(
          (seq) => seq >= (fromVersion ?? 1) && seq <= (toVersion ?? count),
        )
        const expected = reverse ? within.toReversed() : within
        const found = yield* readAll(log, "s", range)
        same(
          found.map(({ version, data }) => [version, data]),
          expected.map((seq) => [seq, `{"n":${seq}}`]),
          () => `the records of ${JSON.stringify(range)}`,
        )
        const some = yield* Stream.runCollect(Stream.take(EventLog.records(log, "s", range), take))
        same(
          Chunk.toReadonlyArray(some).map(({ version }) => version),
          expected.slice(0, take),
          () => `the first ${take} of ${JSON.stringify(range)}`,
        )
        const page = {
          fromVersion: Math.max(fromVersion ?? 1, 1),
          toVersion: Math.max(toVersion ?? Number.MAX_SAFE_INTEGER, 0),
          reverse,
        }
        for (const limit of [1, 2, take + 1, count + 1, 10_000]) {
          same(
            (yield* log.read("s", { ...page, limit })).map(({ version, data }) => [version, data]),
            expected.slice(0, limit).map((seq) => [seq, `{"n":${seq}}`]),
            () => `the page of ${limit} of ${JSON.stringify(page)}`,
          )
          same(
            yield* log.read("nobody", { ...page, limit }),
            [],
            () => "a page of a session that does not exist",
          )
        }
        same(yield* readAll(log, "nobody", range), [], () => "a session that does not exist")
      }),
  })

const longSessionIsReadCompletely = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L10",
    name: "1,500 events are read completely and in order, from any version",
    explanation:
      "A session is read in pages. No event may be lost, doubled or swapped between two pages, or left out of a large one.",
    numRuns: Math.min(numRuns, 1),
    arbitrary: fc.record({
      fromVersion: fc.integer({ min: 1, max: 700 }),
      toVersion: fc.integer({ min: 1_000, max: 1_499 }),
    }),
    holds: (log, { fromVersion, toVersion }) =>
      Effect.gen(function* () {
        const count = 1_500
        for (let first = 0; first < count; first += 300) {
          yield* log.append("s", numbered(300, first + 1), { expectedVersion: first, batchId: `c${first}` })
        }
        const all = Array.from({ length: count }, (_, position) => position + 1)
        const found = yield* readAll(log, "s")
        same(
          found.map(({ version }) => version),
          all,
          () => "all of them",
        )
        same(
          found.map(({ data }) => data),
          all.map((n) => `{"n":${n}}`),
          () => "their data",
        )
        const part = all.slice(fromVersion - 1, toVersion)
        same(
          (yield* readAll(log, "s", { fromVersion, toVersion })).map(({ version }) => version),
          part,
          () => `${fromVersion} to ${toVersion}`,
        )
        same(
          (yield* readAll(log, "s", { fromVersion, toVersion, reverse: true })).map(({ version }) => version),
          part.toReversed(),
          () => `${toVersion} back to ${fromVersion}`,
        )
        for (const [reverse, inOrder] of [
          [false, part],
          [true, part.toReversed()],
        ] as const) {
          for (const limit of [700, 1_400, 2_000]) {
            same(
              (yield* log.read("s", { fromVersion, toVersion, reverse, limit })).map(
                ({ version }) => version,
              ),
              inOrder.slice(0, limit),
              () => `a page of ${limit} from ${fromVersion} to ${toVersion}${reverse ? ", backwards" : ""}`,
            )
          }
        }
      }),
  })

/** How many bytes the records of a long session have: some pages, whatever their order. */
const lengths = [...Array<number>(11).fill(900_000), ...Array<number>(4).fill(20_000), 2, 2, 2, 2]

const pagesAreBoundedByText = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L19",
    name: "a page is bounded by its text, and reading on gives every record",
    explanation:
      "A record may be as large as a request, and a page of them has to fit into memory. A page ends behind the record that\n" +
      "reaches `pageText`, and has one record at least; records that are small beside the rest may come with it. Whether it is\n" +
      "the last one, `isLastPage` says.",
    numRuns: Math.min(numRuns, 2),
    arbitrary: fc.record({
      bytes: fc.shuffledSubarray(lengths, { minLength: lengths.length }),
      unit: fc.constantFrom("单", "x"),
      reverse: fc.boolean(),
      limit: fc.constantFrom(3, 512, 10_000),
    }),
    describe: ({ bytes, ...input }) => `${JSON.stringify(input)}, bytes: ${bytes.join(" ")}`,
    holds: (log, { bytes, unit, reverse, limit }) =>
      Effect.gen(function* () {
        const texts = bytes.map((size) => JSON.stringify(unit.repeat(size / (unit === "x" ? 1 : 3))))
        for (const [at, data] of texts.entries())
          yield* log.append("s", [{ time: at, type: "Noted", schemaVersion: 1, data }], {
            expectedVersion: at,
            batchId: `b${at}`,
          })
        const all = texts.map((data, at) => ({ version: at + 1, data }))
        const expected = reverse ? all.toReversed() : all
        const range = { fromVersion: 1, toVersion: Number.MAX_SAFE_INTEGER, reverse }
        const whole = yield* readAll(log, "s", range)
        same(
          whole.map(({ version, data }) => [version, data.length]),
          expected.map(({ version, data }) => [version, data.length]),
          () => "the records, read in pages",
        )
        const found: Array<EventLog.LogRecord> = []
        for (let page: ReadonlyArray<EventLog.LogRecord> | null = null; ;) {
          const last: number | undefined = found.at(-1)?.version
          if (page !== null && EventLog.isLastPage(page, limit)) break
          const behind =
            last === undefined ? {} : reverse ? { toVersion: last - 1 } : { fromVersion: last + 1 }
          page = yield* log.read("s", { ...range, ...behind, limit })
          const before = page.slice(0, -1).reduce((sum, { data }) => sum + data.length, 0)
          same(
            before < 2 * EventLog.pageText && page.length <= limit,
            true,
            () => `a page of ${page?.length} records has ${before} characters in front of its last record`,
          )
          found.push(...page)
        }
        same(
          found.map(({ version, data }) => data === all[version - 1]?.data && version),
          expected.map(({ version }) => version),
          () => "the records of the pages",
        )
      }),
  })

const readStartsWhenItIsRun = ({ law }: LogKit): Law =>
  law({
    id: "L10",
    name: "a read starts when it is run, and starts again on each run",
    explanation: "A read is a description: it also returns records appended after it was made.",
    arbitrary: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    holds: (log, sizes) =>
      Effect.gen(function* () {
        const whole = { fromVersion: 1, toVersion: Number.MAX_SAFE_INTEGER, reverse: false, limit: 100 }
        const page = log.read("s", whole)
        const stream = EventLog.records(log, "s")
        let version = 0
        for (const size of sizes) {
          same((yield* page).length, version, () => "the records of the page")
          same(yield* Stream.runCount(stream), version, () => "the records of the stream")
          yield* log.append("s", numbered(size), { expectedVersion: version, batchId: `c${version}` })
          version += size
        }
        same((yield* page).length, version, () => "the records of the page in the end")
        same(yield* Stream.runCount(stream), version, () => "the records of the stream in the end")
      }),
  })

/** The laws of reads. */
export const readLaws = (kit: LogKit): ReadonlyArray<Law> =>
  [
    recordsAreUnchanged,
    largeRecordIsWhole,
    rangeIncludesBothEnds,
    longSessionIsReadCompletely,
    pagesAreBoundedByText,
    readStartsWhenItIsRun,
  ].map((lawOf) => lawOf(kit))
