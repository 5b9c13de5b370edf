/** `memfold import --from NAME FILE` */
import { Args, Command, Options } from "@effect/cli"
import { EventLog, type Memory, type Summarizer, TokenCounter } from "@memfold/core"
import { Clock, Console, Effect, Option } from "effect"
import { readdirSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { completed } from "../import/completed.js"
import { eventsOf, type Imported, type ImportedSummary } from "../import/events.js"
import type { SessionTaken } from "../import/ImportError.js"
import {
  everyTranscript,
  type OldSession,
  isConsolidated,
  programs,
  type Sources,
  threadsIn,
} from "../import/programs.js"
import { commitOf, importedBefore, write } from "../import/write.js"
import { byName } from "@memfold/catalog"
import { importExport } from "./copy.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import {
  clean,
  color,
  count,
  heading,
  several,
  shownId,
  table,
  json as toJson,
} from "../terminal/terminal.js"

const session = options.optionalText(
  "session",
  "ID",
  "The id of the new session; by default the conversation's name, or the file's. Of an export: only this session.",
)

const from = options
  .text(
    "from",
    "NAME",
    `The program that wrote the file: ${[...programs.keys()].join(", ")} (a session or an export that memfold replay reads, with its compactions); or memfold (the default), for what memfold export wrote.`,
  )
  .pipe(Options.withDefault("memfold"))

const thread = options.optionalText("thread", "ID", "Which conversation of a file with several.")

const all = options.flag(
  "all",
  "Import every conversation of the file; --messages is then a folder with a transcript for each, named after it.",
)

const messages = options.optionalText(
  "messages",
  "TRANSCRIPT",
  "The messages, if the state does not contain them.",
)

const summary = options.optionalText(
  "summary",
  "FILE",
  "The summary's text, for a sliding-window state; by default --summarizer writes it now.",
)

const store = options.store.pipe(
  Options.withDefault("memory:"),
  Options.withDescription(
    "The store to write to: sqlite:PATH, redis://HOST or postgres://HOST/DATABASE. With memory: (the default) the import is only checked.",
  ),
)

const rangeText = (range: ImportedSummary["range"]): string =>
  range === null ? "" : `[${range.from},${range.to})`

const time = (at: number | null): string =>
  at === null ? "" : new Date(at).toISOString().slice(0, 19).replace("T", " ")

const summaryRecord = ({ id, was, is, range, time, notes }: ImportedSummary) => ({
  type: "imported-summary",
  summary: id,
  was,
  is,
  from: range?.from ?? null,
  to: range?.to ?? null,
  time: time === null ? null : new Date(time).toISOString(),
  notes,
})

const summaryTable = (summaries: ReadonlyArray<ImportedSummary>): string =>
  table(
    ["summary", "was", "is", "covers", "made", ""],
    summaries.map(({ id, was, is, range, time: at, notes }) => [
      shownId(id),
      was,
      is === "left-out" ? { text: "left out", paint: color.yellow } : is,
      rangeText(range),
      time(at),
      { text: notes.join("; "), paint: color.dim },
    ]),
    ["left", "left", "left", "left", "left", "left"],
  )

const sum = ({ state }: Imported): string =>
  `${several(state.total, "message")}; ` +
  (state.summary === null
    ? "no summary"
    : `[0,${state.coveredTo}) in the active summary, ${count(state.total - state.coveredTo)} uncovered`)

/** The result of an import; `imported` is `null` if the same state was imported before. */
interface ImportResult {
  readonly file: string
  readonly from: string
  readonly session: string
  readonly batchId: string
  readonly imported: Imported | null
  /** `false` if the import was only checked. */
  readonly kept: boolean
}

const lines = ({ file, from, session, imported, kept }: ImportResult): ReadonlyArray<string> => {
  if (imported === null) {
    return [clean(`${file} was already imported into session "${session}"; nothing was written`)]
  }
  return [
    heading(`${file} → session "${session}" (${from})`),
    ...(imported.summaries.length === 0 ? [] : [summaryTable(imported.summaries), ""]),
    sum(imported),
    ...(kept ? [] : [color.dim("Only checked, nothing written; use --store URL to write it.")]),
  ]
}

const records = ({ file, from, session, batchId, imported }: ImportResult): ReadonlyArray<string> => {
  const named = { type: "imported", file, from, session, batchId, duplicate: imported === null }
  const result =
    imported === null
      ? { ...named, events: 0 }
      : {
          ...named,
          events: imported.events.length,
          messages: imported.state.total,
          coveredTo: imported.state.coveredTo,
          summaries: imported.summaries.length,
          leftOut: imported.summaries.filter(({ is }) => is === "left-out").length,
        }
  return [...(imported?.summaries ?? []).map(summaryRecord), result].map((one) => toJson(one))
}

/** Writes the session; `null` if the same state was imported before. */
const bring = (
  { state: found }: OldSession,
  {
    session,
    batchId,
    summarizer,
  }: {
    readonly session: string
    readonly batchId: string
    readonly summarizer: Summarizer.Service
  },
): Effect.Effect<Imported | null, SessionTaken | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    if (yield* importedBefore(log, session, batchId)) return null
    const counter = TokenCounter.guarded(yield* TokenCounter.TokenCounter)
    const now = yield* Clock.currentTimeMillis
    const { state, leftOut } = isConsolidated(found)
      ? yield* completed(found, { session, summarizer })
      : { state: found, leftOut: [] }
    const imported = eventsOf(state, { session, now, counter })
    const written = yield* write(log, session, batchId, imported.events)
    return written ? { ...imported, summaries: [...imported.summaries, ...leftOut] } : null
  })

/** The defaults of these options. */
const defaults = { format: "auto", summarizer: "extractive" } as const

/** The first given option that applies only to the states of other programs. */
const unusedByExports = (
  given: {
    readonly [name in "thread" | "messages" | "summary"]: Option.Option<string>
  } & { readonly pick: Option.Option<number>; readonly format: string; readonly summarizer: string },
) =>
  (["thread", "messages", "summary"] as const).find((name) => Option.isSome(given[name])) ??
  (Option.isSome(given.pick) ? "pick" : undefined) ??
  (["format", "summarizer"] as const).find((name) => given[name] !== defaults[name])

/** The conversations to import, each with its transcript: one, or with `--all` every one of the file. */
const conversations = (given: {
  readonly file: string
  readonly from: string
  readonly all: boolean
  readonly thread: Option.Option<string>
  readonly messages: Option.Option<string>
}) =>
  Effect.gen(function* () {
    if (!given.all) return [{ thread: Option.getOrUndefined(given.thread), transcript: given.messages }]
    const threads = yield* threadsIn(given.from, given.file)
    if (threads === null)
      return yield* new UsageError({ problem: `--all does not apply: ${given.file} has one conversation` })
    const folder = Option.getOrUndefined(given.messages)
    if (folder === undefined) return threads.map((thread) => ({ thread, transcript: Option.none<string>() }))
    const files = yield* Effect.try({
      try: () => readdirSync(folder),
      catch: () => new UsageError({ problem: `--messages: with --all, ${folder} must be a folder` }),
    })
    return yield* Effect.forEach(threads, (thread) => {
      const file = files.find((name) => name === thread || basename(name, extname(name)) === thread)
      return file === undefined
        ? new UsageError({ problem: `--messages: ${folder} has no transcript of conversation "${thread}"` })
        : Effect.succeed({ thread, transcript: Option.some(join(folder, file)) })
    })
  })

export const command = Command.make(
  "import",
  {
    file: Args.text({ name: "FILE" }),
    from,
    session,
    store,
    thread,
    all,
    messages,
    format: options.format,
    pick: options.pick,
    summary,
    summarizer: options.summarizer,
    inputLimit: options.inputLimit,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      if (given.file.startsWith("-")) {
        const problem = `${given.file} is not an option, is given twice, or lacks its value; see --help`
        return yield* new UsageError({ problem })
      }
      if (given.from === "memfold") {
        const unused = given.all ? "all" : unusedByExports(given)
        if (unused !== undefined) {
          return yield* new UsageError({ problem: `--${unused} does not apply to an export of memfold` })
        }
        return yield* importExport(given.file, given.store, given)
      }
      const read = yield* byName("program to import from", programs, given.from)
      const summarizer = yield* options.summarizerOf(given.summarizer)
      const layer = yield* options.openStore(given.store)
      const other = (["thread", "session", "pick"] as const).find((name) => given[name]._tag === "Some")
      if (given.all && other !== undefined)
        return yield* new UsageError({ problem: `--all does not go with --${other}` })
      const sourcesOf = (thread: string | undefined, transcript: Option.Option<string>): Sources => ({
        file: given.file,
        thread,
        session: Option.getOrUndefined(given.session),
        messages: Option.getOrUndefined(
          Option.map(transcript, (file) => ({
            file,
            format: given.format,
            ...(Option.isNone(given.pick) ? {} : { pick: given.pick.value }),
          })),
        ),
        format: given.format,
        pick: Option.getOrUndefined(given.pick),
        summary: Option.getOrUndefined(given.summary),
      })
      // Reads everything before it opens the store: wrong input leaves no file behind.
      const found =
        given.all && given.from === "transcript"
          ? yield* everyTranscript(given.file, given.format)
          : yield* Effect.forEach(yield* conversations(given), ({ thread, transcript }) =>
              read(sourcesOf(thread, transcript)),
            )
      if (Option.exists(given.session, (name) => name.trim() === ""))
        return yield* new UsageError({ problem: "--session: the id must not be empty" })
      const results = Effect.forEach(found, (one) =>
        Effect.gen(function* () {
          const session = Option.getOrElse(given.session, () => one.session)
          const batchId = commitOf({ from: given.from, ...one.state })
          const imported = yield* bring(one, { session, batchId, summarizer })
          const kept = given.store !== "memory:"
          const result: ImportResult = {
            file: given.file,
            from: given.from,
            session,
            batchId,
            imported,
            kept,
          }
          const printed = given.json ? records(result) : lines(result)
          yield* Effect.forEach(printed, (line) => Console.log(line), { discard: true })
        }),
      )
      yield* Effect.provide(results, layer)
    }).pipe(options.limited(given.inputLimit)),
).pipe(
  Command.withDescription(
    "Import what memfold export wrote, or the state of an older program as a session that continues.",
  ),
)
