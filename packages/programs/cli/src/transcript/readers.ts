/** The formats, which one a file is in, and the conversations that it has. */
import { Item } from "@memfold/core"
import { Either } from "effect"
import * as aiSdk from "./aiSdk.js"
import * as chat from "./chat.js"
import * as chatGpt from "./chatGpt.js"
import * as claudeCode from "./claudeCode.js"
import * as claudeExport from "./claudeExport.js"
import * as codex from "./codex.js"
import * as copilot from "./copilot.js"
import type { Reader, StoredConversation } from "./EntryFormat.js"
import * as geminiCli from "./geminiCli.js"
import * as grok from "./grok.js"
import * as langchain from "./langchain.js"
import { isName, type LeftOut } from "./leftOut.js"
import * as opencode from "./opencode.js"
import * as pi from "./pi.js"
import * as responses from "./responses.js"
import * as shareGpt from "./shareGpt.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

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

export const formatNamed = (name: string): Either.Either<Format | "auto", Problem> => {
  const allowed = ["auto", ...formats] as const
  const format = allowed.find((one) => one === name)
  return format === undefined
    ? Either.left({ problem: `there is no format "${name}"`, allowed: allowed.join(", ") })
    : Either.right(format)
}

/** A conversation of a file, and the format that it is in. */
export interface Found extends StoredConversation {
  readonly format: Format
}

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

/**
 * The conversations of a file.
 *
 * @param format - a {@link Format}, or `auto` to find out
 */
export const foundIn = (source: Source, format: string): Either.Either<ReadonlyArray<Found>, Problem> =>
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
  })
