/**
 * The store keeps the summary rows it gets, never two active ones (L1: at most one summary is active), and never two with
 * one id. It replaces them without an append, at the place they were computed for.
 */
import { EventLog } from "@memfold/core"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { type LogKit, readAll, snapshotOf } from "../input.js"

/** A row with unusual texts, which must come back unchanged. */
const row: fc.Arbitrary<EventLog.SummaryRow> = fc.record({
  version: fc.integer({ min: 1, max: 9 }),
  // Few ids, so that some come again.
  id: fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    fc.constantFrom("s1", 's"2', '"id":"s1"'),
  ),
  status: fc.constantFrom("active", "superseded", "invalid"),
  supersededBy: fc.option(fc.string({ unit: "grapheme", maxLength: 8 })),
  coveredTo: fc.integer({ min: 0, max: 100_000 }),
  total: fc.integer({ min: 0, max: 100_000 }),
  text: fc.constantFrom("", "so far", "it's 单词 🎈\n\n%s { } \\ \"", "x".repeat(5_000)),
  turnPrefix: fc.option(fc.constantFrom("", "the first part")),
  tokens: fc.integer({ min: 0, max: 100_000 }),
  time: fc.integer({ min: 0, max: 4_102_444_800_000 }),
})

const changes: fc.Arbitrary<EventLog.SummaryChanges> = fc.record({
  replace: fc.boolean(),
  rows: fc.uniqueArray(row, { maxLength: 4, selector: ({ version }) => version }),
})

const isActive = ({ status }: EventLog.SummaryRow): boolean => status === "active"

/** The rows after a change, by version; `null` if two would be active, or have one id. */
const after = (
  before: ReadonlyArray<EventLog.SummaryRow>,
  { replace, rows }: EventLog.SummaryChanges,
): ReadonlyArray<EventLog.SummaryRow> | null => {
  const kept = replace ? [] : before.filter(({ version }) => !rows.some((one) => one.version === version))
  const all = [...kept, ...rows].toSorted((one, other) => one.version - other.version)
  const ids = new Set(all.map(({ id }) => id))
  return all.filter(isActive).length > 1 || ids.size < all.length ? null : all
}

export const summaryLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L1",
    name: "the store keeps summary rows as it gets them, and never two active ones",
    explanation:
      "Rows are written in the transaction of their append: all with it, or none. A change that would leave two\n" +
      "active rows fails and writes no records. A rewrite without rows removes them, and so does deleting the\n" +
      "session.",
    arbitrary: fc.array(
      fc.record({ changes, conflict: fc.boolean(), again: fc.boolean(), rewrite: fc.boolean() }),
      { minLength: 1, maxLength: 8 },
    ),
    holds: (log, steps) =>
      Effect.gen(function* () {
        let version = 0
        let rows: ReadonlyArray<EventLog.SummaryRow> = []
        const check = (when: string) =>
          Effect.gen(function* () {
            same(yield* log.summaries("s"), rows, () => `the rows ${when}`)
            same((yield* readAll(log, "s")).length, version, () => `the records ${when}`)
          })
        yield* check("before the first append")
        for (const [position, step] of steps.entries()) {
          const batchId = `c${position}`
          const options = { expectedVersion: version, batchId, summaries: step.changes }
          if (step.conflict) {
            const lost = yield* Effect.either(
              log.append("s", numbered(1), { ...options, expectedVersion: version + 1, batchId: "lost" }),
            )
            must(Either.isLeft(lost), () => "an append at another version fails")
            yield* check("after an append that lost")
          }
          const rewritten = step.rewrite && version > 0
          const next = after(rewritten ? [] : rows, step.changes)
          const done = yield* Effect.either(
            rewritten
              ? log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "{}" }], numbered(1), options)
              : log.append("s", numbered(1), options),
          )
          same(Either.isRight(done), next !== null, () => `whether change ${position} is taken`)
          if (next === null) {
            yield* check("after a change that was refused")
            continue
          }
          version++
          rows = next
          yield* check(`after change ${position}`)
          if (step.again) {
            yield* log.append("s", numbered(1), { ...options, summaries: { replace: true, rows: [] } })
            yield* check("after the same batch came again")
          }
        }
        if (version > 0) {
          yield* log.rewrite("s", [{ version: 1, schemaVersion: 1, data: "{}" }], numbered(1), {
            expectedVersion: version,
            batchId: "w",
          })
          version++
          rows = []
          yield* check("after a rewrite without rows")
        }
        yield* log.append("s", numbered(1), {
          expectedVersion: version,
          batchId: "x",
          summaries: { replace: false, rows: [] },
        })
        yield* log.delete("s")
        version = 0
        yield* check("after the session was deleted")
      }),
  }),
  law({
    id: "L1",
    name: "the store replaces all summary rows of a session that is where they were computed",
    explanation:
      "Rows that another program has damaged are written again from the log. The records and the snapshot stay. If\n" +
      "the session has moved on, or was deleted and started again, nothing is written.",
    arbitrary: fc.record({ first: changes, rows: fc.array(changes, { minLength: 1, maxLength: 5 }) }),
    holds: (log, { first, rows }) =>
      Effect.gen(function* () {
        yield* log.replaceSummaries("s", [], { version: 0, batchId: "" })
        same(yield* log.version("s"), 0, () => "the version of a session that does not exist")
        let before = after([], first) ?? []
        yield* log.append("s", numbered(2), {
          expectedVersion: 0,
          batchId: "a",
          summaries: { replace: false, rows: before },
        })
        yield* log.append("t", numbered(2), {
          expectedVersion: 0,
          batchId: "b",
          summaries: { replace: false, rows: before },
        })
        const others = before
        const snapshot = { foldVersion: 1, version: 2, batchId: "a", data: "{}" }
        yield* log.saveSnapshot("s", snapshot)
        const records = yield* readAll(log, "s")
        const replaced = (list: ReadonlyArray<EventLog.SummaryRow>, at: EventLog.LogPosition) =>
          Effect.either(log.replaceSummaries("s", list, at))
        for (const change of rows) {
          for (const at of [
            { version: 1, batchId: "a" },
            { version: 3, batchId: "a" },
            { version: 2, batchId: "another" },
          ]) {
            const late = yield* replaced(change.rows, at)
            must(
              Either.isLeft(late) && late.left instanceof EventLog.VersionConflict,
              () => `rows of version ${at.version} of batch ${at.batchId} are refused`,
            )
            same(yield* log.summaries("s"), before, () => "the rows after a change that came late")
          }
          const next = after([], { replace: true, rows: change.rows })
          const done = yield* replaced(change.rows, { version: 2, batchId: "a" })
          same(Either.isRight(done), next !== null, () => "whether the rows are taken")
          before = next ?? before
          same(yield* log.summaries("s"), before, () => "the rows after they were replaced")
          same(
            yield* log.summaries("s", { activeOnly: true }),
            before.filter(isActive),
            () => "the active row",
          )
        }
        same(yield* log.summaries("t"), others, () => "the rows of another session")
        same(yield* readAll(log, "s"), records, () => "the records")
        same(yield* snapshotOf(log, "s"), snapshot, () => "the snapshot")
        // The store still knows which row is active.
        const active = before.find(isActive)
        const added = { ...(before[0] ?? others[0]), version: 10, id: "last" }
        if (active !== undefined) {
          const second = { replace: false, rows: [{ ...active, ...added, status: "active" as const }] }
          const refused = yield* Effect.either(
            log.append("s", numbered(1), { expectedVersion: 2, batchId: "c", summaries: second }),
          )
          must(Either.isLeft(refused), () => "a second active row after the rows were replaced is refused")
        }
      }),
  }),
]
