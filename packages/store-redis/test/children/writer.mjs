/**
 * `writer.mjs OPTIONS NAME COUNT`: once told to go, appends COUNT records to one session, at the session's version at
 * that moment; after each version conflict it tries again.
 */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { make } from "../../src/index.js"

const [options, name, count] = process.argv.slice(2)
const heard = createInterface({ input: process.stdin })
const say = (line) => void writeSync(1, `${line}\n`)

await Effect.flatMap(make(JSON.parse(options)), (log) =>
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
        if (outcome._tag === "Left" && outcome.left._tag !== "VersionConflict") return yield* outcome.left
        written = outcome._tag === "Right"
        if (!written) conflicts++
        expected = outcome._tag === "Right" ? outcome.right.version : outcome.left.actualVersion
      }
    }
    say(`done ${conflicts}`)
  }),
).pipe(Effect.scoped, Effect.runPromise)
heard.close()
