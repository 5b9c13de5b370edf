/** `memfold verify` */
import { EventLog, Verify } from "@memfold/core"
import { Console, Effect, Stream } from "effect"
import { Findings } from "./failure.js"
import { type Finding, integrity, place, unreadable } from "./finding.js"
import * as options from "./options.js"
import { clean, color, progress, progressDone, several, printResult } from "../terminal/terminal.js"

export const command = options.command(
  "verify",
  "Check every stored log against the laws; exit code 1 if there are findings.",
  { ...options.stored, json: options.json },
  ({ store, archive, json }) =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      let erased = 0
      const sums = { sessions: 0, events: 0, findings: 0 }
      const behind = { sessions: 0, events: 0 }
      const report = (found: ReadonlyArray<Finding>) => {
        sums.findings += found.length
        return Effect.forEach(found, (finding) =>
          printResult(
            json,
            { type: "finding", ...finding },
            `${color.red(finding.rule)}  ${clean(`${place(finding)}: ${finding.detail}`)}`,
          ),
        )
      }
      yield* Stream.runForEach(EventLog.logs(log), (info) =>
        Effect.gen(function* () {
          sums.sessions++
          progress(`session ${sums.sessions}: "${info.session}", ${several(info.version, "event")}`)
          sums.events += info.version
          const found: ReadonlyArray<Finding> = yield* Effect.catchTag(
            Verify.session(log, info.session),
            "LogError",
            (error) => {
              if (error.refused !== "erased")
                return Effect.map(unreadable(log, info.session, error), (finding) => [finding])
              // Nobody can read it, and nobody should.
              erased++
              return Effect.succeed([])
            },
          )
          // What cannot be read is a finding already.
          const unindexed = yield* Effect.orElseSucceed(Verify.unindexed(log, info.session), () => 0)
          behind.events += unindexed
          if (unindexed > 0) behind.sessions++
          progressDone()
          yield* report(found)
        }),
      )
      progress("the files of the store")
      const damage = yield* integrity(store)
      progressDone()
      yield* report(damage)
      yield* printResult(
        json,
        {
          type: "verified",
          ...sums,
          ...(erased === 0 ? {} : { erased }),
          ...(behind.events === 0 ? {} : { unindexed: behind.events }),
        },
        `${several(sums.sessions, "session")}, ${several(sums.events, "event")}${erased === 0 ? "" : `, ${erased} erased`}: ` +
          (sums.findings === 0 ? color.green("clean") : color.red(several(sums.findings, "finding"))),
      )
      if (behind.events > 0 && !json)
        yield* Console.log(
          `The index of words is ${several(behind.events, "event")} behind, in ${several(behind.sessions, "session")}: ` +
            "a search brings it up in the background, and says meanwhile how much it has not searched.",
        )
      if (sums.findings > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.existingStore({ store, archive }))),
)
