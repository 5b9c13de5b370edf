/** `memfold import --from NAME FILE` */
import { Args, Options } from "@effect/cli"
import { Audit, EventLog, type Memory, type Summarizer, TokenCounter } from "@memfold/core"
import { Clock, Effect, Option, Stream } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { completed } from "../import/completed.js"
import { eventsOf, type Imported, type ImportedSummary } from "../import/events.js"
import { type GuardedSession, guardedSession } from "../import/guarded.js"
import { ImportError, type SessionTaken } from "../import/ImportError.js"
import {
  type OldSession,
  isConsolidated,
  programs,
  type Sources,
  threadsIn,
  transcriptSessions,
} from "../import/programs.js"
import { continued } from "../import/continued.js"
import { commitOf, importedBefore, write } from "../import/write.js"
import { nameOf } from "../input/Input.js"
import { leftOutLine } from "../transcript/leftOut.js"
import { TranscriptError } from "../transcript/Transcript.js"
import { byName } from "@memfold/catalog"
import { importExport } from "./copy.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { noOptionAmong } from "./transcripts.js"
import {
  clean,
  color,
  count,
  date,
  heading,
  printLines,
  several,
  shownId,
  span,
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

const store = options
  .storeText(
    "store",
    "The store to write to, as --store of other commands. With memory: (the default) the import is only checked.",
  )
  .pipe(Options.withDefault("memory:"))

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
    summaries.map(({ id, was, is, range, time, notes }) => [
      shownId(id),
      was,
      is === "left-out" ? { text: "left out", paint: color.yellow } : is,
      range === null ? "" : span(range),
      time === null ? "" : date(time),
      { text: notes.join("; "), paint: color.dim },
    ]),
  )

const sum = ({ state }: Imported): string =>
  `${several(state.total, "message")}; ` +
  (state.summary === null
    ? "no summary"
    : `${count(state.coveredTo)} in the active summary, ${count(state.total - state.coveredTo)} uncovered`)

/** How old the newest message may be before a rule of retention is mentioned, in milliseconds. */
const oldFrom = 30 * 24 * 3_600_000

/** When somebody spoke last, if that is so long ago that a rule of retention may count it. */
const lastSpoken = ({ events }: Imported, now: number): number | null => {
  const last = events.reduce((newest, { time }) => Math.max(newest, time), 0)
  return now - last > oldFrom && last > 0 ? last : null
}

/** What was brought: its events, as they would be from the start, and how many of them the session had already. */
interface Brought extends Imported {
  readonly known: number
}

/** The result of an import; `imported` is `null` if the same state was imported before. */
interface ImportResult {
  readonly file: string
  readonly from: string
  readonly session: string
  readonly batchId: string
  readonly imported: Brought | null
  /** What of the file is in no message of the session. */
  readonly unread: NonNullable<OldSession["leftOut"]>
  readonly now: number
  /** `false` if the import was only checked. */
  readonly kept: boolean
}

/** The most places that are listed; `--json` has all of them. */
const mostPlaces = 20

const unreadLines = (unread: ImportResult["unread"]): ReadonlyArray<string> => [
  ...unread.slice(0, mostPlaces).map((one) => clean(`not imported: ${leftOutLine(one)}`)),
  ...(unread.length > mostPlaces
    ? [`not imported: ${unread.length - mostPlaces} more places; --json lists them`]
    : []),
]

const lines = ({ file, from, session, imported, kept, unread, now }: ImportResult): ReadonlyArray<string> => {
  if (imported === null) {
    return [clean(`${file} was already imported into session "${session}"; nothing was written`)]
  }
  const spoken = lastSpoken(imported, now)
  return [
    heading(`${file} → session "${session}" (${from})`),
    ...(imported.known === 0
      ? []
      : [`continues the import of before, behind its ${several(imported.known, "event")}`]),
    ...(imported.summaries.length === 0 ? [] : [summaryTable(imported.summaries), ""]),
    sum(imported),
    ...unreadLines(unread),
    ...(kept && spoken !== null
      ? [
          color.yellow(
            `Nobody has spoken here since ${date(spoken).slice(0, 10)}: a rule of memfold archive with --idle or --age counts from there, and its next run may move or delete the session.`,
          ),
        ]
      : []),
    ...(kept ? [] : [color.dim("Only checked, nothing written; use --store URL to write it.")]),
  ]
}

const records = ({
  file,
  from,
  session,
  batchId,
  imported,
  unread,
  now,
}: ImportResult): ReadonlyArray<string> => {
  const named = { type: "imported", file, from, session, batchId, duplicate: imported === null }
  const result =
    imported === null
      ? { ...named, events: 0 }
      : {
          ...named,
          events: imported.events.length - imported.known,
          messages: imported.state.total,
          coveredTo: imported.state.coveredTo,
          summaries: imported.summaries.length,
          leftOut: imported.summaries.filter(({ is }) => is === "left-out").length,
          continued: imported.known > 0,
          unread,
          lastSpoken: ((at) => (at === null ? null : new Date(at).toISOString()))(lastSpoken(imported, now)),
        }
  return [...(imported?.summaries ?? []).map(summaryRecord), result].map((one) => toJson(one))
}

/** Writes the session; `null` if the same state was imported before. */
const bring = (
  { state: found, noted }: OldSession & Partial<GuardedSession>,
  {
    session,
    batchId,
    from,
    summarizer,
  }: {
    readonly session: string
    readonly batchId: string
    readonly from: string
    readonly summarizer: Summarizer.Service
  },
): Effect.Effect<Brought | null, SessionTaken | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const known = yield* importedBefore(log, session, batchId)
    if (known === null) return null
    const counter = TokenCounter.guarded(yield* TokenCounter.TokenCounter)
    const now = yield* Clock.currentTimeMillis
    const { state, leftOut } = isConsolidated(found)
      ? yield* completed(found, { session, summarizer })
      : { state: found, leftOut: [] }
    const plain = eventsOf(state, { session, now, counter })
    const guarded = noted?.(plain) ?? plain
    const actor = yield* Audit.CurrentActor
    const imported =
      actor === null ? guarded : { ...guarded, events: guarded.events.map((one) => ({ ...one, actor })) }
    const brought = { ...imported, known, summaries: [...imported.summaries, ...leftOut] }
    if (known > 0)
      return (yield* continued(log, { session, batchId, from }, imported, known)) ? brought : null
    return (yield* write(log, session, batchId, imported.events)) ? brought : null
  })

const defaults = { format: "auto", summarizer: "extractive" } as const

/** The first given option that applies only to the states of other programs. */
const unusedByExports = (
  given: {
    readonly [name in "thread" | "messages" | "summary" | "guard"]: Option.Option<string>
  } & { readonly pick: Option.Option<number>; readonly format: string; readonly summarizer: string },
) =>
  (["thread", "messages", "summary", "guard"] as const).find((name) => Option.isSome(given[name])) ??
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
      const file = files.find((name) => name === thread || nameOf(name) === thread)
      return file === undefined
        ? new UsageError({ problem: `--messages: ${folder} has no transcript of conversation "${thread}"` })
        : Effect.succeed({ thread, transcript: Option.some(join(folder, file)) })
    })
  })

/** An error about damage says how the rest is taken. */
const withHint =
  (skips: boolean) =>
  <E>(error: E): E | TranscriptError | ImportError => {
    const how = "; --skip-damaged takes the rest"
    if (skips) return error
    if (error instanceof TranscriptError && (error.line !== undefined || error.readable.length > 0))
      return new TranscriptError({ ...error, problem: `${error.problem}${how}` })
    return error instanceof ImportError && /not JSON|^element |a line is too long/.test(error.problem)
      ? new ImportError({ ...error, problem: `${error.problem}${how}` })
      : error
  }

export const command = options.command(
  "import",
  "Import what memfold export wrote, or the state of an older program as a session that continues.",
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
    skipDamaged: options.skipDamaged,
    summary,
    summarizer: options.summarizer,
    guard: options.guard,
    inputLimit: options.inputLimit,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      yield* noOptionAmong([given.file])
      if (given.from === "memfold") {
        const flag = given.all ? "all" : given.skipDamaged ? "skip-damaged" : undefined
        const unused = flag ?? unusedByExports(given)
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
      if (given.skipDamaged && given.from !== "transcript")
        return yield* new UsageError({ problem: `--skip-damaged does not go with --from ${given.from}` })
      // Reads everything before it opens the store: wrong input leaves no file behind.
      const found =
        given.from === "transcript"
          ? yield* transcriptSessions(sourcesOf(Option.getOrUndefined(given.thread), given.messages), {
              all: given.all,
              skipDamaged: given.skipDamaged,
            }).pipe(Effect.mapError(withHint(given.skipDamaged)))
          : Stream.fromIterable(
              yield* Effect.forEach(yield* conversations(given), ({ thread, transcript }) =>
                read(sourcesOf(thread, transcript)),
              ),
            )
      if (Option.exists(given.session, (name) => name.trim() === ""))
        return yield* new UsageError({ problem: "--session: the id must not be empty" })
      const kept = given.store !== "memory:"
      const guard = yield* options.guardOf(given.guard)
      const imports = (found: OldSession) =>
        Effect.gen(function* () {
          const session = Option.getOrElse(given.session, () => found.session)
          const one = Option.isNone(guard) ? found : yield* guardedSession(guard.value, found, session)
          const batchId = commitOf({ from: given.from, ...one.state })
          const imported = yield* bring(one, { session, batchId, from: given.from, summarizer })
          const result: ImportResult = {
            file: given.file,
            from: given.from,
            session,
            batchId,
            imported,
            kept,
            unread: one.leftOut ?? [],
            now: yield* Clock.currentTimeMillis,
          }
          const printed = given.json ? records(result) : lines(result)
          yield* printLines(printed)
        })
      // A session that is only checked is forgotten then: a large export has more of them than the memory holds.
      yield* kept
        ? Effect.provide(Stream.runForEach(found, imports), layer)
        : Stream.runForEach(found, (one) => Effect.provide(imports(one), layer))
    }).pipe(options.limited(given.inputLimit)),
)
