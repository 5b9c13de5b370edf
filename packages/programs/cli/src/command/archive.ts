/** `memfold archive`: retention by rule; and `memfold restore`. */
import { Args } from "@effect/cli"
import {
  bringBack,
  openArchive,
  restoreSession,
  retain,
  retainSegments,
  type Retained,
  type SegmentsRetained,
  type Rule,
  Rules,
} from "@memfold/archive"
import { withoutSecrets } from "@memfold/catalog"
import { Audit, EventLog } from "@memfold/core"
import { Console, Duration, Effect, Option, Schedule, Schema, Stream } from "effect"
import { clean, color, several, printResult } from "../terminal/terminal.js"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"
import { parsedFile } from "./parsedFile.js"

const opened = (place: string) =>
  Effect.mapError(openArchive(place), ({ reason }) => new UsageError({ problem: reason }))

const duration = (name: string, about: string) => options.optionalText(name, "DURATION", about)

/** Rules as a file has them. */
export const rulesIn = (given: unknown): Effect.Effect<ReadonlyArray<Rule>, UsageError> =>
  Effect.mapBoth(Schema.decodeUnknown(Rules)(given, { onExcessProperty: "error" }), {
    onSuccess: ({ rules }) => rules,
    onFailure: () =>
      new UsageError({
        problem:
          'a rule is {"do":"archive"|"delete"|"hold","idle":"90 days","age":"730 days"} with an "owner" or a "session"; durations are text such as "90 days"',
      }),
  })

/** The rules of a file, or the one rule that the options are, behind what is held. */
const rulesOf = (given: {
  readonly rules: Option.Option<string>
  readonly idle: Option.Option<string>
  readonly age: Option.Option<string>
  readonly owner: Option.Option<string>
  readonly hold: ReadonlyArray<string>
  readonly erase: boolean
}): Effect.Effect<ReadonlyArray<Rule>, UsageError> =>
  Effect.gen(function* () {
    const { idle, age, owner, erase, hold } = given
    const own = [idle, age, owner].some(Option.isSome) || erase
    if (Option.isSome(given.rules) === own)
      return yield* new UsageError({
        problem: "give --idle or --age, with --owner if you want, or --rules FILE",
      })
    for (const [name, text] of Object.entries(options.given({ idle, age })))
      if (Option.isNone(Duration.decodeUnknown(text)))
        return yield* new UsageError({ problem: `--${name} ${text} is no duration, such as "90 days"` })
    const wanted = Option.isSome(given.rules)
      ? yield* parsedFile("--rules", given.rules.value)
      : {
          rules: [{ do: erase ? "delete" : "archive", ...options.given({ idle, age, owner }) }],
        }
    if (own && Option.isNone(idle) && Option.isNone(age))
      return yield* new UsageError({
        problem: `${Option.isSome(owner) ? "--owner" : "--delete"} goes with --idle or --age`,
      })
    return [...hold.map((owner): Rule => ({ do: "hold", owner })), ...(yield* rulesIn(wanted))]
  })

/** A line of what was done with a session, or would be. */
const lineOf = (
  { session, outcome, reason }: Retained | SegmentsRetained,
  action: string,
  what: string,
): string => {
  const done =
    outcome === "failed" ? color.red("failed ") : outcome === "planned" ? color.dim(action) : outcome
  return `${done}  ${clean(`session "${session}"`)}: ${what}${reason === undefined ? "" : `; ${clean(reason)}`}`
}

const line = (one: Retained): string => lineOf(one, one.action, `idle for ${several(one.idleDays, "day")}`)

const segmentLine = (one: SegmentsRetained): string =>
  lineOf(one, "archive", `${several(one.events, "event")} in ${several(one.segments, "segment")}`)

/** What was done with sessions: one line for each, and their number by outcome. Says how many failed. */
const told = <One extends Retained | SegmentsRetained>(
  all: Stream.Stream<One, EventLog.LogError>,
  shown: (one: One) => string,
  json: boolean,
): Effect.Effect<number, EventLog.LogError> =>
  Effect.gen(function* () {
    const sums = new Map<string, number>()
    yield* Stream.runForEach(all, (one) => {
      sums.set(one.outcome, (sums.get(one.outcome) ?? 0) + 1)
      return printResult(json, { type: "retained", ...one }, shown(one))
    })
    if (!json) {
      const counted = [...sums].map(([outcome, number]) => `${number} ${outcome}`).join(", ")
      yield* Console.log(counted === "" ? "no session is due" : counted)
      if (sums.has("planned")) yield* Console.log("nothing was changed; --run does it")
    }
    return sums.get("failed") ?? 0
  })

export const command = options.command(
  "archive",
  "Move sessions that nobody speaks in any more to a folder or a bucket, by rule; it says first what it would do.",
  {
    store: options.store,
    to: options.optionalText(
      "to",
      "PLACE",
      "The archive: a folder, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME.",
    ),
    idle: duration(
      "idle",
      'Sessions that nothing was written to for this long, such as "90 days". What was active in the last hour is never archived.',
    ),
    age: duration("age", 'Sessions that were begun this long ago, such as "700 days".'),
    owner: options.owner("Only the sessions of this owner."),
    hold: options.repeatedText(
      "hold",
      "OWNER",
      "The sessions of this owner stay as they are; may be repeated.",
    ),
    erase: options.flag(
      "delete",
      "Delete the sessions for good, also from the archive, instead of archiving them.",
    ),
    segments: options.flag(
      "segments",
      "Move the old events of sessions that live on, instead of whole sessions.",
    ),
    keepVersions: options.optionalInteger(
      "keep-versions",
      "N",
      "With --segments: this many of the newest events of a session stay; 1,000 by default.",
    ),
    rules: options.optionalText(
      "rules",
      "FILE",
      'Rules as JSON: {"rules":[{"do":"archive","idle":"90 days"}]}; the first that applies decides.',
    ),
    run: options.flag("run", "Do it. Without this, it only says what would be done."),
    every: duration(
      "every",
      'Do it again after each such time, such as "1 day", until the process is ended.',
    ),
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      const { segments, hold, erase } = given
      const hasRules = [given.rules, given.idle, given.age].some(Option.isSome) || hold.length > 0 || erase
      if (segments && hasRules)
        return yield* new UsageError({ problem: "--segments goes with --keep-versions and --owner alone" })
      if (!segments && Option.isSome(given.keepVersions))
        return yield* new UsageError({ problem: "--keep-versions goes with --segments" })
      const rules = segments ? [] : yield* rulesOf(given)
      const archives = segments || rules.some((rule) => rule.do === "archive")
      if (archives && Option.isNone(given.to))
        return yield* new UsageError({ problem: "--to is needed: a folder, or s3://BUCKET/PREFIX" })
      const place = yield* Effect.transposeMapOption(given.to, opened)
      const every = Option.flatMap(given.every, Duration.decodeUnknown)
      if (Option.isSome(given.every) && (Option.isNone(every) || !given.run))
        return yield* new UsageError({
          problem: '--every is a duration such as "1 day", and goes with --run',
        })
      const log = yield* EventLog.EventLog
      const archive = Option.getOrNull(place)
      const dryRun = !given.run
      const once =
        segments && archive !== null
          ? told(
              retainSegments(log, archive, {
                dryRun,
                ...options.given({ owner: given.owner, keepVersions: given.keepVersions }),
              }),
              segmentLine,
              given.json,
            )
          : told(retain(log, { rules, archive, dryRun }), line, given.json)
      if (Option.isSome(every)) return void (yield* Effect.repeat(once, Schedule.spaced(every.value)))
      if ((yield* once) > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.existingStore(given, { readonly: !given.run }))),
)

export const restore = options.command(
  "restore",
  "Bring a session back from the archive.",
  {
    session: Args.text({ name: "SESSION" }),
    store: options.store,
    from: options.text("from", "PLACE", "The archive."),
    json: options.json,
  },
  ({ session, store, from, json }) =>
    Effect.gen(function* () {
      const archive = yield* opened(from)
      const log = yield* EventLog.EventLog
      const wasAway = yield* restoreSession(log, archive, session)
      if (wasAway) yield* Audit.note(log, { act: "restore", session })
      const isBack = (yield* bringBack(log, archive, session)) || wasAway
      if (!isBack && (yield* log.head(session)) === null)
        return yield* new UsageError({
          problem: `neither ${withoutSecrets(store)} nor its archive has a session "${session}"`,
        })
      const text = clean(`session "${session}" is ${isBack ? "back in the store" : "in the store already"}`)
      yield* printResult(json, { type: "restored", session, restored: isBack }, text)
    }).pipe(Effect.provide(options.existingStore({ store }, { readonly: false }))),
)
