/** All operations in any order: a store answers as a list in memory does. */
import type { EventLog } from "@memfold/core"
import { Cause, Effect, Exit } from "effect"
import * as fc from "fast-check"
import { type Batch, record } from "../../arbitrary/record.js"
import { type Law, makeLaw, same } from "../../law/Law.js"
import { answerOf, listed, type LogKit, readAll, snapshotOf, withLog } from "../input.js"
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

const session = fc.constantFrom("s", "S", "t/1")
const commit = fc.constantFrom("a", "b", "c", "d", "e")
const records = fc
  .tuple(record, fc.array(record, { maxLength: 2 }))
  .map(([first, rest]): Batch => [first, ...rest])
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
  const last = model.lastCommit(session)
  if (after === "unknown" || (after === "known" && last === undefined)) return { expectedVersion, batchId }
  return { expectedVersion, batchId, lastBatchId: after === "known" ? last : "elsewhere" }
}

const commands = fc.commands<NaiveLog, Real, false>(
  [
    fc.record({ session, batchId: commit, records, seen }).map(({ session, batchId, records, seen }) =>
      command(
        `append ${records.length} to ${session} as ${batchId} ${JSON.stringify(seen)}`,
        async (model, log) => {
          const options = optionsOf(model, session, batchId, seen)
          const expected = model.append(session, records, options)
          same(
            await ask(answerOf(log.append(session, records, options))),
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
      })
      .map(({ session, ...range }) =>
        command(`read ${session} ${JSON.stringify(range)}`, async (model, log) => {
          same(
            await ask(readAll(log, session, range)),
            model.read(session, range),
            () => `reading ${session}`,
          )
        }),
      ),
    fc
      .record({ session, batchId: commit, seen, version: fc.nat({ max: 4 }) })
      .map(({ session, batchId, seen, version }) =>
        command(
          `rewrite ${version} of ${session} as ${batchId} ${JSON.stringify(seen)}`,
          async (model, log) => {
            const options = optionsOf(model, session, batchId, seen)
            if (version < 1 || version > model.version(session)) return
            const rewritten = [{ version, schemaVersion: 3, data: "gone", checksum: 7 }]
            const added: Batch = [{ time: 0, type: "Rewritten", schemaVersion: 1, data: "{}" }]
            const expected = model.append(session, added, options, rewritten)
            same(
              await ask(answerOf(log.rewrite(session, rewritten, added, options))),
              expected,
              () => `rewriting ${session}`,
            )
          },
        ),
      ),
    fc
      .record({
        session,
        off: fc.constantFrom(0, 0, 0, -1, 1),
        batchId: fc.constantFrom("last", "last", "a"),
      })
      .map(({ session, off, batchId }) =>
        command(`save a snapshot of ${session} ${off} ${batchId}`, async (model, log) => {
          const last = batchId === "last" ? (model.lastCommit(session) ?? "") : batchId
          const version = Math.max(model.version(session) + off, 0)
          const snapshot = { foldVersion: 1, version, batchId: last, data: `snapshot of ${version}` }
          model.saveSnapshot(session, snapshot)
          await ask(log.saveSnapshot(session, snapshot))
        }),
      ),
    session.map((session) =>
      command(`load the snapshot of ${session}`, async (model, log) => {
        const found = await ask(snapshotOf(log, session))
        // A cache may lose what it has.
        if (found !== null) same(found, model.loadSnapshot(session), () => `the snapshot of ${session}`)
      }),
    ),
    session.map((session) =>
      command(`version of ${session}`, async (model, log) => {
        const version = model.version(session)
        same(await ask(log.version(session)), version, () => `the version of ${session}`)
        if (log.head === undefined) return
        const head = version === 0 ? null : { version, batchId: model.lastCommit(session) }
        same(await ask(log.head(session)), head, () => `the head of ${session}`)
      }),
    ),
    session.map((session) =>
      command(`delete ${session}`, async (model, log) => {
        same(await ask(log.delete(session)), model.delete(session), () => `deleting ${session}`)
      }),
    ),
    fc.constant(
      command("list", async (model, log) => {
        same(await ask(listed(log)), model.sessions(), () => "the sessions")
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
      "Appends, rewrites, reads, snapshots and deletions in any order, compared with a list in memory.",
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
