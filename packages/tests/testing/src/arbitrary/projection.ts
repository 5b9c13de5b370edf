/** Projection rows and their changes: the other input of an event log. */
import type { EventLog } from "@memfold/core"
import * as fc from "fast-check"
import { text } from "./record.js"

/** Kinds whose rows only a projection reads, odd ones among them. Kind and key together may be equal as text. */
const plainKinds = ["snapshot", "index", "notes", "notes:b", 'it\'s "odd" 🎈', "constructor"] as const

const keys = ["", "a", "c", "b:c", 'it\'s "a" 🎈 %_ \\', "__proto__", "x".repeat(2_000)] as const

const marks = ["active", "", "ma:rk 🎈"] as const

/** The kinds and the marks of {@link changes}. */
export const projectionKinds: ReadonlyArray<string> = [...plainKinds, "summary", "description"]
export const rowMarks: ReadonlyArray<string> = marks

const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...keys) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
)

const data = fc.oneof(
  { weight: 9, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom("line\nbreak\r\n\ttab", "单🎈".repeat(3_000)) },
)

const plainRow: fc.Arbitrary<EventLog.ProjectionRow> = fc.record({
  key,
  data,
  mark: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...marks) },
  ),
})

const summaryIds = ["s1", 's"2', '"id":"s1"', "单词 🎈", "it's s5"] as const

/** A summary in readable form. No two of them have one version. */
const summaryRow: fc.Arbitrary<EventLog.ProjectionRow> = fc
  .record({
    which: fc.nat({ max: summaryIds.length - 1 }),
    round: fc.nat({ max: 2 }),
    status: fc.constantFrom("active", "superseded", "superseded", "invalid"),
    supersededBy: fc.option(fc.string({ unit: "grapheme", maxLength: 8 })),
    coveredTo: fc.integer({ min: 0, max: 100_000 }),
    total: fc.integer({ min: 0, max: 100_000 }),
    text: fc.constantFrom("", "so far", "it's 单词 🎈\n\n%s { } \\ \"", "x".repeat(5_000)),
    turnPrefix: fc.option(fc.constantFrom("", "the first part")),
    tokens: fc.integer({ min: 0, max: 100_000 }),
    time: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  })
  .map(({ which, round, status, ...rest }) => {
    const id = summaryIds[which]!
    const version = 1 + which + round * summaryIds.length
    return {
      key: id,
      data: JSON.stringify({ version, id, status, ...rest }),
      ...(status === "active" ? { mark: "active" } : {}),
    }
  })

/** Owners of sessions, many nearly equal. */
export const owner: fc.Arbitrary<string> = fc.constantFrom("ann", "Ann", "ann:2", "单词 🎈", "it's {1}", "=")

/** The row with the owner and the title of a session. */
export const descriptionRow: fc.Arbitrary<EventLog.ProjectionRow> = fc
  .record({
    owner: fc.option(owner),
    title: fc.option(fc.constantFrom("Plans", "", '多 🎈 \\ "', "null")),
  })
  .map((description) => ({ key: "", data: JSON.stringify(description) }))

const changeOf = (
  kind: fc.Arbitrary<string>,
  row: fc.Arbitrary<EventLog.ProjectionRow>,
  keyOf: fc.Arbitrary<string>,
): fc.Arbitrary<EventLog.ProjectionChange> =>
  fc.record({
    kind,
    replace: fc.constantFrom(undefined, false, false, true),
    drop: fc.option(fc.array(keyOf, { maxLength: 2 }), { nil: undefined, freq: 2 }),
    rows: fc.uniqueArray(row, { maxLength: 4, selector: (one) => one.key }),
  })

const summaryChange = changeOf(fc.constant("summary"), summaryRow, fc.constantFrom(...summaryIds))

/** A change of the rows of any kind. */
const change: fc.Arbitrary<EventLog.ProjectionChange> = fc.oneof(
  { weight: 3, arbitrary: changeOf(fc.constantFrom(...plainKinds), plainRow, key) },
  { weight: 2, arbitrary: summaryChange },
  { weight: 1, arbitrary: changeOf(fc.constant("description"), descriptionRow, fc.constant("")) },
)

/** Changes of one kind, made one after another. Their rows have no marks. */
const inSteps: fc.Arbitrary<ReadonlyArray<EventLog.ProjectionChange>> = fc
  .tuple(
    fc.constantFrom(...plainKinds),
    fc.array(
      changeOf(
        fc.constant("notes"),
        fc.record({ key: fc.constantFrom(...keys), data: text }),
        fc.constantFrom(...keys),
      ),
      { minLength: 2, maxLength: 3 },
    ),
  )
  .map(([kind, list]) => list.map((one) => ({ ...one, kind })))

/** The changes of one batch. Some would leave two rows with one mark. */
export const changes: fc.Arbitrary<ReadonlyArray<EventLog.ProjectionChange>> = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(change, { maxLength: 3, selector: ({ kind }) => kind }) },
  { weight: 1, arbitrary: inSteps },
)

/** Changes of the summaries of a session alone: many of them would leave two active ones. */
export const summaryChanges: fc.Arbitrary<ReadonlyArray<EventLog.ProjectionChange>> = summaryChange.map(
  (one) => [one],
)
