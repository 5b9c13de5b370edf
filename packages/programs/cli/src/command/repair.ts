/** `memfold repair` */
import { EventLog, Repair } from "@memfold/core"
import { Effect, Option, Stream } from "effect"
import { Findings } from "./failure.js"
import { type Finding, place, unreadable } from "./finding.js"
import * as options from "./options.js"
import {
  clean,
  color,
  progress,
  progressDone,
  several,
  json as toJson,
  printLines,
  printResult,
} from "../terminal/terminal.js"

/** The result for one session. A log that cannot be read is left unchanged. */
interface Repaired {
  readonly session: string
  readonly mended: ReadonlyArray<string>
  readonly left: ReadonlyArray<Finding>
}

const repaired = (log: EventLog.Service, session: string): Effect.Effect<Repaired, EventLog.LogError> =>
  Effect.catchTag(Repair.repair(log, session), "LogError", (error) =>
    Effect.map(unreadable(log, session, error), (finding) => ({ session, mended: [], left: [finding] })),
  )

const lines = ({ session, mended, left }: Repaired): ReadonlyArray<string> => [
  ...mended.map((done) => `${color.green("mended")}  ${clean(`session "${session}": ${done}`)}`),
  ...left.map(
    (finding) =>
      `${color.red("left")}    ${clean(`${place(finding)}: ${finding.detail}`)}` +
      (finding.rule === "decodable"
        ? "; no copy of its text exists in the log: restore the store from a backup"
        : ""),
  ),
]

export const command = options.command(
  "repair",
  "Repair what can be repaired in stored logs, and list what cannot; exit code 1 if anything is left.",
  {
    ...options.stored,
    session: options.optionalText("session", "ID", "Only this session; all sessions by default."),
    json: options.json,
  },
  ({ store, archive, session, json }) =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      if (Option.isSome(session)) yield* options.requireSession(session.value, store)
      const names = Option.match(session, {
        onNone: () => Stream.map(EventLog.sessions(log), (info) => info.session),
        onSome: (name) => Stream.make(name),
      })
      const sums = { sessions: 0, mended: 0, left: 0 }
      yield* Stream.runForEach(names, (name) =>
        Effect.gen(function* () {
          sums.sessions++
          progress(`session ${sums.sessions}: "${name}"`)
          const done = yield* repaired(log, name)
          progressDone()
          sums.mended += done.mended.length
          sums.left += done.left.length
          const printed = json ? [toJson({ type: "repaired", ...done })] : lines(done)
          yield* printLines(printed)
        }),
      )
      const text = `${several(sums.sessions, "session")}: ${sums.mended} mended, ${sums.left} left`
      yield* printResult(json, { type: "repair", ...sums }, text)
      if (sums.left > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.existingStore({ store, archive }, { readonly: false }))),
)
