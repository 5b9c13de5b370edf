/** The older programs by name, and the readers of their files. Nothing is written here. */
import { Chunk, Effect, Either, Stream } from "effect"
import { nameOf } from "../input/Input.js"
import { firstOf } from "../terminal/terminal.js"
import type { LeftOut } from "../transcript/leftOut.js"
import type { Source } from "../transcript/source.js"
import { parseEachOf, parseSource, type Picked, type TranscriptError } from "../transcript/Transcript.js"
import { nameIn } from "./fields.js"
import { isSqlite, readJson, readText, readTranscript } from "./files.js"
import { ImportError, inFile } from "./ImportError.js"
import { messageNames, type OldMessage, readMessages, timeOf } from "./messages.js"
import type { OldState } from "./OldState.js"
import * as rolling from "./rolling.js"
import * as slidingWindow from "./slidingWindow.js"
import * as splitTurn from "./splitTurn.js"
import { sourcesOf } from "./sources.js"
import { stateOf } from "./transcript.js"
import { chatColumn, requireColumns, type Tables, withTables } from "./sqlite.js"
import { inOrderOfTime } from "./time.js"

/** What is to be imported, and what goes with it. */
export interface Sources {
  readonly file: string
  /** The conversation to read from a file with several. */
  readonly thread?: string | undefined
  /** The id of the new session. If it is the name of a conversation in the file, it selects that conversation. */
  readonly session?: string | undefined
  /** A transcript with the messages, if the file has none. */
  readonly messages?: { readonly file: string; readonly format: string; readonly pick?: number } | undefined
  /** The format of the file, and which conversation of it, if the file is a transcript itself. */
  readonly format?: string | undefined
  readonly pick?: number | undefined
  /** A file with the text of the summary, if the state has none. */
  readonly summary?: string | undefined
}

/** The conversation that was read, and the default id of its session. */
export interface OldSession {
  readonly session: string
  /** A state with its summaries, or a sliding-window state without the text of its summary. */
  readonly state: OldState | Consolidated
  readonly leftOut?: ReadonlyArray<LeftOut>
}

/** A sliding-window state, and the text of its summary if one was given. */
export interface Consolidated extends slidingWindow.Consolidated {
  readonly text: string | null
}

type Reader = (sources: Sources) => Effect.Effect<OldSession, ImportError | TranscriptError>

/** Fails if an option was given that does not apply to this program. */
const refuse = (
  program: string,
  { file, ...sources }: Sources,
  unused: ReadonlyArray<"messages" | "summary" | "thread">,
): Effect.Effect<void, ImportError> => {
  const given = unused.find((name) => sources[name] !== undefined)
  return given === undefined
    ? Effect.void
    : Effect.fail(new ImportError({ file, problem: `--${given} does not go with --from ${program}` }))
}

const fromSlidingWindow: Reader = (sources) =>
  Effect.gen(function* () {
    const { file, summary } = sources
    yield* refuse("sliding-window", sources, ["messages", "thread"])
    if (yield* isSqlite(file)) {
      const problem = "it is a SQLite file; those are read with --from split-turn or --from rolling"
      return yield* new ImportError({ file, problem })
    }
    const read = yield* Either.mapLeft(slidingWindow.read(yield* readJson(file)), inFile(file))
    const text = summary === undefined ? null : (yield* readText(summary)).trim()
    if (summary !== undefined && text === "") {
      return yield* new ImportError({ file: summary, problem: "the summary has no text" })
    }
    return { session: nameOf(file), state: { ...read, text } }
  })

/** The conversation to read. Fails if several are possible. */
const pick = (
  threads: ReadonlyArray<string>,
  { file, thread, session }: Sources,
): Effect.Effect<string, ImportError> => {
  const wrong = (problem: string) => Effect.fail(new ImportError({ file, problem }))
  const [only] = threads
  if (only === undefined) return wrong("there is no conversation in it")
  if (thread !== undefined) {
    return threads.includes(thread)
      ? Effect.succeed(thread)
      : wrong(`there is no conversation "${thread}"; it has ${firstOf(threads)}`)
  }
  if (session !== undefined && threads.includes(session)) return Effect.succeed(session)
  return threads.length === 1
    ? Effect.succeed(only)
    : wrong(
        `there are ${threads.length} conversations; name one with --thread: ${firstOf(threads)}; or import each with --all`,
      )
}

const fromSplitTurn: Reader = (sources) =>
  Effect.gen(function* () {
    const { file, messages } = sources
    yield* refuse("split-turn", sources, ["summary"])
    if (!(yield* isSqlite(file))) {
      return yield* new ImportError({ file, problem: "it is not a SQLite database" })
    }
    const found = yield* withTables(file, (tables) =>
      Effect.gen(function* () {
        const required = splitTurn.required.map((name) => [name])
        yield* requireColumns(file, tables, splitTurn.table, required)
        const thread = yield* pick(yield* tables.values(splitTurn.table, splitTurn.thread), sources)
        return { thread, rows: yield* tables.rows(splitTurn.table, splitTurn.thread, thread) }
      }),
    )
    if (messages === undefined) {
      const problem =
        "the messages of this state were in a checkpointer; give their transcript with --messages"
      return yield* new ImportError({ file, problem })
    }
    const said = (yield* readTranscript(messages.file, messages)).map(({ message }) => message)
    return { session: found.thread, state: splitTurn.read(found.rows, said) }
  })

/** The messages of a chat from their table; `null` if there is no such table. */
const tableMessages = (file: string, tables: Tables, chat: string) =>
  Effect.gen(function* () {
    if (!tables.names.includes(rolling.messagesTable)) return null
    const { id, role, content } = messageNames
    const columns = yield* requireColumns(file, tables, rolling.messagesTable, [
      id,
      messageNames.chat,
      role,
      content,
    ])
    const rows = yield* tables.rows(rolling.messagesTable, chatColumn(columns), chat)
    const inOrder = inOrderOfTime(rows, (row) => Either.getOrElse(timeOf(row), () => null))
    return yield* Either.mapLeft(readMessages(inOrder.map((value) => ({ value }))), inFile(file))
  })

const fromTables = (sources: Sources): Effect.Effect<OldSession, ImportError | TranscriptError> => {
  const { file, messages } = sources
  return withTables(file, (tables) =>
    Effect.gen(function* () {
      const { id, chat, text, status, ids } = rolling.summaryNames
      const columns = yield* requireColumns(file, tables, rolling.table, [id, chat, text, status, ids])
      const column = chatColumn(columns)
      const session = yield* pick(yield* chatsIn(tables, column, messages === undefined), sources)
      const rows = yield* tables.rows(rolling.table, column, session)
      const said =
        messages === undefined
          ? yield* tableMessages(file, tables, session)
          : yield* readTranscript(messages.file, messages)
      if (said === null) {
        const problem = `there is no table "${rolling.messagesTable}"; give the messages with --messages`
        return yield* new ImportError({ file, problem })
      }
      return yield* foundRolling(sources, session, rows, said)
    }),
  )
}

/** The chats of a file, with summaries or with messages only. */
const chatsIn = (tables: Tables, column: string, withMessages: boolean) =>
  Effect.gen(function* () {
    const summarized = yield* tables.values(rolling.table, column)
    if (!withMessages || !tables.names.includes(rolling.messagesTable)) return summarized
    const other = nameIn(yield* tables.columns(rolling.messagesTable), messageNames.chat)
    if (other === undefined) return summarized
    return [...new Set([...summarized, ...(yield* tables.values(rolling.messagesTable, other))])]
  })

const foundRolling = (
  { file }: Sources,
  session: string,
  rows: ReadonlyArray<unknown>,
  messages: ReadonlyArray<OldMessage>,
): Either.Either<OldSession, ImportError> =>
  Either.mapBoth(rolling.read(rows, messages), {
    onLeft: inFile(file),
    onRight: (state) => ({ session, state }),
  })

const fromDocument: Reader = (sources) =>
  Effect.gen(function* () {
    const { file, messages } = sources
    const { document: value } = yield* readJson(file)
    const all = yield* Either.mapLeft(rolling.readDocument(value, messages !== undefined), inFile(file))
    const chats = rolling.chatsOf(all)
    const session = chats.length === 0 ? nameOf(file) : yield* pick(chats, sources)
    if (chats.length === 0 && sources.thread !== undefined) {
      return yield* new ImportError({ file, problem: "nothing in it has a chat_id; leave --thread out" })
    }
    const chat = rolling.ofChat(all, session)
    const said =
      messages === undefined
        ? yield* Either.mapLeft(readMessages(chat.messages.map((one) => ({ value: one }))), inFile(file))
        : yield* readTranscript(messages.file, messages)
    return yield* foundRolling(sources, session, chat.summaries, said)
  })

const fromRolling: Reader = (sources) =>
  Effect.gen(function* () {
    yield* refuse("rolling", sources, ["summary"])
    return yield* (yield* isSqlite(sources.file)) ? fromTables(sources) : fromDocument(sources)
  })

/** What is imported of a file of transcripts: all conversations but the branches that were left, or the one of `pick`, or the first. */
export interface TranscriptChoice {
  readonly all: boolean
  readonly skipDamaged: boolean
}

/**
 * A conversation of an export is named by its id there, which stays when another export has more of them; any other one by its number.
 */
const sessionOf = (file: string, { pick, transcript: { id } }: Picked, isOnly: boolean): string =>
  isOnly ? nameOf(file) : `${nameOf(file)}-${id ?? pick}`

const oldSession = (session: string, { transcript }: Picked, more: ReadonlyArray<LeftOut>): OldSession => ({
  session,
  state: stateOf(transcript),
  leftOut: [...(transcript.leftOut ?? []), ...more],
})

/** A conversation that is not imported, as what is left out. */
const notImported =
  (hint: (pick: number) => string) =>
  ({ pick, transcript }: Picked): LeftOut => {
    const place = `conversation ${pick}`
    const what = transcript.branchOf === undefined ? "" : "a branch that was left; "
    return { place, first: place, times: 1, why: `${what}${hint(pick)}` }
  }

const byPick = (pick: number): string => `--pick ${pick} imports it`

/** The sessions of a file, or of one part of it, behind `before` other conversations. */
const sessionsIn = (
  source: Source,
  before: number | null,
  { file, format = "auto", pick, all, skipDamaged }: Sources & TranscriptChoice,
): Either.Either<ReadonlyArray<OldSession>, TranscriptError> => {
  const options = { file, format, skipDamaged }
  const each = Either.map(parseEachOf(source, options), (found) =>
    found.map((one) => ({ ...one, pick: one.pick + (before ?? 0) })),
  )
  if (all)
    return Either.map(each, (found) => {
      const left = found.filter(({ transcript }) => transcript.branchOf !== undefined)
      return found
        .filter((one) => !left.includes(one))
        .map((one, at) =>
          oldSession(sessionOf(file, one, false), one, at === 0 ? left.map(notImported(byPick)) : []),
        )
    })
  if (before !== null)
    return Either.map(each, (found) =>
      found
        .filter((one) => one.pick === (pick ?? 0) && one.transcript.branchOf === undefined)
        .map((one) => oldSession(sessionOf(file, one, false), one, [])),
    )
  return Either.map(parseSource(source, { ...options, pick: pick ?? 0 }), (transcript) => {
    const one = { pick: pick ?? 0, transcript }
    // What is beside the one that was picked is the caller's to know.
    const others =
      pick === undefined ? Either.getOrElse(each, () => []).filter((other) => other.pick > 0) : []
    const hint = (at: number) => `${byPick(at)}, --all every conversation`
    return [oldSession(sessionOf(file, one, pick === undefined), one, others.map(notImported(hint)))]
  })
}

/** The sessions of a file of transcripts, which has been read once to its end. Those of a large export are read again, one by one. */
export const transcriptSessions = (
  given: Sources,
  choice: TranscriptChoice,
): Effect.Effect<Stream.Stream<OldSession, ImportError | TranscriptError>, ImportError | TranscriptError> =>
  Effect.gen(function* () {
    yield* refuse("transcript", given, ["messages", "summary", "thread"])
    const { file, format = "auto", pick = 0 } = given
    const { sources, isRepeated } = yield* sourcesOf(file, { format, skips: choice.skipDamaged })
    const sessions = Stream.mapConcatEffect(sources, ({ source, before }) =>
      sessionsIn(source, before, { ...given, ...choice }),
    )
    if (!isRepeated) return Stream.fromIterable(Chunk.toReadonlyArray(yield* Stream.runCollect(sessions)))
    const found = yield* Stream.runCount(sessions)
    return found > 0
      ? sessions
      : yield* new ImportError({ file, problem: `there is no conversation ${pick}` })
  })

/** One conversation of a file of transcripts. */
const fromTranscript: Reader = (sources) =>
  Effect.gen(function* () {
    const sessions = yield* transcriptSessions(sources, { all: false, skipDamaged: false })
    return Chunk.unsafeHead(yield* Stream.runCollect(sessions))
  })

/** The ids of the conversations in a file; `null` if the program's files have one without a name. */
export const threadsIn = (
  from: string,
  file: string,
): Effect.Effect<ReadonlyArray<string> | null, ImportError> =>
  Effect.gen(function* () {
    if (from === "sliding-window") return null
    if (!(yield* isSqlite(file))) {
      if (from !== "rolling") return null
      const { document: value } = yield* readJson(file)
      const chats = rolling.chatsOf(yield* Either.mapLeft(rolling.readDocument(value, true), inFile(file)))
      return chats.length === 0 ? null : chats
    }
    return yield* withTables(file, (tables) =>
      Effect.gen(function* () {
        if (from === "rolling") {
          const columns = yield* requireColumns(file, tables, rolling.table, [rolling.summaryNames.chat])
          return yield* chatsIn(tables, chatColumn(columns), true)
        }
        yield* requireColumns(file, tables, splitTurn.table, [[splitTurn.thread]])
        return yield* tables.values(splitTurn.table, splitTurn.thread)
      }),
    )
  })

/**
 * The programs whose state can be read, named after their designs in `docs/conformance.md`; and `transcript`, the session of
 * any program whose transcripts are read.
 */
export const programs: ReadonlyMap<string, Reader> = new Map([
  ["sliding-window", fromSlidingWindow],
  ["split-turn", fromSplitTurn],
  ["rolling", fromRolling],
  ["transcript", fromTranscript],
])

/** Whether this is a sliding-window state, which does not contain the text of its summary. */
export const isConsolidated = (state: OldSession["state"]): state is Consolidated => "coveredTo" in state
