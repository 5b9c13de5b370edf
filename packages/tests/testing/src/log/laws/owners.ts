/** The store lists the sessions of an owner, the newest activity first, and keeps owners and titles through all else. */
import type { EventLog } from "@memfold/core"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { descriptionRow, owner } from "../../arbitrary/projection.js"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { listed, type LogKit, sameRows } from "../input.js"
import { NaiveLog } from "../naiveLog.js"

const sessions = ["s", "t", "u/1", "🎈", "￿"] as const
const session = fc.constantFrom(...sessions)

const described = (row: EventLog.ProjectionRow): ReadonlyArray<EventLog.ProjectionChange> => [
  { kind: "description", rows: [row] },
]
const change = fc.oneof(
  { weight: 5, arbitrary: descriptionRow.map(described) },
  { weight: 1, arbitrary: fc.constant([{ kind: "description", drop: [""], rows: [] }]) },
  { weight: 1, arbitrary: fc.constant([{ kind: "description", replace: true, rows: [] }]) },
)

/** Sessions are often active at the same time. */
const time = fc.integer({ min: 0, max: 3 })

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      session,
      projections: fc.option(change, { nil: undefined, freq: 2 }),
      time,
      count: fc.integer({ min: 1, max: 3 }),
      conflict: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("rewrite" as const),
      session,
      projections: fc.option(change, { nil: undefined, freq: 2 }),
      time,
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("put" as const), session, projections: change }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("delete" as const), session }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("drop" as const),
      session: fc.option(session, { nil: undefined }),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const makeStep = (log: EventLog.Service, model: NaiveLog, one: Step, batchId: string) =>
  Effect.gen(function* () {
    if (one.act === "drop") {
      model.drop("description", one.session)
      return yield* log.projections.drop("description", one.session)
    }
    const { session } = one
    const at = model.head(session) ?? { version: 0, batchId: "" }
    if (one.act === "delete") {
      return same(yield* log.delete(session), model.delete(session), () => "whether it was there")
    }
    if (one.act === "put") {
      for (const other of [
        { ...at, version: at.version + 1 },
        { version: Math.max(at.version, 1), batchId: "elsewhere" },
      ]) {
        const late = yield* Effect.either(log.projections.put(session, other, one.projections))
        must(Either.isLeft(late), () => "a description that was read at another position is refused")
      }
      model.put(session, at, one.projections)
      return yield* log.projections.put(session, at, one.projections)
    }
    const [first, ...rest] = numbered(one.act === "append" ? one.count : 1)
    const timed = (record: EventLog.NewRecord) => ({ ...record, time: one.time })
    const batch = [timed(first), ...rest.map(timed)] as const
    const options = {
      expectedVersion: at.version,
      batchId,
      ...(one.projections === undefined ? {} : { projections: one.projections }),
    }
    if (one.act === "rewrite") {
      if (at.version === 0) return
      const rewritten = [{ version: 1, schemaVersion: 1, data: "{}" }]
      model.append(session, batch, options, rewritten)
      return yield* log.rewrite(session, rewritten, batch, options)
    }
    if (one.conflict) {
      const lost = yield* Effect.either(
        log.append(session, batch, { ...options, expectedVersion: at.version + 1 }),
      )
      must(Either.isLeft(lost), () => "an append at another version fails")
    }
    model.append(session, batch, options)
    return yield* log.append(session, batch, options)
  })

/** Reads the list of an owner behind every position: of the owner's sessions, of other sessions, and of no session. */
const checkPages = (log: EventLog.Service, model: NaiveLog, who: string) =>
  Effect.gen(function* () {
    const elsewhere = sessions.flatMap((session) => [0, 2].map((updatedTime) => ({ session, updatedTime })))
    for (const after of [undefined, ...model.list(), ...elsewhere, { session: "nobody", updatedTime: 1 }]) {
      for (const limit of [1, 2, 10]) {
        const options = { owner: who, after, limit }
        same(
          yield* log.list(options),
          model.list(options),
          () => `at most ${limit} sessions of ${who} behind ${JSON.stringify(after)}`,
        )
      }
    }
  })

export const ownerLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L12",
    name: "the sessions of an owner are listed by their newest activity, in pages",
    explanation:
      "The description that comes with an append, or is put at the last record, is the description of the session from then\n" +
      "on. Appends and rewrites without one keep it, and deleting the session removes it from its owner's list. A page starts\n" +
      "behind any position in the order, whether a session is there or not.",
    arbitrary: fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 12 }), who: owner }),
    holds: (log, { steps, who }) =>
      Effect.gen(function* () {
        const model = new NaiveLog()
        for (const [position, one] of steps.entries()) {
          yield* makeStep(log, model, one, `c${position}`)
          const all = model.list()
          same(yield* listed(log), all, () => `all sessions after step ${position}`)
          for (const session of sessions) {
            sameRows(
              "description",
              yield* log.projections.get(session, "description"),
              model.rows(session, "description"),
              () => `the description of ${session} after step ${position}`,
            )
          }
          for (const theirs of new Set(["ann", "nobody", who, ...all.flatMap((info) => info.owner ?? [])])) {
            same(
              yield* log.list({ owner: theirs, limit: 10 }),
              model.list({ owner: theirs }),
              () => `the sessions of ${theirs} after step ${position}`,
            )
          }
        }
        const owners = model.list().flatMap((info) => info.owner ?? [])
        for (const one of new Set([...owners, who])) yield* checkPages(log, model, one)
      }),
  }),
]
