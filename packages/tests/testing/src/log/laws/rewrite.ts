/** A rewrite leaves no trace of the old text (L15: redacted text is gone everywhere). */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { answerOf, type LogKit, readAll } from "../input.js"

export const rewriteLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L15",
    name: "a rewrite leaves no trace of the old text",
    explanation:
      "Data and checksums are replaced (the checksum is removed where none is given), and the records that report it\n" +
      "are appended, in one batch. The rows that were computed from the text are dropped, and other sessions do not change.",
    arbitrary: fc.record({
      count: fc.integer({ min: 1, max: 5 }),
      which: fc.uniqueArray(fc.nat({ max: 4 }), { minLength: 1, maxLength: 3 }),
      added: fc.integer({ min: 1, max: 2 }),
      checksum: fc.option(fc.nat({ max: 99 }), { nil: undefined }),
    }),
    holds: (log, { count, which, added, checksum }) =>
      Effect.gen(function* () {
        const snapshot = { key: "", data: "it has the words" }
        const secret = (seq: number) => `{"n":${seq}}`
        const seqs = [...new Set(which.map((one) => (one % count) + 1))]
        for (const id of ["s", "other"]) {
          const [first, ...rest] = numbered(count)
          const checked = (record: EventLog.NewRecord) => ({ ...record, checksum: 7 })
          const batch = [checked(first), ...rest.map(checked)] as const
          yield* log.append(id, batch, { expectedVersion: 0, batchId: "a" })
          yield* log.projections.put(id, { version: count, batchId: "a" }, [
            { kind: "snapshot", rows: [snapshot] },
            { kind: "notes", rows: [snapshot] },
          ])
        }
        const changed = seqs.map((version) => ({
          version,
          schemaVersion: 3,
          data: `{"gone":${version}}`,
          ...(checksum === undefined ? {} : { checksum }),
        }))
        const appended = yield* log.rewrite("s", changed, numbered(added, 100), {
          expectedVersion: count,
          batchId: "b",
        })
        same(
          appended,
          { fromVersion: count + 1, version: count + added, duplicate: false },
          () => "its answer",
        )
        const found = yield* readAll(log, "s")
        same(
          found.map(({ version, schemaVersion, batchId, data }) => [version, schemaVersion, batchId, data]),
          [
            ...Array.from({ length: count }, (_, at) => [
              at + 1,
              seqs.includes(at + 1) ? 3 : 1,
              "a",
              seqs.includes(at + 1) ? `{"gone":${at + 1}}` : secret(at + 1),
            ]),
            ...Array.from({ length: added }, (_, at) => [count + at + 1, 1, "b", `{"n":${100 + at}}`]),
          ],
          () => "the records afterwards",
        )
        same(
          found.slice(0, count).map((record) => record.checksum),
          Array.from({ length: count }, (_, at) => (seqs.includes(at + 1) ? checksum : 7)),
          () => "the checksums afterwards",
        )
        for (const kind of ["snapshot", "notes"]) {
          same(
            yield* log.projections.get("s", kind),
            [],
            () => `the rows of kind ${kind}, with the erased text`,
          )
          same(yield* log.projections.get("other", kind), [snapshot], () => `the rows of another session`)
        }
        same(
          (yield* readAll(log, "other")).map(({ data }) => data),
          numbered(count).map(({ data }) => data),
          () => "another session",
        )
      }),
  }),
  law({
    id: "L12",
    name: "rewrites follow the version and batch id rules of appends",
    explanation:
      "The batch id is checked first, the expected version second. A refused or repeated rewrite changes no record.",
    arbitrary: fc.record({
      count: fc.integer({ min: 1, max: 4 }),
      off: fc.integer({ min: -3, max: 3 }).filter((off) => off !== 0),
    }),
    holds: (log, { count, off }) =>
      Effect.gen(function* () {
        yield* log.append("s", numbered(count), { expectedVersion: 0, batchId: "a" })
        const changed = [{ version: 1, schemaVersion: 1, data: "{}" }]
        for (const options of [
          { expectedVersion: Math.max(count + off, 0), batchId: "b" },
          { expectedVersion: count, lastBatchId: "elsewhere", batchId: "b" },
        ]) {
          same(
            yield* answerOf(log.rewrite("s", changed, numbered(1), options)),
            "VersionConflict",
            () => "its answer",
          )
        }
        same(
          (yield* readAll(log, "s")).map(({ data }) => data),
          numbered(count).map(({ data }) => data),
          () => "after a refusal",
        )
        const options = { expectedVersion: count, batchId: "b" }
        yield* log.rewrite("s", changed, numbered(1), options)
        const stood = yield* readAll(log, "s")
        const again = yield* answerOf(
          log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "another" }], numbered(2), options),
        )
        same(
          again,
          { fromVersion: count + 1, version: count + 1, duplicate: true },
          () => "its answer the second time",
        )
        same(yield* readAll(log, "s"), stood, () => "the records after it was repeated")
      }),
  }),
]
