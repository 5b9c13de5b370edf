/** The second process of tests with many writers: a script bundles this with the store that it opens. */
import { EventLog } from "@memfold/core"
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"

/**
 * `script OPTIONS NAME COUNT`: once told to go, appends COUNT records to one session, at the session's version at that moment;
 * after each version conflict it tries again. Says `done` and the number of conflicts.
 */
export const write = async <Options>(
  open: (options: Options) => Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope>,
): Promise<void> => {
  const [options = "", name = "", count] = process.argv.slice(2)
  const heard = createInterface({ input: process.stdin })
  const say = (line: string) => void writeSync(1, `${line}\n`)

  await Effect.flatMap(open(JSON.parse(options) as Options), (log) =>
    Effect.gen(function* () {
      say("ready")
      yield* Effect.promise(() => once(heard, "line"))
      let expected = yield* EventLog.versionOf(log, "one")
      let conflicts = 0
      for (let number = 0; number < Number(count); number++) {
        const record = { time: number, type: "Test", schemaVersion: 1, data: `"${name}.${number}"` }
        for (let written = false; !written;) {
          const outcome = yield* Effect.either(
            log.append("one", [record], { expectedVersion: expected, batchId: `${name}-${number}` }),
          )
          if (outcome._tag === "Right") {
            written = true
            expected = outcome.right.version
          } else {
            if (outcome.left._tag !== "VersionConflict") return yield* outcome.left
            conflicts++
            expected = outcome.left.actualVersion
          }
        }
      }
      say(`done ${conflicts}`)
    }),
  ).pipe(Effect.scoped, Effect.runPromise)
  heard.close()
}
