/** `memfold copy` and `memfold export`: sessions on their way from store to store, or into a file. */
import { Args, Command, Options } from "@effect/cli"
import { EventLog } from "@memfold/core"
import { Console, Context, Effect, Layer, Option, Stream } from "effect"
import { createWriteStream, existsSync } from "node:fs"
import { pipeline } from "node:stream/promises"
import { type Copied, copySession, type Diverged, type Source } from "../move/copy.js"
import { exportLines, openExport } from "../move/exported.js"
import { Found, UsageError } from "./failure.js"
import * as options from "./options.js"
import { color, count, progress, progressDone, several } from "./terminal.js"

const chosen = Options.text("session").pipe(
  Options.withPseudoName("ID"),
  Options.repeated,
  Options.withDescription("Only this session; may be repeated. Otherwise all of them."),
)

const url = (name: string, description: string) =>
  Options.text(name).pipe(Options.withPseudoName("URL"), Options.withDescription(description))

const opened = (store: string, given?: Parameters<typeof options.openStore>[1]) =>
  Effect.map(
    Effect.flatMap(options.openStore(store, given), (layer) => Layer.build(layer)),
    (context) => Context.get(context, EventLog.EventLog),
  )

/** The sessions that were asked for, all of which have to be there. */
const sessionsOf = (log: EventLog.Service, store: string, names: ReadonlyArray<string>) =>
  Effect.forEach(names, (name) => options.requireSession(name, store), { discard: true }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.as(
      names.length > 0 ? Stream.fromIterable(names) : Stream.map(log.sessions, ({ session }) => session),
    ),
  )

const line = ({ session, events, written, sha256 }: Copied): string =>
  `${color.green("copied")}  session "${session}": ${several(events, "event")}` +
  (written === events ? "" : `, ${count(events - written)} of them there before`) +
  color.dim(`  sha256 ${sha256.slice(0, 16)}`)

/** Copies sessions one after another, and says what became of each; one that is another one there is left alone. */
export const copyAll = (
  sessions: Stream.Stream<string, EventLog.LogError>,
  from: Source,
  to: EventLog.Service,
  { json }: { readonly json: boolean },
): Effect.Effect<void, EventLog.LogError | Found> =>
  Effect.gen(function* () {
    const sums = { sessions: 0, events: 0, written: 0, diverged: 0 }
    const print = (record: object, text: string) => Console.log(json ? JSON.stringify(record) : text)
    const diverged = (error: Diverged) => {
      sums.diverged++
      progressDone()
      const { session, seq } = error
      return print({ type: "diverged", session, seq }, `${color.red("left")}    ${error.message}`)
    }
    yield* Stream.runForEach(sessions, (session) =>
      Effect.gen(function* () {
        const all = yield* from.version(session)
        const tell = (events: number) =>
          progress(`session ${sums.sessions + 1}: "${session}", ${count(events)} of ${several(all, "event")}`)
        const copied = yield* copySession(from, to, session, tell)
        progressDone()
        sums.sessions++
        sums.events += copied.events
        sums.written += copied.written
        yield* print({ type: "copied", ...copied }, line(copied))
      }).pipe(Effect.catchTag("Diverged", diverged)),
    )
    yield* print(
      { type: "copy", ...sums },
      `${several(sums.sessions, "session")}, ${several(sums.events, "event")}, ${count(sums.written)} of them new; ` +
        `every record compared` +
        (sums.diverged === 0 ? "" : `; ${color.red(`${several(sums.diverged, "session")} left alone`)}`),
    )
    if (sums.diverged > 0) return yield* new Found()
  })

export const copy = Command.make(
  "copy",
  {
    from: url("from", "The store they are in."),
    to: url("to", "The store they go to; it is made where there is none."),
    session: chosen,
    json: options.json,
  },
  ({ from, to, session, json }) =>
    Effect.gen(function* () {
      if (from === to) return yield* new UsageError({ problem: "--from and --to are the same store" })
      const source = yield* opened(from, { create: false, readonly: true })
      const sessions = yield* sessionsOf(source, from, session)
      yield* copyAll(sessions, source, yield* opened(to), { json })
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Copy sessions to another store, record by record. One that broke off is gone on with; all is compared at the end.",
  ),
)

export const exportCommand = Command.make(
  "export",
  {
    file: Args.text({ name: "FILE" }).pipe(Args.optional),
    store: options.store,
    session: chosen,
  },
  ({ file, store, session }) =>
    Effect.gen(function* () {
      const log = yield* opened(store, { create: false, readonly: true })
      const lines = exportLines(log, yield* sessionsOf(log, store, session))
      if (Option.isNone(file)) return yield* Stream.runForEach(lines, (text) => Console.log(text))
      const path = file.value
      if (existsSync(path)) return yield* new UsageError({ problem: `${path} is there already` })
      const text = Stream.map(lines, (one) => `${one}\n`)
      yield* Effect.tryPromise({
        try: () => pipeline(Stream.toAsyncIterable(text), createWriteStream(path, { flags: "wx" })),
        catch: (error) =>
          error instanceof EventLog.LogError
            ? error
            : new UsageError({ problem: `${path} cannot be written: ${(error as Error).message}` }),
      })
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Write sessions as JSON Lines, to a file or to standard output."))

/** What `memfold import` does with a file that `memfold export` wrote. */
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
    yield* copyAll(Stream.fromIterable(asked), exported, yield* opened(store), given)
  }).pipe(Effect.scoped)
