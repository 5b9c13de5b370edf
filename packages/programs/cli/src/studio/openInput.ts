/**
 * What a page opens: a store, or transcripts of any program in a store in memory, where they end with the process. Files are read by
 * the readers of `replay`, `lab` and `import`.
 */
import { type StoreUrl, type UnknownName, withoutSecrets } from "@memfold/catalog"
import {
  EventLog,
  InMemoryEventLog,
  Memory,
  type Message,
  type Strategy,
  Summarizer,
  TokenCounter,
} from "@memfold/core"
import { TranscriptClock } from "@memfold/lab"
import { Clock, Effect, Either, Layer, type Scope, Stream } from "effect"
import { basename } from "node:path"
import { UsageError } from "../command/failure.js"
import { openStore } from "../command/options.js"
import { eventsOf } from "../import/events.js"
import { isSqlite } from "../import/files.js"
import { commitOf, write } from "../import/write.js"
import { stateOf } from "../import/transcript.js"
import { nameOf, readText } from "../input/Input.js"
import { replay } from "../replay/replay.js"
import { samples } from "../tour/samples.js"
import { type Format, parseAll, type Transcript } from "../transcript/Transcript.js"
import { filesIn } from "./filesIn.js"

/** How transcripts become sessions. */
export interface InputOptions {
  /**
   * The strategy that compacts a transcript without compactions of its own, as if its messages came now. A transcript whose program
   * compacted it keeps those compactions.
   */
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
  /** Called before each file is read, for a line that says so. */
  readonly onFile: (file: string) => void
  /** Called after each message that is replayed: how many of the messages of a conversation are, with its branches. */
  readonly onReplayed: (file: string, messages: number, of: number) => void
}

/** A session that a transcript has become. */
export interface OpenedSession {
  readonly session: string
  /** What it is, for a list of sessions: `Claude Code: session-1.jsonl`, `tau-bench: airline.json, 3 of 100`. */
  readonly title: string
  /** The file, or the name of the sample. */
  readonly file: string
  readonly format: Format
  readonly messages: number
}

export interface OpenedInput {
  /** The store for `serve`: the URL of the store that was named, or the sessions of the files. */
  readonly store: StoreUrl | Layer.Layer<EventLog.EventLog>
  /** The sessions of the files, in their order; none for a store. */
  readonly sessions: ReadonlyArray<OpenedSession>
  /** What could not be read, and why, a line each. */
  readonly unread: ReadonlyArray<string>
}

/** What the files of each format are called. */
const names: Readonly<Record<Format, string>> = {
  openai: "Chat Completions",
  "openai-responses": "Responses API",
  anthropic: "Messages API",
  "ai-sdk": "AI SDK",
  "ai-sdk-4": "AI SDK 4",
  langchain: "LangChain",
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  opencode: "opencode",
  pi: "pi",
  copilot: "Copilot",
  sharegpt: "ShareGPT",
  chatgpt: "ChatGPT",
  claude: "Claude",
  grok: "Grok",
  "tau-bench": "tau-bench",
  "swe-agent": "SWE-agent",
}

/** The URL of a store: what has a scheme, or is a SQLite file. */
const storeIn = (file: string): Effect.Effect<StoreUrl | null> =>
  /^[a-z]{2,}:/.test(file)
    ? Effect.succeed(file)
    : Effect.map(
        Effect.orElseSucceed(isSqlite(file), () => false),
        (isStore) => (isStore ? `sqlite:${file}` : null),
      )

/** Opens the store once, to say at once why it cannot be opened. */
const checkStore = (url: StoreUrl): Effect.Effect<void, UsageError | UnknownName> =>
  Effect.gen(function* () {
    const layer = yield* openStore(url, { create: false, readonly: true })
    yield* Effect.scoped(Effect.provide(EventLog.EventLog, layer)).pipe(
      Effect.mapError(({ message }) => new UsageError({ problem: `${withoutSecrets(url)}: ${message}` })),
    )
  })

/** The transcripts of a file, or why it cannot be read. */
const transcriptsIn = (file: string): Effect.Effect<Either.Either<ReadonlyArray<Transcript>, string>> =>
  Effect.match(readText(file), {
    onFailure: ({ message }) => Either.left(message),
    onSuccess: (text) => Either.mapLeft(parseAll(text, { file, leftOut: false }), ({ message }) => message),
  })

/** A name that no other session has. */
const freeName = (taken: Set<string>, wanted: string): string => {
  let name = wanted
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`
  taken.add(name)
  return name
}

/** A conversation of a file, and the branches that were left, the oldest first. */
interface Tree {
  readonly now: Transcript
  readonly left: ReadonlyArray<Transcript>
}

/**
 * The conversations of a file with their branches. Compactions of a program are imported with the conversation that has them, which
 * leaves no place for branches: then each branch is a conversation of its own.
 */
const treesOf = (transcripts: ReadonlyArray<Transcript>): ReadonlyArray<Tree> =>
  transcripts.flatMap((now, at) => {
    if (now.branchOf !== undefined) return []
    // A reader names the newest branch first.
    const left = transcripts.filter(({ branchOf }) => branchOf === at).toReversed()
    const isImported = [now, ...left].some(({ compactions = [] }) => compactions.length > 0)
    return isImported ? [now, ...left].map((one) => ({ now: one, left: [] })) : [{ now, left }]
  })

/** How many messages two ways through a conversation have in common, from the first one. */
const inCommon = (one: ReadonlyArray<Message.Message>, other: ReadonlyArray<Message.Message>): number => {
  const end = one.findIndex((message, at) => JSON.stringify(message) !== JSON.stringify(other[at]))
  return end === -1 ? one.length : end
}

/** Runs an operation at the time of the newest event: as if it had been done then. */
const atLastTime = <A, E>(
  log: EventLog.Service,
  session: string,
  work: Effect.Effect<A, E>,
): Effect.Effect<A, E | EventLog.LogError> =>
  Effect.gen(function* () {
    const version = yield* EventLog.versionOf(log, session)
    const last = { fromVersion: version, toVersion: version, reverse: false, limit: 1 }
    const [event] = yield* log.read(session, last)
    const { clock } = TranscriptClock.make(event?.time ?? (yield* Clock.currentTimeMillis))
    return yield* Effect.withClock(work, clock)
  })

/** How a conversation is brought into the log. */
interface Bringing extends Pick<InputOptions, "strategy" | "summarizer"> {
  readonly title: string
  readonly onReplayed: (messages: number, of: number) => void
}

/** Replays the branches of a conversation into one session, from the oldest to the one in force. */
const replayTree = (
  log: EventLog.Service,
  memory: Memory.Service,
  session: string,
  { now, left }: Tree,
  { onReplayed, ...options }: Omit<Bringing, "title">,
) =>
  Effect.gen(function* () {
    const there: Array<{ readonly branch: number; readonly messages: ReadonlyArray<Message.Message> }> = []
    const of = [...left, now].reduce((sum, { messages }) => sum + messages.length, 0)
    let before = 0
    for (const { messages } of [...left, now]) {
      const shared = there.map((way) => inCommon(way.messages, messages))
      const from = Math.max(0, ...shared)
      const near = there[shared.indexOf(from)]
      if (near !== undefined) {
        const goBack = Effect.gen(function* () {
          if (near !== there.at(-1)) yield* memory.checkout(session, near.branch)
          if (from < near.messages.length) yield* memory.edit(session, from, [])
        })
        yield* atLastTime(log, session, goBack)
      }
      yield* Stream.runForEach(replay({ ...options, session, source: session, messages }), (step) =>
        Effect.sync(() => {
          if (step._tag === "Message") onReplayed(before + step.index + 1, of)
        }),
      )
      before += messages.length
      there.push({ branch: (yield* memory.state(session)).branch.id, messages })
    }
  })

/** Writes a conversation into the log: with the compactions of its program, or compacted as if its messages came now. */
const bring = (
  log: EventLog.Service,
  session: string,
  tree: Tree,
  { title, ...options }: Bringing,
): Effect.Effect<void, string> =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy: options.strategy, compaction: { mode: "off" } })
    if ((tree.now.compactions ?? []).length > 0) {
      const state = stateOf(tree.now)
      const counter = TokenCounter.guarded(yield* TokenCounter.TokenCounter)
      const { events } = eventsOf(state, { session, now: yield* Clock.currentTimeMillis, counter })
      yield* write(log, session, commitOf(state), events)
    } else {
      yield* replayTree(log, memory, session, tree, options)
    }
    // A list shows when somebody spoke there, and not when the file was opened.
    yield* atLastTime(log, session, memory.describe(session, { title }))
  }).pipe(
    Effect.scoped,
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, options.summarizer),
    Effect.mapError(({ message }) => message),
  )

/** The shipped samples, each with the strategy that suits it. */
const sampleFiles = [...samples.values()].map(({ name, file, strategy }) => ({ file, name, strategy }))

/**
 * Opens what the operands of a command name: one store, or files and folders of transcripts; without any, the shipped samples. Nothing
 * leaves the machine, and nothing is written to disk. A file that cannot be read is named in `unread`, and the others are opened; if
 * none of them can be, it fails.
 *
 * @param operands - the URL or the file of a store, or files and folders
 * @param options - how transcripts without compactions are compacted
 */
export const openInput = (
  operands: ReadonlyArray<string>,
  { summarizer, onFile, ...options }: InputOptions,
): Effect.Effect<OpenedInput, UsageError | UnknownName, Scope.Scope> =>
  Effect.gen(function* () {
    const stores = (yield* Effect.forEach(operands, storeIn)).flatMap((url) => url ?? [])
    const [store] = stores
    if (store !== undefined) {
      if (operands.length > 1)
        return yield* new UsageError({
          problem: `${withoutSecrets(store)} is a store: name it alone, without other files`,
        })
      yield* checkStore(store)
      return { store, sessions: [], unread: [] }
    }
    const found = yield* filesIn(operands)
    const files =
      operands.length === 0
        ? sampleFiles
        : found.files.map((file) => ({ file, name: nameOf(file), strategy: options.strategy }))
    const log = yield* InMemoryEventLog.make
    const unread = [...found.unread]
    const sessions: Array<OpenedSession> = []
    const taken = new Set<string>()
    for (const { file, name, strategy } of files) {
      onFile(file)
      const read = yield* transcriptsIn(file)
      if (Either.isLeft(read)) {
        unread.push(read.left)
        continue
      }
      const trees = treesOf(read.right)
      const conversations = trees.filter(({ now }) => now.branchOf === undefined)
      for (const tree of trees) {
        const { format, messages, branchOf } = tree.now
        const session = freeName(taken, name)
        const place =
          branchOf !== undefined
            ? " (a branch that was left)"
            : conversations.length > 1
              ? `, ${conversations.indexOf(tree) + 1} of ${conversations.length}`
              : ""
        const title = `${names[format]}: ${basename(file)}${place}`
        const onReplayed = (done: number, of: number) => options.onReplayed(file, done, of)
        const problem = yield* Effect.match(
          bring(log, session, tree, { title, strategy, summarizer, onReplayed }),
          {
            onFailure: (message) => `${file}: ${message}`,
            onSuccess: () => null,
          },
        )
        if (problem === null) sessions.push({ session, title, file, format, messages: messages.length })
        else unread.push(problem)
      }
    }
    if (sessions.length === 0)
      return yield* new UsageError({ problem: unread[0] ?? "there is no transcript to open" })
    return { store: Layer.succeed(EventLog.EventLog, log), sessions, unread }
  })
