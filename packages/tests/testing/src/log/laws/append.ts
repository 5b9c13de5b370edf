/** Two writers never share a version, and a batch id is applied once (L12: appends are atomic and idempotent). */
import { Effect } from "effect"
import * as fc from "fast-check"
import { batch, numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { answerOf, listed, type LogKit, readAll, versionOf } from "../input.js"

const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 })
const sum = (list: ReadonlyArray<number>) => list.reduce((all, one) => all + one, 0)

const versionsAreConsecutive = ({ law }: LogKit): Law =>
  law({
    id: "L12",
    name: "events get consecutive versions, starting at 1",
    explanation:
      "Versions are contiguous from 1, in the order of the appends. An append returns the versions of its records.",
    arbitrary: fc.array(batch, { minLength: 1, maxLength: 5 }),
    holds: (log, batches) =>
      Effect.gen(function* () {
        let version = 0
        for (const [position, records] of batches.entries()) {
          const appended = yield* log.append("s", records, {
            expectedVersion: version,
            batchId: `c${position}`,
          })
          const expected = { fromVersion: version + 1, version: version + records.length, duplicate: false }
          same(appended, expected, () => `the answer to batch ${position}`)
          version += records.length
          same(yield* versionOf(log, "s"), version, () => `the version after batch ${position}`)
        }
        const found = yield* readAll(log, "s")
        same(
          found.map(({ version }) => version),
          Array.from({ length: version }, (_, at) => at + 1),
          () => "the versions, as they are read",
        )
        same(
          found.map(({ batchId }) => batchId),
          batches.flatMap((records, position) => records.map(() => `c${position}`)),
          () => "the batch ids, as they are read",
        )
      }),
  })

const otherVersionIsRefused = ({ law }: LogKit): Law =>
  law({
    id: "L12",
    name: "an append with another expected version is refused",
    explanation:
      "`expectedVersion` is the version a writer has seen. If the log is at another version, the append fails with a\n" +
      "VersionConflict that has both versions, and writes nothing. The engine has no other lock.",
    arbitrary: fc.record({
      sizes: fc.oneof(fc.constant([]), sizes),
      off: fc.integer({ min: -9, max: 9 }).filter((off) => off !== 0),
      size: fc.integer({ min: 1, max: 4 }),
    }),
    holds: (log, { sizes: before, off, size }) =>
      Effect.gen(function* () {
        let version = 0
        for (const count of before) {
          yield* log.append("s", numbered(count, version + 1), {
            expectedVersion: version,
            batchId: `c${version}`,
          })
          version += count
        }
        const expectedVersion = Math.max(version + off, version === 0 ? 1 : 0)
        if (expectedVersion === version) return
        const stood = yield* readAll(log, "s")
        const refused = yield* Effect.either(
          log.append("s", numbered(size), { expectedVersion, batchId: "late" }),
        )
        must(
          refused._tag === "Left",
          () => `decided on version ${expectedVersion}, and written at ${version}`,
        )
        const { _tag, ...fields } = refused.left
        same(
          { _tag, ...fields },
          { _tag: "VersionConflict", session: "s", expectedVersion, actualVersion: version },
          () => "the error",
        )
        same(yield* readAll(log, "s"), stood, () => "something was written all the same")
        same(yield* versionOf(log, "s"), version, () => "the version changed all the same")
        same((yield* listed(log)).length, version === 0 ? 0 : 1, () => "the number of sessions")
        const again = yield* answerOf(
          log.append("s", numbered(size), { expectedVersion: version, batchId: "late" }),
        )
        const kept = { fromVersion: version + 1, version: version + size, duplicate: false }
        same(again, kept, () => "the refused batch, tried again at the right version")
      }),
  })

const otherLogIsRefused = ({ law }: LogKit): Law =>
  law({
    id: "L12",
    name: "an append decided on another log of the same length is refused",
    explanation:
      "`lastBatchId` is the id of the last batch a writer has seen. A session that was deleted and started again can\n" +
      "have the same length, but it is another log.",
    arbitrary: fc.record({
      sizes,
      after: fc.constantFrom("", "elsewhere", "c", "c0 "),
    }),
    holds: (log, { sizes: before, after }) =>
      Effect.gen(function* () {
        let version = 0
        for (const [position, count] of before.entries()) {
          yield* log.append("s", numbered(count), { expectedVersion: version, batchId: `c${position}` })
          version += count
        }
        const last = `c${before.length - 1}`
        const others = [after, ...before.slice(0, -1).map((_, position) => `c${position}`)]
        for (const other of others) {
          const refused = log.append("s", numbered(1), {
            expectedVersion: version,
            lastBatchId: other,
            batchId: "next",
          })
          same(
            yield* answerOf(refused),
            "VersionConflict",
            () => `after ${JSON.stringify(other)}, at ${last}`,
          )
        }
        const unborn = log.append("t", numbered(1), {
          expectedVersion: 0,
          lastBatchId: last,
          batchId: "first",
        })
        same(
          yield* answerOf(unborn),
          "VersionConflict",
          () => "after a batch of a session that does not exist",
        )
        const known = yield* answerOf(
          log.append("s", numbered(1), { expectedVersion: version, lastBatchId: last, batchId: "next" }),
        )
        same(
          known,
          { fromVersion: version + 1, version: version + 1, duplicate: false },
          () => "after the right batch",
        )
        const trusting = { expectedVersion: version + 1, lastBatchId: undefined, batchId: "more" }
        same(
          yield* answerOf(log.append("s", numbered(1), trusting)),
          { fromVersion: version + 2, version: version + 2, duplicate: false },
          () => "without `lastBatchId`",
        )
      }),
  })

const batchIsAppliedOnce = ({ law }: LogKit): Law =>
  law({
    id: "L12",
    name: "a batch id is applied once",
    explanation:
      "A caller without an acknowledgement repeats the append with the same batch id, perhaps after other appends:\n" +
      "nothing is written, and the result is the first one, marked as a duplicate. Batch ids belong to a session.",
    arbitrary: fc.record({
      sizes,
      again: fc.array(
        fc.record({
          which: fc.nat(),
          expectedVersion: fc.nat({ max: 30 }),
          size: fc.integer({ min: 1, max: 4 }),
        }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
    }),
    holds: (log, { sizes: batches, again }) =>
      Effect.gen(function* () {
        const answers: Array<{ readonly fromVersion: number; readonly version: number }> = []
        for (const [position, count] of batches.entries()) {
          const expectedVersion = sum(batches.slice(0, position))
          const appended = yield* log.append("s", numbered(count), {
            expectedVersion,
            batchId: `c${position}`,
          })
          answers.push({ fromVersion: appended.fromVersion, version: appended.version })
        }
        const stood = yield* readAll(log, "s")
        for (const { which, expectedVersion, size } of again) {
          const position = which % batches.length
          const repeated = yield* answerOf(
            log.append("s", numbered(size, 50), { expectedVersion, batchId: `c${position}` }),
          )
          same(repeated, { ...answers[position], duplicate: true }, () => `batch c${position} again`)
        }
        same(yield* readAll(log, "s"), stood, () => "something was written again")
        same(yield* versionOf(log, "s"), stood.length, () => "the version after batches were repeated")
        const elsewhere = yield* answerOf(log.append("t", numbered(1), { expectedVersion: 0, batchId: "c0" }))
        same(
          elsewhere,
          { fromVersion: 1, version: 1, duplicate: false },
          () => "the same batch id in another session",
        )
      }),
  })

const batchInPlaceIsAppliedOnce = ({ law }: LogKit): Law =>
  law({
    id: "L12",
    name: "a batch that is retried in its place is applied once",
    explanation:
      "The engine's own batches are retried with the version that they were appended at, perhaps after other appends:\n" +
      "nothing is written, and the result is the first one, marked as a duplicate. Another batch there is a conflict.",
    arbitrary: fc.record({
      sizes,
      again: fc.array(fc.record({ which: fc.nat(), another: fc.boolean() }), { minLength: 1, maxLength: 6 }),
    }),
    holds: (log, { sizes: batches, again }) =>
      Effect.gen(function* () {
        const total = sum(batches)
        const append = (position: number, batchId: string) =>
          log.append("s", numbered(batches[position] ?? 1), {
            expectedVersion: sum(batches.slice(0, position)),
            batchId,
            retried: "in-place",
          })
        for (const position of batches.keys()) yield* append(position, `c${position}`)
        const stood = yield* readAll(log, "s")
        same(
          stood.map(({ batchId }) => batchId),
          batches.flatMap((count, position) => Array.from({ length: count }, () => `c${position}`)),
          () => "the batches in the log",
        )
        for (const { which, another } of again) {
          const position = which % batches.length
          const fromVersion = sum(batches.slice(0, position)) + 1
          const repeated = yield* answerOf(append(position, another ? "another" : `c${position}`))
          same(
            repeated,
            another
              ? "VersionConflict"
              : { fromVersion, version: fromVersion + batches[position]! - 1, duplicate: true },
            () => `${another ? "another batch" : "the batch"} at ${fromVersion}`,
          )
        }
        for (const [position, count] of batches.entries()) {
          if (count === 1) continue
          const inside = yield* answerOf(
            log.append("s", numbered(1), {
              expectedVersion: sum(batches.slice(0, position)) + 1,
              batchId: `c${position}`,
              retried: "in-place",
            }),
          )
          same(inside, "VersionConflict", () => `batch c${position}, behind its first record`)
        }
        same(yield* readAll(log, "s"), stood, () => "something was written again")
        same(yield* versionOf(log, "s"), total, () => "the version after batches were repeated")
      }),
  })

/** The laws of appends. */
export const appendLaws = (kit: LogKit): ReadonlyArray<Law> =>
  [
    versionsAreConsecutive,
    otherVersionIsRefused,
    otherLogIsRefused,
    batchIsAppliedOnce,
    batchInPlaceIsAppliedOnce,
  ].map((lawOf) => lawOf(kit))
