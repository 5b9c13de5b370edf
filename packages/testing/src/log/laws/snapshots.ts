/** A snapshot is a cache of this log, never of another one (L6: the same log gives the same state). */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { listed, type LogKit, readAll, snapshotOf } from "../input.js"

const snapshot = (version: number, batchId: string, foldVersion = 1): EventLog.Snapshot => ({
  foldVersion,
  version,
  batchId,
  data: `{"version": ${version}, "text": "单词 🎈 it's"}`,
})

export const snapshotLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L6",
    name: "a snapshot of the current log is returned unchanged",
    explanation:
      "Loading returns the snapshot saved last, with its fold version, version and batch id. It is no event. After\n" +
      "an append the older one may stay: it is still the state at an earlier version of this log.",
    arbitrary: fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 4 }), foldVersion: fc.integer({ min: 1, max: 3 }) }),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    holds: (log, steps) =>
      Effect.gen(function* () {
        let version = 0
        same(yield* snapshotOf(log, "s"), null, () => "before there is any")
        for (const [position, { size, foldVersion }] of steps.entries()) {
          yield* log.append("s", numbered(size), { expectedVersion: version, batchId: `c${position}` })
          version += size
          const older = yield* snapshotOf(log, "s")
          const before = position === 0 ? undefined : version - size
          if (older !== null) same(older.version, before, () => "the snapshot after an append")
          const one = snapshot(version, `c${position}`, foldVersion)
          yield* log.saveSnapshot("s", one)
          same(yield* snapshotOf(log, "s"), one, () => `the snapshot at version ${version}`)
          same(yield* log.version("s"), version, () => "the version, after a snapshot")
          same((yield* readAll(log, "s")).length, version, () => "the events, after a snapshot")
        }
      }),
  }),
  law({
    id: "L6",
    name: "a snapshot of another log, or of a part of this one, is ignored",
    explanation:
      "If its version or batch id is not that of the last record, the log was rewritten, deleted or extended since.\n" +
      "Such a snapshot would bring back erased text or hide new events.",
    arbitrary: fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      off: fc.integer({ min: -4, max: 4 }),
      batchId: fc.constantFrom("last", "first", "elsewhere"),
      deleted: fc.boolean(),
    }),
    holds: (log, { sizes, off, batchId, deleted }) =>
      Effect.gen(function* () {
        const write = (name: string) =>
          Effect.gen(function* () {
            let version = 0
            for (const [position, size] of sizes.entries()) {
              yield* log.append("s", numbered(size), {
                expectedVersion: version,
                batchId: `${name}${position}`,
              })
              version += size
            }
            return version
          })
        const version = yield* write("c")
        const last = `c${sizes.length - 1}`
        const given = snapshot(Math.max(version + off, 0), { last, first: "c0", elsewhere: "x" }[batchId])
        const current = given.version === version && given.batchId === last
        yield* log.saveSnapshot("s", given)
        same(
          yield* snapshotOf(log, "s"),
          current ? given : null,
          () => `a snapshot of version ${given.version} of ${version}`,
        )
        yield* log.saveSnapshot("nobody", snapshot(1, "c0"))
        same(yield* snapshotOf(log, "nobody"), null, () => "of a session that does not exist")
        same((yield* listed(log)).length, 1, () => "the number of sessions")
        if (!deleted) return
        yield* log.saveSnapshot("s", snapshot(version, last))
        yield* log.delete("s")
        yield* write("anew")
        same(yield* snapshotOf(log, "s"), null, () => "after the session was started again")
        yield* log.saveSnapshot("s", snapshot(version, last))
        same(yield* snapshotOf(log, "s"), null, () => "a snapshot of the deleted log, saved late")
      }),
  }),
]
