/**
 * Reads the state of a sliding window: one file per conversation, a JSON object or JSON Lines that begin with a line of
 * metadata. It says how many messages were consolidated; the text of the summary is in another file.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { isObject, type JsonObject, type Problem, type Row, type Source } from "../transcript/source.js"
import { readMessages } from "./messages.js"
import { readOldTime, timeAllowed } from "./time.js"

/** The messages, how many of them were consolidated, and when. */
export interface Consolidated {
  readonly messages: ReadonlyArray<Message.Message>
  readonly coveredTo: number
  /** In milliseconds since the epoch; `null` if the file does not say. */
  readonly time: number | null
}

const allowed =
  'an object with "messages" and "last_consolidated", or JSON Lines whose first line is {"_type":"metadata",…}'

interface Parts {
  readonly head: JsonObject
  readonly entries: ReadonlyArray<Row>
}

const isMetadata = (value: unknown): value is JsonObject => isObject(value) && value["_type"] === "metadata"

const partsOf = (source: Source): Either.Either<Parts, Problem> => {
  const { document: value } = source
  if (value === undefined) {
    const [first, ...rest] = source.rows
    if (source.broken !== undefined) return Either.left(source.broken)
    return isMetadata(first?.value)
      ? Either.right({ head: first.value, entries: rest })
      : Either.left({ line: 1, problem: "the first line is no metadata", allowed })
  }
  // A conversation without messages is one line.
  if (isMetadata(value)) return Either.right({ head: value, entries: [] })
  if (!isObject(value) || !Array.isArray(value["messages"])) {
    return Either.left({ problem: "it is no state of a sliding window", allowed })
  }
  return Either.right({ head: value, entries: value["messages"].map((one: unknown) => ({ value: one })) })
}

const readThrough = ({ last_consolidated: coveredTo }: JsonObject, total: number) => {
  if (coveredTo === undefined || coveredTo === null) {
    return Either.left({
      problem: "it has no last_consolidated; use memfold replay for a plain transcript",
    })
  }
  if (typeof coveredTo !== "number" || !Number.isInteger(coveredTo) || coveredTo < 0 || coveredTo > total) {
    const is = typeof coveredTo === "number" ? String(coveredTo) : "no number"
    return Either.left({
      problem: `last_consolidated is ${is}, and there are ${total} messages`,
      allowed: `0 to ${total}`,
    })
  }
  return Either.right(coveredTo)
}

/** Reads a state file. */
export const read = (source: Source): Either.Either<Consolidated, Problem> =>
  Either.gen(function* () {
    const { head, entries } = yield* partsOf(source)
    const messages = (yield* readMessages(entries)).map(({ message }) => message)
    const coveredTo = yield* readThrough(head, messages.length)
    const time = yield* Either.mapLeft(readOldTime(head["last_consolidated_at"]), () => ({
      problem: "last_consolidated_at is no time",
      allowed: timeAllowed,
    }))
    return { messages, coveredTo, time }
  })
