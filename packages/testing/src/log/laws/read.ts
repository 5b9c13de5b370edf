/** Events come back as they were written, in order (L10: the log never changes the past). */
import { Chunk, Effect, Stream } from "effect"
import * as fc from "fast-check"
import { batch, numbered } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { type LogKit, readAll } from "../input.js"

const bound = fc.oneof(fc.constant(undefined), fc.integer({ min: -3, max: 12 }))

export const readLaws = ({ law, numRuns }: LogKit): ReadonlyArray<Law> => [
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
  }),
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
  }),
  law({
    id: "L10",
    name: "a range includes both ends, in both directions",
    explanation:
      "`fromVersion` and `toVersion` are versions, both included; versions outside the log are ignored. `reverse`\n" +
      "returns the newest first. A session that does not exist has no records.",
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
        const some = yield* Stream.runCollect(Stream.take(log.read("s", range), take))
        same(
          Chunk.toReadonlyArray(some).map(({ version }) => version),
          expected.slice(0, take),
          () => `the first ${take} of ${JSON.stringify(range)}`,
        )
        same(yield* readAll(log, "nobody", range), [], () => "a session that does not exist")
      }),
  }),
  law({
    id: "L10",
    name: "1,500 events are read completely and in order, from any version",
    explanation: "Stores read in pages. No event may be lost, doubled or swapped between two pages.",
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
      }),
  }),
  law({
    id: "L10",
    name: "a read starts when it is run, and starts again on each run",
    explanation: "A stream is a description: it also returns records appended after it was made.",
    arbitrary: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    holds: (log, sizes) =>
      Effect.gen(function* () {
        const stream = log.read("s")
        let version = 0
        for (const size of sizes) {
          same(yield* Stream.runCount(stream), version, () => "the records it gives")
          yield* log.append("s", numbered(size), { expectedVersion: version, batchId: `c${version}` })
          version += size
        }
        same(yield* Stream.runCount(stream), version, () => "the records it gives in the end")
      }),
  }),
]
