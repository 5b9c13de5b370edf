/** `memfold doctor`: what is not protected in an installation. */
import { Options } from "@effect/cli"
import { sqliteFile, withoutSecrets } from "@memfold/catalog"
import { Audit, EventLog } from "@memfold/core"
import type { StoredToken } from "@memfold/server"
import { Console, Effect, Option, Stream } from "effect"
import { statSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { clean, color, json as toJson } from "../terminal/terminal.js"
import { rulesIn } from "./archive.js"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"
import { parsedFile } from "./parsedFile.js"
import { readTokens } from "./serve.js"

/** Something that is not protected, and what to do about it. */
interface Finding {
  readonly about: "keys" | "tokens" | "host" | "retention" | "backup" | "audit"
  readonly problem: string
}

const finding = (about: Finding["about"], problem: string): Finding => ({ about, problem })

/** A finding, if something is open. */
const where = (isOpen: boolean, about: Finding["about"], problem: string): ReadonlyArray<Finding> =>
  isOpen ? [finding(about, problem)] : []

/** The subject of a trail by its id; `null` if a log is none. */
const subjectOf = (log: string): Audit.Subject | null => {
  const [owner, session] = [Audit.trailOf({ owner: "" }), Audit.trailOf({ session: "" })]
  if (log.startsWith(owner)) return { owner: log.slice(owner.length) }
  return log.startsWith(session) ? { session: log.slice(session.length) } : null
}

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const keyFindings = (log: EventLog.Service, store: string): ReadonlyArray<Finding> => {
  if (log.erasure === undefined)
    return [
      finding(
        "keys",
        "the store seals nothing: whoever has a copy of it reads everything, and backups keep what is erased; open it as sealed:FOLDER,URL",
      ),
    ]
  const [, folder = "", inner = ""] = /^sealed:([^,]+),(.*)$/su.exec(store) ?? []
  const file = sqliteFile(inner)
  if (file === null) return []
  const [keys, place] = [resolve(folder), dirname(resolve(file))]
  return where(
    isWithin(keys, place) || isWithin(place, keys),
    "keys",
    "the keys and the store are in one folder: a backup of both together is a backup of the texts",
  )
}

/** Checks every trail, and finds when something was erased or deleted last. */
const trailsOf = (log: EventLog.Service) =>
  Stream.runFoldEffect(
    Stream.filterMap(EventLog.sessions(log), ({ session }) => Option.fromNullable(subjectOf(session))),
    { broken: [] as ReadonlyArray<Finding>, erased: 0, count: 0 },
    ({ broken, erased, count }, subject) =>
      Effect.map(Audit.readTrail(log, subject), ({ trail, noted }) => {
        const name = "owner" in subject ? `owner "${subject.owner}"` : `session "${subject.session}"`
        const changed = finding("audit", `the trail of ${name} was changed at its entry ${trail.brokenAt}`)
        const times = noted.flatMap(({ time, event: { act } }) =>
          act === "erase" || act === "delete" ? [time] : [],
        )
        return {
          broken: trail.brokenAt === null ? broken : [...broken, changed],
          erased: Math.max(erased, ...times),
          count: count + 1,
        }
      }),
  )

const tokenFindings = (tokens: ReadonlyArray<StoredToken>): ReadonlyArray<Finding> =>
  tokens.flatMap(({ name = "", rights }, at) => {
    const token = `token ${at + 1}`
    return [
      ...where(name === "", "tokens", `${token} has no name: the audit cannot say whose it is`),
      ...where(rights.length === 0, "tokens", `${token} has no rights: remove it from the file`),
      ...where(
        rights.includes("erase"),
        "tokens",
        `${token}${name === "" ? "" : ` (${name})`} may erase: keep that to the tokens that need it`,
      ),
    ]
  })

const here = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/u

export const command = options.command(
  "doctor",
  "Say what is not protected in an installation: keys, tokens, the address, retention, backups, the audit.",
  {
    store: options.store,
    tokens: options.optionalText("tokens", "FILE", "The tokens that the service is given."),
    host: options
      .text("host", "ADDRESS", "The address that the service listens on.")
      .pipe(Options.withDefault("127.0.0.1")),
    rules: options.optionalText("rules", "FILE", 'The rules of retention that "memfold archive" is given.'),
    backup: options.repeatedText("backup", "FILE", "A backup of the store or of its keys; may be repeated."),
    json: options.json,
  },
  ({ store, tokens, host, rules, backup, json }) =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const { broken, erased, count } = yield* trailsOf(log)
      const given = yield* Effect.transposeMapOption(tokens, readTokens)
      const kept = yield* Effect.transposeMapOption(rules, (path) =>
        Effect.flatMap(parsedFile("--rules", path), rulesIn),
      )
      const backups = yield* Effect.forEach(backup, (path) =>
        Effect.try({
          try: () => ({ path, time: statSync(path).mtimeMs }),
          catch: () => new UsageError({ problem: `--backup ${path}: there is no such file` }),
        }),
      )
      const found: ReadonlyArray<Finding> = [
        ...keyFindings(log, store),
        ...Option.match(given, {
          onNone: () => [
            finding("tokens", "the service asks nobody for a token: whoever reaches it reads and erases all"),
          ],
          onSome: tokenFindings,
        }),
        ...where(
          !here.test(host),
          "host",
          `the service listens on ${host}: others reach it; put it behind TLS${Option.isNone(given) ? ", and give it --tokens" : ""}`,
        ),
        ...where(
          !Option.exists(kept, (all) => all.some((rule) => rule.do !== "hold")),
          "retention",
          "nothing ends what is kept: give memfold archive rules, and run it every day",
        ),
        ...backups
          .filter(({ time }) => time < erased)
          .map(({ path }) =>
            finding(
              "backup",
              `${path} is older than the last erasure: restored, it ${log.erasure === undefined ? "has what was erased" : "brings its keys back, if it has keys"}; make a new one and remove it`,
            ),
          ),
        ...where(
          count === 0,
          "audit",
          "no trail was written: give the memory audit, with reads if they count",
        ),
        ...broken,
      ]
      if (json) for (const one of found) yield* Console.log(toJson({ type: "finding", ...one }))
      else {
        for (const { about, problem } of found)
          yield* Console.log(`${color.red(about.padEnd(9))}  ${clean(problem)}`)
        if (found.length === 0)
          yield* Console.log(`nothing was found that is open in ${clean(withoutSecrets(store))}`)
      }
      if (found.length > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.existingStore({ store }))),
)
