/**
 * The common part of the chat formats: a list of messages with optional times. They are decoded one by one, to keep the
 * messages before a broken one.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import type { Reading } from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"
import { readTime, timeAllowed } from "./time.js"

/** A message in the file, not yet decoded. */
export interface ChatEntry {
  readonly value: unknown
  /** Missing in a JSON document: errors name the index of the message instead. */
  readonly line?: number
}

/** Decodes the message at an index. `problem` continues a sentence about it: "has no role". */
export type Decode = (
  value: unknown,
  index: number,
) => Either.Either<ReadonlyArray<Message.Message>, { readonly problem: string; readonly allowed: string }>

/** The messages of a file: a list, the `messages` of an object, a single message, or one per line. */
export const entriesOf = (source: Source): Either.Either<ReadonlyArray<ChatEntry>, Problem> => {
  if (source.kind === "lines") return Either.right(source.lines)
  const { value } = source
  const list = isObject(value) ? value["messages"] : value
  if (Array.isArray(list)) return Either.right(list.map((one: unknown) => ({ value: one })))
  return isObject(value) && "role" in value
    ? Either.right([{ value }])
    : Either.left({
        problem: "the file holds no messages",
        allowed: 'a list of messages, an object with "messages", or one message a line',
      })
}

const timeFields = ["time", "timestamp"] as const

/** The message without its time, and the time. `time` takes precedence over `timestamp`. */
const takeTime = (
  value: unknown,
): Either.Either<
  { readonly value: unknown; readonly time?: number },
  { problem: string; allowed: string }
> => {
  const field = isObject(value)
    ? timeFields.find((one) => value[one] !== undefined && value[one] !== null)
    : undefined
  if (field === undefined) return Either.right({ value })
  const { [field]: time, ...rest } = value as JsonObject
  return Either.mapBoth(readTime(time), {
    onLeft: () => ({ problem: `has no readable time at ${field}`, allowed: timeAllowed }),
    onRight: (time) => ({ value: rest, time }),
  })
}

/** Reads messages until one is invalid; `broken` is the problem after the last line that is JSON. */
export const readChat = (
  entries: ReadonlyArray<ChatEntry>,
  decode: Decode,
  broken: Problem | undefined = undefined,
): Reading => {
  const messages: Array<Message.Message> = []
  for (const [index, entry] of entries.entries()) {
    const decoded = Either.flatMap(takeTime(entry.value), ({ value, time }) =>
      Either.map(decode(value, index), (some) =>
        time === undefined ? some : some.map((one) => ({ ...one, time })),
      ),
    )
    if (Either.isLeft(decoded)) {
      const subject = entry.line === undefined ? `message ${index}` : "the message"
      const { problem, allowed } = decoded.left
      const line = entry.line === undefined ? {} : { line: entry.line }
      return { messages, broken: { ...line, problem: `${subject} ${problem}`, allowed } }
    }
    messages.push(...decoded.right)
  }
  return { messages, broken }
}

/** The problem after the last line that is JSON. */
export const brokenOf = (source: Source): Problem | undefined =>
  source.kind === "lines" ? source.broken : undefined
