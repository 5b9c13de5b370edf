/**
 * Reads transcripts of other programs into messages. Pure: the input is a text; the name of its file is only for errors.
 */
import { Item, type Message } from "@memfold/core"
import { Either } from "effect"
import * as aiSdk from "./aiSdk.js"
import * as chat from "./chat.js"
import * as chatGpt from "./chatGpt.js"
import * as claudeCode from "./claudeCode.js"
import * as claudeExport from "./claudeExport.js"
import * as codex from "./codex.js"
import * as copilot from "./copilot.js"
import * as geminiCli from "./geminiCli.js"
import * as grok from "./grok.js"
import * as langchain from "./langchain.js"
import { isName, type LeftOut } from "./leftOut.js"
import type { Compaction, Reader, StoredConversation } from "./Format.js"
import * as opencode from "./opencode.js"
import * as pi from "./pi.js"
import * as responses from "./responses.js"
import * as shareGpt from "./shareGpt.js"
import { isObject, type JsonObject, type Problem, readSource, type Source } from "./source.js"
import { TranscriptError } from "./TranscriptError.js"

export type { Compaction } from "./Format.js"
export type { LeftOut } from "./leftOut.js"

export { TranscriptError } from "./TranscriptError.js"

export const formats = [
  "openai",
  "openai-responses",
  "anthropic",
  "ai-sdk",
  "ai-sdk-4",
  "langchain",
  "claude-code",
  "codex",
  "gemini-cli",
  "opencode",
  "pi",
  "copilot",
  "sharegpt",
  "chatgpt",
  "claude",
  "grok",
  "tau-bench",
  "swe-agent",
] as const
export type Format = (typeof formats)[number]

/**
 * - `file`: the name of the file, for errors
 * - `format`: a {@link Format}, or `auto` (the default) to find out
 * - `pick`: which conversation of a file with several, from 0 (the default)
 * - `leftOut`: whether to look for what is in no message, which takes longer than reading; `true` by default
 * - `skipDamaged`: leaves lines and entries out that cannot be read, and names them in `leftOut`; by default, reading ends with an error
 */
export interface ParseOptions {
  readonly file: string
  readonly format?: string
  readonly pick?: number
  readonly skipDamaged?: boolean
  readonly leftOut?: boolean
}

/**
 * A conversation of a file.
 *
 * - `id`: as its program calls it, if the file says so
 * - `compactions`: where the program that recorded it compacted it; none where the format does not say
 * - `branchOf`: of a branch that the user left, the number of its conversation: in the file, or among all that were read
 *   together. It begins with the messages that both have
 * - `leftOut`: texts of the file that are in no message, by their places; those that belong to no conversation are in the first one.
 *   Nothing is quoted
 */
export interface Transcript {
  readonly id?: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly format: Format
  readonly compactions?: ReadonlyArray<Compaction>
  readonly branchOf?: number
  readonly leftOut?: ReadonlyArray<LeftOut>
}

const openaiRoles = ["tool", "function", "developer"]

const typesOf = (api: Item.ItemApi): ReadonlyArray<string> =>
  Object.entries(Item.items[api]).flatMap(([type, { within }]) => (within === true ? [] : [type]))

/** The types of content that one of the two chat formats has, and the other has not. */
const typesOfOne = (own: Item.ItemApi, other: Item.ItemApi): ReadonlySet<unknown> =>
  new Set(typesOf(own).filter((type) => !typesOf(other).includes(type)))
const openaiTypes = typesOfOne("openai", "anthropic")
const anthropicTypes = typesOfOne("anthropic", "openai")

const typesIn = (message: JsonObject): ReadonlyArray<unknown> => {
  const { content } = message
  return Array.isArray(content) ? content.filter(isObject).map((part) => part["type"]) : []
}

const marksOpenAI = (message: JsonObject): boolean =>
  openaiRoles.some((role) => role === message["role"]) ||
  "tool_calls" in message ||
  "function_call" in message ||
  typesIn(message).some((type) => openaiTypes.has(type))

const marksAnthropic = (message: JsonObject): boolean =>
  (message["type"] === "message" && "stop_reason" in message) ||
  typesIn(message).some((type) => anthropicTypes.has(type))

/** Recognizes the format by features that only one of them has. If both are possible, it is OpenAI. */
const detectChat = (source: Source): Format => {
  if (isObject(source.document) && "system" in source.document) return "anthropic"
  const messages = Either.getOrElse(chat.messagesIn(source), () => [])
    .map(({ value }) => value)
    .filter(isObject)
  return !messages.some(marksOpenAI) && messages.some(marksAnthropic) ? "anthropic" : "openai"
}

const isChat =
  (format: Format) =>
  (source: Source): boolean =>
    unknownIn(source) === undefined && detectChat(source) === format

/** In the order in which they are tried: those of programs first, then what several of them could have written. */
export const readers: Record<Format, Reader> = {
  "claude-code": claudeCode.reader,
  codex: codex.reader,
  pi: pi.reader,
  "gemini-cli": geminiCli.reader,
  opencode: opencode.reader,
  copilot: copilot.reader,
  chatgpt: chatGpt.reader,
  claude: claudeExport.reader,
  grok: grok.reader,
  sharegpt: shareGpt.reader,
  "tau-bench": chat.tauBench,
  "swe-agent": chat.sweAgent,
  langchain: langchain.reader,
  "ai-sdk": aiSdk.reader,
  "ai-sdk-4": aiSdk.reader4,
  "openai-responses": responses.reader,
  anthropic: chat.anthropic(isChat("anthropic")),
  openai: chat.openai(isChat("openai")),
}

/**
 * The problem with a file in a format that is not known: none of its objects is a message. It shows fields by their names,
 * which say what the file is.
 */
const unknownIn = (source: Source): Problem | undefined => {
  // What the page of Cline, or of a fork of it, shows; the conversation is beside it.
  const isOfPage = ({ say, ask }: JsonObject): boolean => typeof say === "string" || typeof ask === "string"
  if (Array.isArray(source.document) && source.document.some((one) => isObject(one) && isOfPage(one)))
    return {
      problem: "it is what Cline shows on its page; read api_conversation_history.json of the same folder",
    }
  const values = Either.getOrElse(chat.messagesIn(source), () => source.rows).map(({ value }) => value)
  const objects = values.filter(isObject)
  const [first] = objects
  const hasChat = objects.some((one) => "role" in one || "content" in one)
  if (first === undefined || hasChat) return undefined
  const names = Object.keys(first).filter(isName).slice(0, 6).join(", ")
  return {
    problem: `no known format has ${names === "" ? "such objects" : `objects with the fields ${names}`}`,
    allowed: `${formats.join(", ")}; or write it as messages: {"role": "user", "content": "…"}, one a line`,
  }
}

const detect = (source: Source): Format | undefined =>
  (Object.keys(readers) as ReadonlyArray<Format>).find((format) => readers[format].recognizes(source))

const formatNamed = (name: string): Either.Either<Format | "auto", Problem> => {
  const allowed = ["auto", ...formats] as const
  const format = allowed.find((one) => one === name)
  return format === undefined
    ? Either.left({ problem: `there is no format "${name}"`, allowed: allowed.join(", ") })
    : Either.right(format)
}

/** A conversation of a file, and the format that it is in. */
interface Found extends StoredConversation {
  readonly format: Format
}

const picked = (found: ReadonlyArray<Found>, pick: number): Found =>
  found[pick] ?? {
    format: found[0]!.format,
    leftOut: () => [],
    read: () => ({
      messages: [],
      broken: {
        problem: `there is no conversation ${pick}, the file holds ${found.length}`,
        allowed: found.length === 1 ? "0" : `0 to ${found.length - 1}`,
      },
    }),
  }

/** What was skipped, as what is left out. */
const skipped = ({ line, problem }: Problem): LeftOut => {
  const place = line === undefined ? "the file" : `line ${line}`
  return { place, first: place, times: 1, why: problem }
}

/**
 * Reads a transcript: a JSON list of messages, a JSON object with `messages`, JSON Lines with one message per line, or
 * the file of a program (see {@link Format}). A message may have a time in `time` or `timestamp`: ISO 8601 (UTC without an
 * offset), or seconds or milliseconds since the epoch.
 *
 * The error says where reading stopped; its `readable` has the messages before that place.
 */
export const parse = (text: string, options: ParseOptions): Either.Either<Transcript, TranscriptError> =>
  Either.flatMap(sourceIn(text, options), (source) => parseSource(source, options))

/** Reads a transcript of a file that was read already; see {@link parse}. */
export const parseSource = (
  source: Source,
  options: ParseOptions,
): Either.Either<Transcript, TranscriptError> =>
  Either.flatMap(foundIn(source, options), (found) => transcriptAt(options.pick ?? 0, found, options))

/** A transcript of a file, and which it is of the conversations there. */
export interface Picked {
  readonly pick: number
  readonly transcript: Transcript
}

/** Reads all transcripts of a file that was taken apart already, each with the number by which it is picked; see {@link parseAll}. */
export const parseEachOf = (
  source: Source,
  options: Omit<ParseOptions, "pick">,
): Either.Either<ReadonlyArray<Picked>, TranscriptError> =>
  Either.flatMap(foundIn(source, options), (found) => {
    const all = found.map((_, pick) =>
      Either.map(transcriptAt(pick, found, options), (transcript) => ({ pick, transcript })),
    )
    const isThere = (one: (typeof all)[number]): boolean => Either.isRight(one) || !isEmpty(one.left)
    const there = all.filter(isThere)
    if (there.length === 0) return Either.all(all)
    const silent = found.flatMap(({ branchOf, leftOut }, pick): ReadonlyArray<LeftOut> => {
      if (branchOf !== undefined || isThere(all[pick]!)) return []
      const place = `conversation ${pick}`
      return [
        ...(options.leftOut === false ? [] : leftOut()),
        { place, first: place, times: 1, why: "nothing is said in it" },
      ]
    })
    return Either.map(Either.all(there), ([first, ...others]) => [
      { pick: first!.pick, transcript: withLeftOut(first!.transcript, silent) },
      ...others,
    ])
  })

/**
 * Reads all transcripts of a file: each of its conversations, and then the branches that were left. Conversations in which
 * nothing was said are not there, unless there is no other. Fails with the error of the first broken transcript.
 */
export const parseAll = (
  text: string,
  options: Omit<ParseOptions, "pick">,
): Either.Either<ReadonlyArray<Transcript>, TranscriptError> =>
  Either.map(
    Either.flatMap(sourceIn(text, options), (source) => parseEachOf(source, options)),
    (all) =>
      // A `branchOf` counts among the conversations that are there, instead of all of the file.
      all.map(({ transcript: { branchOf, ...transcript } }) => {
        const at = branchOf === undefined ? -1 : all.findIndex(({ pick }) => pick === branchOf)
        return at < 0 ? transcript : { ...transcript, branchOf: at }
      }),
  )

/**
 * The messages of a transcript that another program wrote, for the lab (`ofTranscript` of `@memfold/lab`) or for a memory. Where
 * the messages of a file have no times, none are made up.
 *
 * @param text - The text of the file: a JSON list of messages of OpenAI or Anthropic, an object with `messages`, JSON Lines with
 *   one message per line, messages of a page of the AI SDK, dumps of LangChain, or a file of a program: a session of Claude Code, Codex, Gemini CLI, opencode or pi, an export of ChatGPT
 *   or Claude, ShareGPT, tau-bench, SWE-agent.
 * @param options - `file`: its name, for errors. `format`: a {@link Format}, or `auto` (the default) to find out.
 * @returns each conversation of the file, and behind them the branches that were left (`branchOf`)
 * @throws TranscriptError if the text is none. It says in which line reading stopped, and never quotes the conversation.
 *
 * @example
 * ```ts
 * import { ofTranscript } from "@memfold/lab"
 * import { readTranscripts } from "@memfold/cli/transcripts"
 * import { readFileSync } from "node:fs"
 *
 * const file = "chat.jsonl"
 * const [first] = readTranscripts(readFileSync(file, "utf8"), { file })
 * export const conversations = first === undefined ? [] : [ofTranscript(file, first.messages)]
 * ```
 */
export const readTranscripts = (
  text: string,
  options: Omit<ParseOptions, "pick">,
): ReadonlyArray<Transcript> => Either.getOrThrowWith(parseAll(text, options), (error) => error)

const empty = "there are no messages"
const isEmpty = ({ problem }: TranscriptError): boolean => problem === empty

const withLeftOut = (one: Transcript, more: ReadonlyArray<LeftOut>): Transcript =>
  more.length === 0 ? one : { ...one, leftOut: [...(one.leftOut ?? []), ...more] }

const failedIn =
  (file: string) =>
  (problem: Problem): TranscriptError =>
    new TranscriptError({ file, ...problem })

const sourceIn = (
  text: string,
  { file, format = "auto", skipDamaged }: ParseOptions,
): Either.Either<Source, TranscriptError> =>
  Either.flatMap(formatNamed(format), () => readSource(text, skipDamaged)).pipe(
    Either.mapLeft(failedIn(file)),
  )

/** A document of a file with several: its format, and the line in which it begins. */
interface Document {
  readonly format: Format
  readonly line: number
  readonly source: Source
}

/**
 * Whole documents, each in a line or behind the one before. None if the file is anything else: where nothing is skipped, each of them
 * is in a format.
 */
const documentsIn = (
  { document, rows, broken, skips, damaged }: Source,
  formatOf: (source: Source) => Format | undefined,
): ReadonlyArray<Document> => {
  if (document !== undefined || rows.length < 2) return []
  const empty = { broken: undefined, skips, damaged: [] }
  const all = rows.map(({ value, line = 1 }) => {
    const source: Source = { ...empty, document: value, rows: [{ value }] }
    return { line, source, format: typeof value === "object" ? formatOf(source) : undefined }
  })
  const known = all.filter((one): one is Document => one.format !== undefined)
  if (known.length < (skips ? 1 : all.length)) return []
  const unknown = all.flatMap(({ line, format }) =>
    format === undefined ? [{ line, problem: "no known format has it" }] : [],
  )
  return known.map((one, at) => ({
    ...one,
    source: {
      ...one.source,
      ...(at === 0 ? { damaged: [...damaged, ...unknown] } : {}),
      ...(at === known.length - 1 ? { broken } : {}),
    },
  }))
}

/** The conversations of documents, one document behind the other. */
const foundInEach = (documents: ReadonlyArray<Document>): ReadonlyArray<Found> => {
  const all: Array<Found> = []
  for (const { format, line, source } of documents) {
    const before = all.length
    const placed = (problem: Problem): Problem => ({ ...problem, line: problem.line ?? line })
    const lined = (one: LeftOut): LeftOut =>
      one.first.startsWith("line ") ? one : { ...one, first: `line ${line}: ${one.first}` }
    for (const { branchOf, read, leftOut, ...one } of readers[format].find(source))
      all.push({
        ...one,
        format,
        ...(branchOf === undefined ? {} : { branchOf: branchOf + before }),
        read: () => {
          const { broken, damaged = [], ...reading } = read()
          return { ...reading, broken: broken && placed(broken), damaged: damaged.map(placed) }
        },
        leftOut: () => leftOut().map(lined),
      })
  }
  return all
}

const foundIn = (
  source: Source,
  { file, format = "auto" }: ParseOptions,
): Either.Either<ReadonlyArray<Found>, TranscriptError> =>
  Either.gen(function* () {
    const named = yield* formatNamed(format)
    const formatOf = (one: Source): Format | undefined =>
      named === "auto" ? detect(one) : readers[named].recognizes(one) ? named : undefined
    const whole = formatOf(source)
    // Lines of lists are none of messages.
    const isOfLines = whole !== undefined && source.rows.some(({ value }) => isObject(value))
    const documents = isOfLines ? [] : documentsIn(source, formatOf)
    if (documents.length > 0) return foundInEach(documents)
    const found = named === "auto" ? whole : named
    if (found === undefined) return yield* Either.left(source.broken ?? unknownIn(source)!)
    return readers[found].find(source).map((one) => ({ ...one, format: found }))
  }).pipe(Either.mapLeft(failedIn(file)))

const transcriptAt = (
  pick: number,
  found: ReadonlyArray<Found>,
  { file, leftOut: isNamed = true }: Pick<ParseOptions, "file" | "leftOut">,
): Either.Either<Transcript, TranscriptError> => {
  const failed = (problem: Problem, readable: ReadonlyArray<Message.Message> = []) =>
    Either.left(new TranscriptError({ file, ...problem }).after(readable))
  const { id, format, branchOf, read, leftOut } = picked(found, pick)
  const { messages, broken, compactions = [], damaged = [] } = read()
  if (broken !== undefined) return failed(broken, messages)
  return messages.length === 0
    ? failed({ problem: empty })
    : Either.right(
        withLeftOut(
          {
            messages,
            format,
            ...(id === undefined ? {} : { id }),
            ...(compactions.length === 0 ? {} : { compactions }),
            ...(branchOf === undefined ? {} : { branchOf }),
          },
          // What a branch has in common with its conversation is named there.
          branchOf === undefined ? [...damaged.map(skipped), ...(isNamed ? leftOut() : [])] : [],
        ),
      )
}
