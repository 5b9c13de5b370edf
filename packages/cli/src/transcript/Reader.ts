/** What a reader finds in a file: its conversations, each read when it is asked for. */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"
import { readTime, timeAllowed } from "./time.js"

/**
 * A place where the program that recorded the conversation compacted it. The messages before it stay in the transcript.
 *
 * - `after`: how many messages of the transcript there were
 * - `to`: the summary covers the messages before this one, if the program kept the others as they were
 * - `summary`: the text that the program put in their place, if the file has it
 * - `trigger`: why the program compacted, in its own word, such as `auto` or `manual`
 * - `tokensBefore`: the size of the prompt before, as the program counted it
 * - `time`: when, in milliseconds since the epoch
 */
export interface Compaction {
  readonly after: number
  readonly to?: number
  readonly summary?: string
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly time?: number
}

/** The messages that were read, and the problem that stopped the reading, if any. */
export interface Reading {
  readonly messages: ReadonlyArray<Message.Message>
  readonly broken: Problem | undefined
  readonly compactions?: ReadonlyArray<Compaction>
}

/** A conversation of a file. A branch that the user left has `branchOf`: the number of its conversation in the file. */
export interface StoredConversation {
  readonly branchOf?: number
  readonly read: () => Reading
}

/** Reads one format. `find` has at least one conversation, whose reading says what is missing. */
export interface Reader {
  readonly recognizes: (source: Source) => boolean
  readonly find: (source: Source) => ReadonlyArray<StoredConversation>
}

/** Nothing could be read. */
export const nothing = (broken: Problem): Reading => ({ messages: [], broken })

/** What a file with one conversation has. */
export const single = (read: () => Reading): ReadonlyArray<StoredConversation> => [{ read }]

/** The conversations of a file, the branches that were left behind all others, so that numbers stay when one is left. */
export const inOrder = (
  conversations: ReadonlyArray<{ readonly read: () => Reading; readonly left: ReadonlyArray<() => Reading> }>,
): ReadonlyArray<StoredConversation> => [
  ...conversations.map(({ read }) => ({ read })),
  ...conversations.flatMap(({ left }, branchOf) => left.map((read) => ({ branchOf, read }))),
]

/** The JSON values of a file, with their lines in JSON Lines. */
export const valuesOf = (
  source: Source,
): ReadonlyArray<{ readonly value: unknown; readonly line?: number }> =>
  source.kind === "lines" ? source.lines : [{ value: source.value }]

/** The objects of a document that is a list of them or one of them. */
export const objectsOf = (source: Source): ReadonlyArray<JsonObject> => {
  const values = source.kind === "lines" ? source.lines.map((one) => one.value) : [source.value].flat()
  return values.filter(isObject)
}

/** A field that is a text with something in it. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** A field that is a list; an empty one if it is anything else. */
export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? (value as ReadonlyArray<unknown>) : []

/** A field that is an object; an empty one if it is anything else. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** A count of tokens; `undefined` if a field is none. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** The time at a field; `undefined` if there is none. */
export const timeAt = (record: JsonObject, field: string): Either.Either<number | undefined, Problem> => {
  const value = record[field]
  if (value === undefined || value === null) return Either.right(undefined)
  return Either.mapLeft(readTime(value), () => ({
    problem: `the message has no readable time at ${field}`,
    allowed: timeAllowed,
  }))
}

/** What a program recorded of a message beside what was said; kept in `metadata.transcript`, which no provider is sent. */
export interface Recorded {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly time?: number | undefined
  readonly usage?: Message.Usage | undefined
  readonly hidden?: boolean | undefined
}

/** A message with what the program recorded of it. */
export const recorded = (message: Message.Message, { time, usage, ...rest }: Recorded): Message.Message => {
  const transcript = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...message,
    ...(time === undefined ? {} : { time }),
    ...(usage === undefined ? {} : { usage }),
    ...(Object.keys(transcript).length === 0 ? {} : { metadata: { ...message.metadata, transcript } }),
  }
}

/** Arguments of a call as JSON text. A text that is no JSON object, such as a program, is the field `input` of one. */
export const argumentsOf = (value: unknown): string => {
  if (typeof value !== "string") return JSON.stringify(value ?? {})
  const parsed = Either.getOrNull(Either.try(() => JSON.parse(value) as unknown))
  return isObject(parsed) ? value : JSON.stringify({ input: value })
}

/** A value as text: itself, or its JSON. */
export const written = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

/** Reads records until one is broken; the messages before it are kept. */
export const readEach = <A>(
  records: ReadonlyArray<A>,
  read: (record: A, index: number) => Either.Either<ReadonlyArray<Message.Message>, Problem>,
  broken?: Problem,
): Reading => {
  const messages: Array<Message.Message> = []
  for (const [index, record] of records.entries()) {
    const some = read(record, index)
    if (Either.isLeft(some)) return { messages, broken: some.left }
    messages.push(...some.right)
  }
  return { messages, broken }
}
