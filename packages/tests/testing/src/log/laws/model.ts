/** All operations in any order: a store answers as a list in memory does. */
import type { EventLog } from "@memfold/core"
import { Cause, Effect, Exit } from "effect"
import * as fc from "fast-check"
import { changes, owner, projectionKinds } from "../../arbitrary/projection.js"
import { type Batch, record } from "../../arbitrary/record.js"
import { type Law, makeLaw, same } from "../../law/Law.js"
import { listed, type LogKit, readAll, sameRows, withLog } from "../input.js"
import { NaiveLog } from "../naiveLog.js"

/** The store under test, as a command uses it. */
interface Real {
  readonly log: EventLog.Service
}

type Command = fc.AsyncCommand<NaiveLog, Real>

const ask = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

/** A command: its effect on the model and the store, and its name in a counterexample. */
const command = (text: string, run: (model: NaiveLog, log: EventLog.Service) => Promise<void>): Command => ({
  check: () => true,
  run: (model, { log }) => run(model, log),
  toString: () => text,
})

/** The result of a write as one value. */
const outcomeOf = <A>(call: Effect.Effect<A, EventLog.VersionConflict | EventLog.LogError>) =>
  Effect.catchAll(call, ({ _tag }) =>
    Effect.succeed<A | string>(_tag === "LogError" ? "Refused" : "VersionConflict"),
  )

const session = fc.constantFrom("s", "S", "t/1")
const commit = fc.constantFrom("a", "b", "c", "d", "e")
const records = fc
  .tuple(record, fc.array(record, { maxLength: 2 }))
  .map(([first, rest]): Batch => [first, ...rest])
const some = fc.option(changes, { nil: undefined, freq: 2 })
/** The version and batch id a writer has seen: usually the current ones. */
const seen = fc.record({
  off: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) },
  ),
  after: fc.constantFrom("known", "unknown", "unknown", "wrong"),
})

const optionsOf = (
  model: NaiveLog,
  session: string,
  batchId: string,
  { off, after }: { readonly off: number; readonly after: string },
): EventLog.AppendOptions => {
  const expectedVersion = Math.max(model.version(session) + off, 0)
  const last = model.head(session)?.batchId
  if (after === "unknown" || (after === "known" && last === undefined)) return { expectedVersion, batchId }
  return { expectedVersion, batchId, lastBatchId: after === "known" ? last : "elsewhere" }
}

const commands = fc.commands<NaiveLog, Real, false>(
  [
    fc
      .record({ session, batchId: commit, records, seen, changes: some })
      .map(({ session, batchId, records, seen, changes }) =>
        command(
          `append ${records.length} to ${session} as ${batchId} ${JSON.stringify([seen, changes])}`,
          async (model, log) => {
            const options = { ...optionsOf(model, session, batchId, seen), projections: changes }
            const expected = model.append(session, records, options)
            same(
              await ask(outcomeOf(log.append(session, records, options))),
              expected,
              () => `appending to ${session}`,
            )
          },
        ),
      ),
    fc
      .record({
        session,
        fromVersion: fc.nat({ max: 9 }),
        toVersion: fc.nat({ max: 9 }),
        reverse: fc.boolean(),
        limit: fc.integer({ min: 1, max: 5 }),
      })
      .map(({ session, limit, ...range }) =>
        command(`read ${session} ${JSON.stringify(range)}, at most ${limit}`, async (model, log) => {
          same(
            await ask(readAll(log, session, range)),
            model.read(session, range),
            () => `reading ${session}`,
          )
          const page = { ...range, fromVersion: Math.max(range.fromVersion, 1), limit }
          same(
            await ask(log.read(session, page)),
            model.read(session, page, limit),
            () => `a page of ${session}`,
          )
        }),
      ),
    fc
      .record({ session, batchId: commit, seen, version: fc.nat({ max: 4 }), changes: some })
      .map(({ session, batchId, seen, version, changes }) =>
        command(
          `rewrite ${version} of ${session} as ${batchId} ${JSON.stringify([seen, changes])}`,
          async (model, log) => {
            const options = { ...optionsOf(model, session, batchId, seen), projections: changes }
            if (version < 1 || version > model.version(session)) return
            const rewritten = [{ version, schemaVersion: 3, data: "gone", checksum: 7 }]
            const added: Batch = [{ time: 0, type: "Rewritten", schemaVersion: 1, data: "{}" }]
            const expected = model.append(session, added, options, rewritten)
            same(
              await ask(outcomeOf(log.rewrite(session, rewritten, added, options))),
              expected,
              () => `rewriting ${session}`,
            )
          },
        ),
      ),
    fc
      .record({
        session,
        changes,
        off: fc.constantFrom(0, 0, 0, -1, 1),
        batchId: fc.constantFrom("last", "last", "a"),
      })
      .map(({ session, changes, off, batchId }) =>
        command(`put rows in ${session} ${off} ${batchId} ${JSON.stringify(changes)}`, async (model, log) => {
          const head = model.head(session)
          if (head === null) return
          const last = batchId === "last" ? head.batchId : batchId
          const at = { version: Math.max(head.version + off, 0), batchId: last }
          const expected = model.put(session, at, changes)
          const put = Effect.as(log.projections.put(session, at, changes), "done")
          same(await ask(outcomeOf(put)), expected, () => `putting rows in ${session}`)
        }),
      ),
    fc.record({ session, kind: fc.constantFrom(...projectionKinds) }).map(({ session, kind }) =>
      command(`get ${JSON.stringify(kind)} of ${session}`, async (model, log) => {
        const found = await ask(log.projections.get(session, kind))
        sameRows(kind, found, model.rows(session, kind), () => `the rows of kind ${kind} in ${session}`)
      }),
    ),
    fc
      .record({ session: fc.option(session, { nil: undefined }), kind: fc.constantFrom(...projectionKinds) })
      .map(({ session, kind }) =>
        command(`drop ${JSON.stringify(kind)} of ${session ?? "all"}`, async (model, log) => {
          model.drop(kind, session)
          await ask(log.projections.drop(kind, session))
        }),
      ),
    session.map((session) =>
      command(`head of ${session}`, async (model, log) => {
        same(await ask(log.head(session)), model.head(session), () => `the head of ${session}`)
      }),
    ),
    session.map((session) =>
      command(`delete ${session}`, async (model, log) => {
        same(await ask(log.delete(session)), model.delete(session), () => `deleting ${session}`)
      }),
    ),
    fc
      .record({ session, moved: fc.nat({ max: 1 }), batch: fc.constantFrom("", "", "x") })
      .map(({ session, moved, batch }) =>
        command(`delete ${session} at a position`, async (model, log) => {
          const head = model.head(session) ?? { version: 0, batchId: "b" }
          const at = { version: head.version + moved, batchId: head.batchId + batch }
          const expected = moved === 0 && batch === "" && model.delete(session)
          same(await ask(log.delete(session, at)), expected, () => `deleting ${session} at ${at.version}`)
          same(await ask(log.head(session)), model.head(session), () => `the head of ${session}`)
        }),
      ),
    fc.constant(
      command("list", async (model, log) => {
        same(await ask(listed(log)), model.list(), () => "the sessions")
      }),
    ),
    fc
      .record({
        owner: fc.option(owner, { nil: undefined }),
        after: fc.option(fc.record({ session, updatedTime: fc.nat({ max: 3 }) }), { nil: undefined }),
        limit: fc.integer({ min: 1, max: 3 }),
      })
      .map((options) =>
        command(`list ${JSON.stringify(options)}`, async (model, log) => {
          same(await ask(log.list(options)), model.list(options), () => "a page of sessions")
        }),
      ),
  ],
  { maxCommands: 40, size: "max" },
)

export const modelLaws = ({ options, numRuns }: LogKit): ReadonlyArray<Law> => [
  makeLaw({
    id: "L12",
    name: "any sequence of operations gives the same answers as a list in memory",
    explanation:
      "Appends, rewrites, reads, projection rows, lists and deletions in any order, compared with a list in memory.",
    numRuns,
    replay: "seed",
    arbitrary: commands,
    describe: (some) => [...some].map((one) => String(one)).join("\n"),
    holds: (some) =>
      withLog(typeof options.layer === "function" ? options.layer() : options.layer, (log) =>
        Effect.promise(() => fc.asyncModelRun(() => ({ model: new NaiveLog(), real: { log } }), some)),
      ),
  }),
]
