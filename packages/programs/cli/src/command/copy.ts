/** `memfold copy` and `memfold export`: copy sessions to another store or to a file. */
import { Args } from "@effect/cli"
import { Audit, EventLog } from "@memfold/core"
import { Console, Context, Effect, Layer, Option, Stream } from "effect"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { type Copied, copySession, type Diverged, type Source, sourceOf } from "@memfold/archive"
import { exportLines, openExport } from "../move/exported.js"
import { writeLines } from "../move/writeLines.js"
import { userHome } from "@memfold/layers"
import { sqliteFile } from "@memfold/catalog"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"
import { listening } from "./signals.js"
import { clean, color, count, progress, progressDone, several, printResult } from "../terminal/terminal.js"

const chosen = options.repeatedText(
  "session",
  "ID",
  "Only this session; may be repeated. All sessions by default.",
)

const opened = <E>(layer: Layer.Layer<EventLog.EventLog, E>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, EventLog.EventLog))

/** A store that is written to, and made where there is none. */
const target = (store: string) => Effect.flatMap(options.openStore(store), opened)

/** The sessions named on the command line, or all of them. Fails if a named session is missing. */
const sessionsOf = (log: EventLog.Service, store: string, names: ReadonlyArray<string>) =>
  Effect.forEach(names, (name) => options.requireSession(name, store), { discard: true }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.as(
      names.length > 0
        ? Stream.fromIterable(new Set(names))
        : Stream.map(EventLog.sessions(log), ({ session }) => session),
    ),
  )

/** Whose trails tell of a copy: the sessions that are named, or else each owner, and each session without one. */
const subjectsOf = (log: EventLog.Service, names: ReadonlyArray<string>) =>
  names.length > 0
    ? Effect.succeed(names.map((session): Audit.Subject => ({ session })))
    : Effect.map(Stream.runCollect(EventLog.sessions(log)), (all) => {
        const subjects = [...all].map(({ session, owner }): Audit.Subject =>
          owner == null ? { session } : { owner },
        )
        return [...new Map(subjects.map((one) => [Audit.trailOf(one), one])).values()]
      })

/** The sessions of an owner, and the log with the facts about the user of that name. */
const sessionsOfOwner = (log: EventLog.Service, owner: string): Stream.Stream<string, EventLog.LogError> =>
  Stream.concat(
    Stream.map(EventLog.sessions(log, owner), ({ session }) => session),
    Stream.make(userHome(owner)),
  )

/** Whether a store is lost when the program ends. Copying into it only checks the input. */
const isMemory = (url: string): boolean => url === "memory:" || url === "sqlite::memory:"

/** Whether two URLs name the same store: a file can have several paths. */
const isSameStore = (one: string, other: string): boolean => {
  if (one === other) return true
  const [file, otherFile] = [sqliteFile(one), sqliteFile(other)]
  if (file === null || otherFile === null) return false
  const [here, there] = [resolve(file), resolve(otherFile)]
  if (here === there) return true
  try {
    const [a, b] = [statSync(here, { bigint: true }), statSync(there, { bigint: true })]
    return a.dev === b.dev && a.ino === b.ino
  } catch {
    // One of them is missing or not readable; opening it reports that.
    return false
  }
}

const copiedLine = ({ session, events, written, sha256 }: Copied, kept: boolean): string =>
  `${kept ? color.green("copied") : color.dim("tried ")}  ${clean(`session "${session}"`)}: ${several(events, "event")}` +
  (written === events ? "" : `, ${count(events - written)} of them were there before`) +
  color.dim(`  sha256 ${sha256.slice(0, 16)}`)

const aheadLine = ({ session, events, there }: Copied): string =>
  `${color.green("ahead")}   ${clean(`session "${session}"`)}: ${several(events, "event")} there already, ` +
  `and continued there to ${count(there)}`

const noSums = { sessions: 0, events: 0, written: 0, ahead: 0, diverged: 0, failed: 0 }

const sumsLine = ({ sessions, events, written, ahead, diverged, failed }: typeof noSums): string =>
  [
    `${several(sessions, "session")}, ${several(events, "event")}, ${count(written)} of them new`,
    ...(sessions === 0 ? [] : ["every record compared"]),
    ...(ahead === 0 ? [] : [`${several(ahead, "session")} continued there`]),
    ...(diverged === 0 ? [] : [color.red(`${several(diverged, "session")} different there`)]),
    ...(failed === 0 ? [] : [color.red(`${several(failed, "session")} failed`)]),
  ].join("; ")

/** Stops after this many failures in a row for the same reason: the store is probably unreachable. */
const mostInARow = 3

/** Copies sessions one after another and prints the outcome of each. A session that fails does not stop the others. */
export const copyAll = (
  sessions: Stream.Stream<string, EventLog.LogError>,
  from: Source,
  to: EventLog.Service,
  { json, kept }: { readonly json: boolean; readonly kept: boolean },
): Effect.Effect<void, EventLog.LogError | Findings> =>
  Effect.gen(function* () {
    const sums = { ...noSums }
    const print = (record: object, text: string) =>
      Effect.zipRight(Effect.sync(progressDone), printResult(json, record, text))
    const done = (copied: Copied) => {
      const { outcome, ...result } = copied
      // The session was deleted after it was listed.
      if (copied.events === 0) return Effect.sync(progressDone)
      if (outcome === "ahead") {
        sums.ahead++
        return print({ type: outcome, ...result }, aheadLine(copied))
      }
      sums.sessions++
      sums.events += copied.events
      sums.written += copied.written
      return print({ type: outcome, ...result }, copiedLine(copied, kept))
    }
    const diverged = (error: Diverged) => {
      sums.diverged++
      const { session, version, how, written } = error
      const record = { type: "diverged", session, version, how, written }
      return print(record, `${color.red("differs")} ${clean(error.message)}`)
    }
    let turn = 0
    let row = { reason: "", count: 0 }
    const copyOne = (session: string) =>
      Effect.gen(function* () {
        turn++
        const all = yield* from.version(session)
        const tell = (events: number) =>
          progress(`session ${turn}: "${session}", ${count(events)} of ${several(all, "event")}`)
        yield* done(yield* copySession(from, to, session, tell))
        row = { reason: "", count: 0 }
      }).pipe(
        Effect.catchTags({
          Diverged: diverged,
          LogError: ({ message, reason }) => {
            sums.failed++
            row = { reason, count: reason === row.reason ? row.count + 1 : 1 }
            const record = { type: "failed", session, problem: message }
            return print(record, `${color.red("failed")}  ${clean(`session "${session}": ${message}`)}`)
          },
        }),
        Effect.map(() => row.count < mostInARow),
      )
    yield* sessions.pipe(Stream.mapEffect(copyOne), Stream.takeWhile(Boolean), Stream.runDrain)
    yield* print({ type: "copy", ...sums, kept }, sumsLine(sums))
    if (row.count === mostInARow && !json)
      yield* Console.log(
        `Stopped after ${mostInARow} failures of the same kind in a row; run it again to continue.`,
      )
    if (!kept && !json)
      yield* Console.log(color.dim("Only checked, nothing written; use --store URL to write it."))
    if (sums.diverged + sums.failed > 0) return yield* new Findings()
  })

export const copy = options.command(
  "copy",
  "Copy sessions to another store, record by record, and compare them at the end. An interrupted copy continues.",
  {
    from: options.storeText("from", "The store to copy from."),
    to: options.storeText("to", "The store to copy to; created if missing."),
    session: chosen,
    archive: options.archive,
    reason: options.optionalText(
      "reason",
      "TEXT",
      "Why; the audit trails of the sessions that are named, or of all owners and of sessions without one, get the export. It writes to the store that is copied.",
    ),
    json: options.json,
  },
  ({ from, to, session, archive, reason, json }) =>
    Effect.gen(function* () {
      const memory = isMemory(from) ? "from" : isMemory(to) ? "to" : null
      if (memory !== null) {
        const problem = `--${memory} memory: starts empty and is gone at the end; name a durable store`
        return yield* new UsageError({ problem })
      }
      if (isSameStore(from, to)) {
        return yield* new UsageError({ problem: "--from and --to are the same store" })
      }
      const source = yield* opened(
        options.existingStore({ store: from, archive }, { readonly: Option.isNone(reason) }),
      )
      const sessions = yield* sessionsOf(source, from, session)
      // Before anything is copied: the trails go with the sessions.
      if (Option.isSome(reason))
        for (const subject of yield* subjectsOf(source, session))
          yield* Audit.note(source, { act: "export", operation: "copy", reason: reason.value, ...subject })
      yield* copyAll(sessions, sourceOf(source), yield* target(to), { json, kept: true })
    }).pipe(Effect.scoped),
)

/** Interrupts the work on a signal, waits for its clean-up, and then ends the process with that signal. */
const untilSignal = <E>(work: Effect.Effect<void, E>): Effect.Effect<void, E> =>
  listening.pipe(
    Effect.flatMap((asked) => Effect.raceFirst(Effect.as(work, null), asked)),
    Effect.scoped,
    Effect.flatMap((signal) => {
      if (signal === null) return Effect.void
      process.kill(process.pid, signal)
      return Effect.never
    }),
  )

export const exportCommand = options.command(
  "export",
  "Write sessions as JSON Lines, to a file or to standard output.",
  {
    file: Args.text({ name: "FILE" }).pipe(Args.optional),
    ...options.stored,
    session: chosen,
    owner: options.owner(
      "Everything of this owner: the sessions, and the facts about the user of this name.",
    ),
    reason: options.optionalText(
      "reason",
      "TEXT",
      "Why; the audit trails of the owner, or of the sessions that are named, get the export.",
    ),
  },
  ({ file, store, archive, session, owner, reason }) =>
    Effect.gen(function* () {
      if (Option.isSome(owner) && session.length > 0)
        return yield* new UsageError({ problem: "give --session or --owner, not both" })
      const subjects = Option.isSome(owner)
        ? [{ owner: owner.value }]
        : session.map((name) => ({ session: name }))
      if (Option.isSome(reason) && subjects.length === 0)
        return yield* new UsageError({ problem: "--reason goes with --owner or --session" })
      const log = yield* opened(
        options.existingStore({ store, archive }, { readonly: Option.isNone(reason) }),
      )
      const sessions = Option.isSome(owner)
        ? sessionsOfOwner(log, owner.value)
        : yield* sessionsOf(log, store, session)
      if (Option.isSome(reason))
        for (const subject of subjects)
          yield* Audit.note(log, { act: "export", reason: reason.value, ...subject })
      const lines = exportLines(log, sessions)
      if (Option.isNone(file)) return yield* Stream.runForEach(lines, (text) => Console.log(text))
      yield* writeLines(file.value, lines).pipe(
        untilSignal,
        Effect.catchTag("NotWritten", ({ message }) => new UsageError({ problem: message })),
      )
    }).pipe(Effect.scoped),
)

/** Imports a file that `memfold export` wrote. */
export const importExport = (
  file: string,
  store: string,
  given: { readonly session: Option.Option<string>; readonly json: boolean },
) =>
  Effect.gen(function* () {
    const exported = yield* openExport(file)
    const { sessions } = exported
    const asked = Option.match(given.session, { onNone: () => sessions, onSome: (name) => [name] })
    const missing = asked.find((name) => !sessions.includes(name))
    if (missing !== undefined) {
      return yield* new UsageError({ problem: `there is no session "${missing}" in ${file}` })
    }
    yield* copyAll(Stream.fromIterable(asked), exported, yield* target(store), {
      json: given.json,
      kept: !isMemory(store),
    })
  }).pipe(Effect.scoped)
