/**
 * A store keeps projection rows as they were put: with their append or not at all, never two with one mark (L1: at most one
 * summary is active), and only for the log that they were computed from (L6).
 */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { changes, projectionKinds, rowMarks, summaryChanges } from "../../arbitrary/projection.js"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { listed, type LogKit, readAll, sameRows } from "../input.js"
import { NaiveLog } from "../naiveLog.js"

const sessions = ["s", "t", "s:notes", "🎈"] as const
/** Most steps are made in one session. */
const session = fc.constantFrom("s" as const, "s" as const, "s" as const, ...sessions)

const append = fc.record({
  act: fc.constant("append" as const),
  session,
  changes,
  retried: fc.constantFrom(undefined, "anywhere" as const, "in-place" as const),
  /** It was decided on another version. */
  late: fc.constantFrom(false, false, true),
  /** The changes of a retry, which must not be made. */
  again: fc.option(changes, { nil: undefined, freq: 2 }),
})
const rewrite = fc.record({
  act: fc.constant("rewrite" as const),
  session,
  changes,
  /** It was decided on another log. */
  late: fc.constantFrom(false, false, true),
  again: fc.boolean(),
})
const put = fc.record({ act: fc.constant("put" as const), session, changes })
const misplaced = fc.record({
  act: fc.constant("misplaced" as const),
  session,
  changes,
  at: fc.constantFrom("before", "after", "start", "another batch", "an earlier batch"),
})
const drop = fc.record({
  act: fc.constant("drop" as const),
  kind: fc.constantFrom(...projectionKinds),
  session: fc.option(session, { nil: undefined }),
})
const deletion = fc.record({ act: fc.constant("delete" as const), session })
/** Deletes a session, starts it again with as many records, and puts what was computed for the deleted one. */
const restart = fc.record({ act: fc.constant("restart" as const), session, changes })

type Changes = ReadonlyArray<EventLog.ProjectionChange>
type Step =
  | typeof append
  | typeof rewrite
  | typeof put
  | typeof misplaced
  | typeof drop
  | typeof deletion
  | typeof restart
type StepOf<A> = A extends fc.Arbitrary<infer S> ? S : never
type AnyStep = StepOf<Step>

const fieldsOf = ({ _tag, session, expectedVersion, actualVersion }: EventLog.VersionConflict) => ({
  _tag,
  session,
  expectedVersion,
  actualVersion,
})

/** An append, a rewrite or a put as a value. A refusal that is not expected stays a failure, with its reason. */
const outcomeOf = (
  expected: unknown,
  call: Effect.Effect<EventLog.AppendResult | void, EventLog.VersionConflict | EventLog.LogError>,
): Effect.Effect<unknown, EventLog.LogError> =>
  Effect.matchEffect(call, {
    onSuccess: (answer): Effect.Effect<unknown, EventLog.LogError> => Effect.succeed(answer ?? "done"),
    onFailure: (error): Effect.Effect<unknown, EventLog.LogError> =>
      error._tag === "VersionConflict"
        ? Effect.succeed(fieldsOf(error))
        : expected === "Refused"
          ? Effect.succeed("Refused")
          : Effect.fail(error),
  })

/** The store under test beside the naive log. */
const besideNaive = (log: EventLog.Service) => {
  const model = new NaiveLog()
  let batches = 0
  const conflict = (session: string, expectedVersion: number) =>
    fieldsOf(
      new EventLog.VersionConflict({ session, expectedVersion, actualVersion: model.version(session) }),
    )
  const write = (
    session: string,
    options: EventLog.AppendOptions,
    what: string,
    rewritten: ReadonlyArray<EventLog.RewrittenRecord> | null = null,
  ) =>
    Effect.gen(function* () {
      const records = numbered(2, model.version(session) + 1)
      const answer = model.append(session, records, options, rewritten)
      const expected = answer === "VersionConflict" ? conflict(session, options.expectedVersion) : answer
      const call =
        rewritten === null
          ? log.append(session, records, options)
          : log.rewrite(session, rewritten, records, options)
      same(yield* outcomeOf(expected, call), expected, () => what)
      return answer
    })
  const putAt = (session: string, at: EventLog.LogPosition, changes: Changes, what: string) =>
    Effect.gen(function* () {
      const answer = model.put(session, at, changes)
      const expected = answer === "VersionConflict" ? conflict(session, at.version) : answer
      same(yield* outcomeOf(expected, log.projections.put(session, at, changes)), expected, () => what)
    })
  const nextBatch = () => `c${batches++}`
  return { log, model, write, putAt, nextBatch }
}
type Beside = ReturnType<typeof besideNaive>

const headOf = (model: NaiveLog, session: string) => model.head(session) ?? { version: 0, batchId: "" }

/** Where the rows of a misplaced put were computed. */
const wrongPlace = (
  model: NaiveLog,
  session: string,
  at: "before" | "after" | "start" | "another batch" | "an earlier batch",
): EventLog.LogPosition | null => {
  const { version, batchId } = headOf(model, session)
  if (at === "after") return { version: version + 1, batchId: batchId || "c0" }
  if (version === 0) return null
  if (at === "before") return { version: version - 1, batchId }
  if (at === "start") return { version: 0, batchId: "" }
  if (at === "another batch") return { version, batchId: "elsewhere" }
  const earlier = model.read(session)[version - 3]
  return earlier === undefined ? null : { version, batchId: earlier.batchId }
}

const makeAppend = ({ model, write, nextBatch }: Beside, step: StepOf<typeof append>) =>
  Effect.gen(function* () {
    const { session, changes, retried, late, again } = step
    const version = model.version(session)
    const options = {
      expectedVersion: late ? version + 1 : version,
      batchId: nextBatch(),
      projections: changes,
      ...(retried === undefined ? {} : { retried }),
    }
    const answer = yield* write(session, options, `an append to ${session}`)
    if (typeof answer === "object" && again !== undefined)
      yield* write(session, { ...options, projections: again }, `the append to ${session}, again`)
  })

const makeRewrite = ({ model, write, nextBatch }: Beside, step: StepOf<typeof rewrite>) =>
  Effect.gen(function* () {
    const { session, changes, late, again } = step
    const head = model.head(session)
    if (head === null) return
    const rewritten = [{ version: head.version, schemaVersion: 2, data: "{}" }]
    const options = {
      expectedVersion: head.version,
      lastBatchId: late ? "elsewhere" : head.batchId,
      batchId: nextBatch(),
      projections: changes,
    }
    const answer = yield* write(session, options, `a rewrite of ${session}`, rewritten)
    if (typeof answer === "object" && again)
      yield* write(session, { ...options, projections: [] }, `the rewrite of ${session}, again`, rewritten)
  })

const makeRestart = ({ log, model, write, putAt, nextBatch }: Beside, step: StepOf<typeof restart>) =>
  Effect.gen(function* () {
    const { session, changes } = step
    const before = model.head(session)
    if (before === null) return
    same(yield* log.delete(session), model.delete(session), () => "whether it was there")
    for (let version = 0; version < before.version; version += 2)
      yield* write(session, { expectedVersion: version, batchId: nextBatch() }, `${session}, started again`)
    yield* putAt(session, before, changes, `rows of the deleted session ${session}`)
  })

const makeStep = (beside: Beside, step: AnyStep): Effect.Effect<unknown, unknown> => {
  const { log, model, putAt } = beside
  switch (step.act) {
    case "append":
      return makeAppend(beside, step)
    case "rewrite":
      return makeRewrite(beside, step)
    case "restart":
      return makeRestart(beside, step)
    case "put": {
      const { session, changes } = step
      const at = headOf(model, session)
      return putAt(session, at, changes, `rows of ${session}, put at version ${at.version}`)
    }
    case "misplaced": {
      const at = wrongPlace(model, step.session, step.at)
      return at === null
        ? Effect.void
        : putAt(step.session, at, step.changes, `rows of ${step.session}, put ${step.at}`)
    }
    case "drop":
      model.drop(step.kind, step.session)
      return log.projections.drop(step.kind, step.session)
    case "delete":
      return Effect.map(log.delete(step.session), (existed) =>
        same(existed, model.delete(step.session), () => "whether it was there"),
      )
  }
}

const kindsOf = (step: AnyStep): ReadonlyArray<string> =>
  "changes" in step ? step.changes.map(({ kind }) => kind) : "kind" in step ? [step.kind] : []

/** Reads the rows of a kind: all of them, those with some keys, and the row with each mark. */
const checkFilters = (log: EventLog.Service, model: NaiveLog, session: string, kind: string) =>
  Effect.gen(function* () {
    const rows = model.rows(session, kind)
    const some = [...rows.filter((_, position) => position % 2 === 0).map(({ key }) => key), "missing"]
    for (const keys of [some, []]) {
      sameRows(
        kind,
        yield* log.projections.get(session, kind, { keys }),
        rows.filter(({ key }) => keys.includes(key)),
        () => `the rows of kind ${kind} in ${session} with the keys ${JSON.stringify(keys)}`,
      )
    }
    for (const mark of rowMarks) {
      sameRows(
        kind,
        yield* log.projections.get(session, kind, { mark }),
        rows.filter((row) => row.mark === mark),
        () => `the row of kind ${kind} in ${session} with the mark ${JSON.stringify(mark)}`,
      )
    }
  })

/** Checks that all sessions have the rows and the records that they should. */
const checkAll = (log: EventLog.Service, model: NaiveLog, kinds: ReadonlyArray<string>, when: string) =>
  Effect.gen(function* () {
    for (const session of sessions) {
      for (const kind of kinds) {
        sameRows(
          kind,
          yield* log.projections.get(session, kind),
          model.rows(session, kind),
          () => `the rows of kind ${kind} in ${session} ${when}`,
        )
      }
      same(yield* readAll(log, session), model.read(session), () => `the records of ${session} ${when}`)
    }
    same(yield* listed(log), model.list(), () => `the sessions ${when}`)
  })

const runSteps = (log: EventLog.Service, steps: ReadonlyArray<AnyStep>) =>
  Effect.gen(function* () {
    const beside = besideNaive(log)
    const kinds = [...new Set(steps.flatMap(kindsOf))]
    for (const [position, step] of steps.entries()) {
      yield* makeStep(beside, step)
      yield* checkAll(log, beside.model, kinds, `after step ${position}, ${step.act}`)
      if (step.session === undefined) continue
      for (const kind of new Set(kindsOf(step))) yield* checkFilters(log, beside.model, step.session, kind)
    }
    yield* checkAll(log, beside.model, projectionKinds, "in the end")
  })

const stepsOf = (...steps: ReadonlyArray<fc.Arbitrary<AnyStep>>): fc.Arbitrary<ReadonlyArray<AnyStep>> =>
  fc.array(fc.oneof(...steps), { minLength: 1, maxLength: 8 })

/** Steps in sessions that have rows. */
const afterRows = (...steps: ReadonlyArray<fc.Arbitrary<AnyStep>>) =>
  fc
    .tuple(
      fc.array(append, { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(...steps, ...steps, put), { minLength: 1, maxLength: 6 }),
    )
    .map(([first, rest]): ReadonlyArray<AnyStep> => [...first, ...rest])

export const projectionLaws = ({ law, numRuns }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L6",
    name: "projection rows are returned as they were put",
    explanation:
      "Rows of any kind, key and text, all of a kind or by their keys or their mark. A row replaces the row with its key;\n" +
      "`replace` and `drop` remove rows of their kind first. Rows change no record, and no row of another kind or session.",
    arbitrary: stepsOf(append, put, put),
    holds: runSteps,
  }),
  law({
    id: "L12",
    name: "projection changes are made with their append, all or none",
    explanation:
      "An append or a rewrite that is refused changes no row. A retry, which writes nothing, makes no change a second time.",
    arbitrary: stepsOf(append, append, rewrite),
    holds: runSteps,
  }),
  law({
    id: "L1",
    name: "no two rows of a kind in a session have one mark",
    explanation:
      "A change that would leave two rows with one mark fails with a LogError, and nothing is written: no record, and no\n" +
      "change of the batch. A change may move a mark from one row to another. At most one summary is active.",
    arbitrary: fc
      .array(
        fc.record({
          act: fc.constantFrom("append", "put", "rewrite"),
          changes: summaryChanges,
          more: changes,
        }),
        { minLength: 1, maxLength: 8 },
      )
      .map((list) =>
        list.map(({ act, changes, more }): AnyStep => {
          const others = more.filter(({ kind }) => kind !== "summary")
          const step = { session: "s" as const, changes: [...others, ...changes] }
          if (act === "put") return { act, ...step }
          if (act === "rewrite") return { act, ...step, late: false, again: false }
          return { act: "append", ...step, retried: undefined, late: false, again: undefined }
        }),
      ),
    holds: runSteps,
  }),
  law({
    id: "L6",
    name: "rows that were computed at another position are refused",
    explanation:
      "Rows are put at the position that they were computed for: the version and the batch id of the last record. At any\n" +
      "other position, put fails with a VersionConflict that has both versions, also if the session was deleted and started\n" +
      "again with as many records. For a session that does not exist, it does nothing.",
    arbitrary: afterRows(misplaced, restart),
    holds: runSteps,
  }),
  law({
    id: "L15",
    name: "a rewrite, a deletion and a drop leave no rows",
    explanation:
      "A rewrite drops all rows of its session but the description, and then makes its own changes. A deleted session has no\n" +
      "rows, also when it is started again. `drop` removes the rows of one kind, in one session or in all.",
    arbitrary: afterRows(rewrite, deletion, drop, restart),
    holds: runSteps,
  }),
  law({
    id: "L6",
    name: "9,000 rows and a row of one megabyte are returned whole",
    explanation:
      "An index has many rows, and a snapshot can be large. They are put at once, and read by many keys at once.",
    numRuns: Math.min(numRuns, 1),
    arbitrary: fc.constantFrom("append" as const, "put" as const),
    holds: (log, act) =>
      Effect.gen(function* () {
        const rows = Array.from({ length: 9_000 }, (_, at) => ({ key: `k${at}`, data: `${at}` }))
        const large = { key: "", data: "单🎈x".repeat(250_000) }
        const projections = [
          { kind: "index", rows },
          { kind: "snapshot", rows: [large] },
        ]
        const options = { expectedVersion: 0, batchId: "a" }
        yield* log.append("s", numbered(1), act === "append" ? { ...options, projections } : options)
        if (act === "put") yield* log.projections.put("s", { version: 1, batchId: "a" }, projections)
        sameRows("index", yield* log.projections.get("s", "index"), rows, () => "the rows")
        const odd = rows.filter((_, at) => at % 2 === 1)
        const keys = odd.map(({ key }) => key)
        sameRows("index", yield* log.projections.get("s", "index", { keys }), odd, () => "every other row")
        const [found] = yield* log.projections.get("s", "snapshot")
        must(
          found?.data === large.data,
          () => `${found?.data.length} of ${large.data.length} characters came back`,
        )
        yield* log.projections.put("s", { version: 1, batchId: "a" }, [
          { kind: "index", drop: keys, rows: [] },
        ])
        const left = rows.filter((_, at) => at % 2 === 0)
        sameRows(
          "index",
          yield* log.projections.get("s", "index"),
          left,
          () => "the rows that were not dropped",
        )
        yield* log.projections.drop("index", "s")
        sameRows(
          "index",
          yield* log.projections.get("s", "index"),
          [],
          () => "the rows after all were dropped",
        )
      }),
  }),
]
