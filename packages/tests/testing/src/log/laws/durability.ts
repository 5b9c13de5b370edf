/** L14: an acknowledged append survives its process. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { changes, projectionKinds } from "../../arbitrary/projection.js"
import { batch, numbered } from "../../arbitrary/record.js"
import { type Law, makeLaw, same } from "../../law/Law.js"
import { answerOf, listed, type LogKit, readAll, sameRows, withLog } from "../input.js"
import { NaiveLog } from "../naiveLog.js"

export const durabilityLaws = ({ options: { reopen }, numRuns }: LogKit): ReadonlyArray<Law> =>
  reopen === undefined
    ? []
    : [
        makeLaw({
          id: "L14",
          name: "acknowledged appends survive reopening the store",
          explanation:
            "Records, versions, batch ids, sessions and projection rows survive, and appends continue at the same version.",
          numRuns: Math.min(numRuns, 50),
          arbitrary: fc.array(
            fc.array(fc.record({ records: batch, changes, put: changes }), { minLength: 1, maxLength: 3 }),
            {
              minLength: 1,
              maxLength: 3,
            },
          ),
          describe: (lives) =>
            lives.map((batches, life) => `opened ${life + 1}: ${JSON.stringify(batches)}`).join("\n"),
          holds: async (lives) => {
            const place = reopen()
            const model = new NaiveLog()
            const look = (log: EventLog.Service) =>
              Effect.gen(function* () {
                same(yield* readAll(log, "s"), model.read("s"), () => "the records, opened again")
                same(yield* log.head("s"), model.head("s"), () => "the head, opened again")
                same(yield* listed(log), model.list(), () => "the sessions")
                for (const kind of projectionKinds)
                  sameRows(
                    kind,
                    yield* log.projections.get("s", kind),
                    model.rows("s", kind),
                    () => `the rows of kind ${kind}, opened again`,
                  )
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
                  for (const [position, { records, changes, put }] of batches.entries()) {
                    const options = { expectedVersion: model.version("s"), batchId: `${life}.${position}` }
                    // The first batch is written whatever its changes are.
                    const [plain, described] = [options, { ...options, projections: changes }]
                    const first = model.append("s", records, described)
                    const expected = first === "Refused" ? model.append("s", records, plain) : first
                    const taken = first === "Refused" ? plain : described
                    same(yield* answerOf(log.append("s", records, taken)), expected, () => "an append")
                    const at = model.head("s")
                    if (at !== null && model.put("s", at, put) === "done")
                      yield* log.projections.put("s", at, put)
                  }
                }),
              )
            }
            await withLog(place, look)
          },
        }),
      ]
