/**
 * Reads transcripts of other programs into messages. Pure: the input is a text; the name of its file is only for errors.
 */
import { Item, type Message } from "@memfold/core"
import { Either } from "effect"
import * as anthropic from "./anthropic.js"
import { entriesOf, nothing, type Reading } from "./chat.js"
import * as openai from "./openai.js"
import * as pi from "./pi.js"
import { isObject, type JsonObject, type Problem, readSource, type Source } from "./source.js"
import * as sweAgent from "./sweAgent.js"
import * as tauBench from "./tauBench.js"
import { TranscriptError } from "./TranscriptError.js"

export { TranscriptError } from "./TranscriptError.js"

/** The formats of transcripts. */
export const formats = ["openai", "anthropic", "tau-bench", "pi", "swe-agent"] as const
export type Format = (typeof formats)[number]

/**
 * - `file`: the name of the file, for errors
 * - `format`: one of {@link formats}, or `auto` (the default) to find out
 * - `pick`: which conversation of a file with several, from 0 (the default)
 */
export interface ParseOptions {
  readonly file: string
  readonly format?: string
  readonly pick?: number
}

export interface Transcript {
  readonly messages: ReadonlyArray<Message.Message>
  readonly format: Format
}

const readers: Record<Format, (source: Source, pick: number) => Reading> = {
  openai: openai.read,
  anthropic: anthropic.read,
  "tau-bench": tauBench.read,
  pi: pi.read,
  "swe-agent": sweAgent.read,
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
  if (source.kind === "document" && isObject(source.value) && "system" in source.value) return "anthropic"
  const messages = Either.getOrElse(entriesOf(source), () => [])
    .map((entry) => entry.value)
    .filter(isObject)
  return !messages.some(marksOpenAI) && messages.some(marksAnthropic) ? "anthropic" : "openai"
}

const detect = (source: Source): Format => {
  const values = source.kind === "lines" ? source.lines.map((line) => line.value) : [source.value]
  if (values.some(pi.isEntry)) return "pi"
  if (tauBench.trajectories(source).length > 0) return "tau-bench"
  return sweAgent.historyOf(source) === undefined ? detectChat(source) : "swe-agent"
}

const formatNamed = (name: string): Either.Either<Format | "auto", Problem> => {
  const allowed = ["auto", ...formats] as const
  const format = allowed.find((one) => one === name)
  return format === undefined
    ? Either.left({ problem: `there is no format "${name}"`, allowed: allowed.join(", ") })
    : Either.right(format)
}

/** How many conversations a file holds. */
const countIn = (format: Format, source: Source): number =>
  format === "tau-bench" ? Math.max(1, tauBench.trajectories(source).length) : 1

const readPicked = (format: Format, source: Source, pick: number): Reading => {
  const count = countIn(format, source)
  if (Number.isInteger(pick) && pick >= 0 && pick < count) return readers[format](source, pick)
  return nothing({
    problem: `there is no conversation ${pick}, the file holds ${count}`,
    allowed: count === 1 ? "0" : `0 to ${count - 1}`,
  })
}

/**
 * Reads a transcript: a JSON list of messages, a JSON object with `messages`, JSON Lines with one message per line, or
 * the format of a program (`tau-bench`, `pi`, `swe-agent`). A message may have a time in `time` or `timestamp`: ISO 8601
 * (UTC without an offset) or milliseconds since the epoch.
 *
 * The error says where reading stopped; its `readable` has the messages before that place.
 */
export const parse = (text: string, options: ParseOptions): Either.Either<Transcript, TranscriptError> =>
  Either.flatMap(sourceOf(text, options), ({ format, source }) =>
    transcriptAt(options.pick ?? 0, format, source, options.file),
  )

/**
 * Reads all transcripts of a file: one, or each of the trajectories of tau-bench. Fails with the error of the first broken
 * transcript.
 */
export const parseAll = (
  text: string,
  options: Omit<ParseOptions, "pick">,
): Either.Either<ReadonlyArray<Transcript>, TranscriptError> =>
  Either.flatMap(sourceOf(text, options), ({ format, source }) =>
    Either.all(
      Array.from({ length: countIn(format, source) }, (_, pick) =>
        transcriptAt(pick, format, source, options.file),
      ),
    ),
  )

/**
 * The messages of a transcript that another program wrote, for the lab (`ofTranscript` of `@memfold/lab`) or for a memory. Where
 * the messages of a file have no times, none are made up.
 *
 * @param text - The text of the file: a JSON list of messages of OpenAI or Anthropic, an object with `messages`, JSON Lines with
 *   one message per line, or a file of tau-bench, pi or SWE-agent.
 * @param options - `file`: its name, for errors. `format`: one of {@link formats}, or `auto` (the default) to find out.
 * @returns one transcript; of tau-bench, one for each trajectory
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

const sourceOf = (
  text: string,
  { file, format = "auto" }: ParseOptions,
): Either.Either<{ readonly format: Format; readonly source: Source }, TranscriptError> =>
  Either.all([formatNamed(format), readSource(text)]).pipe(
    Either.mapBoth({
      onLeft: (problem) => new TranscriptError({ file, ...problem }),
      onRight: ([named, source]) => ({ format: named === "auto" ? detect(source) : named, source }),
    }),
  )

const transcriptAt = (
  pick: number,
  format: Format,
  source: Source,
  file: string,
): Either.Either<Transcript, TranscriptError> => {
  const failed = (problem: Problem, readable: ReadonlyArray<Message.Message> = []) =>
    Either.left(new TranscriptError({ file, ...problem }).after(readable))
  const { messages, broken } = readPicked(format, source, pick)
  if (broken !== undefined) return failed(broken, messages)
  return messages.length === 0
    ? failed({ problem: "there are no messages" })
    : Either.right({ messages, format })
}
