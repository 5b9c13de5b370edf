/** L14: an acknowledged append survives its process. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { batch, numbered } from "../../arbitrary/record.js"
import { type Law, makeLaw, same } from "../../law/Law.js"
import { answerOf, listed, type LogKit, readAll, snapshotOf, withLog } from "../input.js"
import { NaiveLog } from "../naiveLog.js"

export const durabilityLaws = ({ options: { reopen }, numRuns }: LogKit): ReadonlyArray<Law> =>
  reopen === undefined
    ? []
    : [
        makeLaw({
          id: "L14",
          name: "acknowledged appends survive reopening the store",
          explanation:
            "Records, versions, batch ids and sessions survive, and appends continue at the same version. A snapshot\n" +
            "may be lost, but an older or other one never comes back.",
          numRuns: Math.min(numRuns, 50),
          arbitrary: fc.array(fc.array(batch, { minLength: 1, maxLength: 3 }), {
            minLength: 1,
            maxLength: 3,
          }),
          describe: (lives) =>
            lives.map((batches, life) => `opened ${life + 1}: ${JSON.stringify(batches)}`).join("\n"),
          holds: async (lives) => {
            const place = reopen()
            const model = new NaiveLog()
            const look = (log: EventLog.Service) =>
              Effect.gen(function* () {
                same(yield* readAll(log, "s"), model.read("s"), () => "the records, opened again")
                same(yield* log.version("s"), model.version("s"), () => "the version, opened again")
                same(yield* listed(log), model.sessions(), () => "the sessions")
                const kept = yield* snapshotOf(log, "s")
                if (kept !== null) same(kept, model.loadSnapshot("s"), () => "the snapshot, opened again")
                const again = { expectedVersion: 99, batchId: "0.0" }
                const expected = model.append("s", numbered(1), again)
                same(
                  yield* answerOf(log.append("s", numbered(1), again)),
                  expected,
                  () => "the first batch, again",
                )
              })
            for (const [life, batches] of lives.entries()) {
              await withLog(place, (log) =>
                Effect.gen(function* () {
                  if (life > 0) yield* look(log)
                  for (const [position, records] of batches.entries()) {
                    const options = { expectedVersion: model.version("s"), batchId: `${life}.${position}` }
                    const expected = model.append("s", records, options)
                    same(yield* answerOf(log.append("s", records, options)), expected, () => "an append")
                  }
                  const [version, batchId] = [model.version("s"), model.lastCommit("s") ?? ""]
                  const snapshot = { foldVersion: 1, version, batchId, data: `life ${life}` }
                  model.saveSnapshot("s", snapshot)
                  yield* log.saveSnapshot("s", snapshot)
                }),
              )
            }
            await withLog(place, look)
          },
        }),
      ]
