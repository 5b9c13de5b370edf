/** L14: an acknowledged append survives its process. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { batch } from "../../arbitrary/record.js"
import { type Law, makeLaw, must, same } from "../../law/Law.js"
import { answerOf, listed, type LogKit, readAll, snapshotOf, withLog } from "../input.js"

export const durabilityLaws = ({ options: { reopen }, numRuns }: LogKit): ReadonlyArray<Law> =>
  reopen === undefined
    ? []
    : [
        makeLaw({
          id: "L14",
          name: "what was acknowledged is there when the store is opened again",
          explanation:
            "Records, versions, commit ids and sessions survive, and appends go on where they stood. A snapshot may\n" +
            "be lost, and is never another one.",
          numRuns: Math.min(numRuns, 50),
          arbitrary: fc.array(fc.array(batch, { minLength: 1, maxLength: 3 }), {
            minLength: 1,
            maxLength: 3,
          }),
          describe: (lives) =>
            lives.map((batches, life) => `opened ${life + 1}: ${JSON.stringify(batches)}`).join("\n"),
          holds: async (lives) => {
            const place = reopen()
            const written: Array<Omit<EventLog.LogRecord, "session">> = []
            let commits = 0
            let snapshot: EventLog.Snapshot | null = null
            const look = (log: EventLog.Service) =>
              Effect.gen(function* () {
                const found = yield* readAll(log, "s")
                same(
                  found,
                  written.map((record) => ({ ...record, session: "s" })),
                  () => "the records, opened again",
                )
                same(yield* log.version("s"), written.length, () => "the version, opened again")
                same(
                  (yield* listed(log)).map(({ version }) => version),
                  [written.length],
                  () => "the sessions",
                )
                const kept = yield* snapshotOf(log, "s")
                if (kept !== null) same(kept, snapshot, () => "the snapshot, opened again")
                const first = written[0]!
                const repeated = yield* answerOf(
                  log.append("s", [{ at: 0, type: "Again", version: 1, data: "" }], {
                    expected: 99,
                    commit: first.commit,
                  }),
                )
                must(
                  repeated !== "VersionConflict" && repeated.duplicate,
                  () => "a commit id of before is forgotten",
                )
              })
            for (const [life, batches] of lives.entries()) {
              await withLog(place, (log) =>
                Effect.gen(function* () {
                  if (life > 0) yield* look(log)
                  for (const records of batches) {
                    const commit = `c${commits++}`
                    const appended = yield* log.append("s", records, { expected: written.length, commit })
                    records.forEach((record, at) =>
                      written.push({ ...record, seq: appended.from + at, commit }),
                    )
                  }
                  snapshot = {
                    fold: 1,
                    version: written.length,
                    commit: `c${commits - 1}`,
                    data: `life ${life}`,
                  }
                  yield* log.saveSnapshot("s", snapshot)
                }),
              )
            }
            await withLog(place, look)
          },
        }),
      ]
