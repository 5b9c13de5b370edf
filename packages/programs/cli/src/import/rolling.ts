/**
 * Reads the state of rolling summaries: a table of summaries, each with the ids of its messages and one of three
 * statuses. The messages are in another table, in a transcript, or in one JSON file with the summaries.
 */
import { Either } from "effect"
import { isObject, type JsonObject, type Problem, valueOr } from "../transcript/source.js"
import { chatNames, fieldOf, idOf } from "./fields.js"
import type { OldMessage } from "./messages.js"
import type { OldState, OldSummary } from "./OldState.js"
import { rangesOf } from "./ranges.js"
import { inOrderOfTime, readOldTime, timeAllowed } from "./time.js"

export const table = "compressed_summaries"
export const messagesTable = "messages"

/** The names of the fields of a summary. All are required except the time. */
export const summaryNames = {
  id: ["id", "summary_id"],
  chat: chatNames,
  text: ["summary", "summary_text", "text", "content"],
  status: ["status"],
  ids: ["message_ids"],
  time: ["compressed_at", "created_at", "at", "timestamp"],
} as const

const statuses = ["active", "superseded", "invalid"] as const

const idsOf = (value: unknown): Either.Either<ReadonlyArray<string>, string> => {
  const wrong = Either.left("message_ids is no JSON list of ids")
  const list = typeof value === "string" ? valueOr(value, null) : value
  if (!Array.isArray(list)) return wrong
  const ids = list.map(idOf)
  return ids.every((id) => id !== null) ? Either.right(ids) : wrong
}

const readSummary = (
  row: JsonObject,
  positions: ReadonlyMap<string, number>,
): Either.Either<OldSummary, string> =>
  Either.gen(function* () {
    const given = fieldOf(row, summaryNames.status)
    const status = statuses.find((one) => one === given)
    if (status === undefined) {
      return yield* Either.left(`its status is not one of ${statuses.join(", ")}`)
    }
    const text = fieldOf(row, summaryNames.text) ?? ""
    const ids = idsOf(fieldOf(row, summaryNames.ids))
    const time = readOldTime(fieldOf(row, summaryNames.time))
    // A summary whose data do not hold is left out, and its messages are summarized anew.
    const problems = [
      ...(typeof text === "string" ? [] : ["its summary is no text"]),
      ...(Either.isLeft(ids) ? [ids.left] : []),
      ...(Either.isLeft(time) ? [`its time is none; allowed: ${timeAllowed}`] : []),
    ]
    const known = problems.length === 0 ? Either.getOrElse(ids, () => []) : []
    return {
      id: idOf(fieldOf(row, summaryNames.id)) ?? "",
      status,
      text: typeof text === "string" ? text : "",
      // The summary also covers messages that were deleted later.
      covers: rangesOf(known.flatMap((id) => positions.get(id) ?? [])),
      ...(problems.length === 0 ? {} : { damaged: problems.join("; ") }),
      time: Either.getOrElse(time, () => null),
      total: null,
    }
  })

/** The state of one chat: the rows of its summaries, and its messages with their ids. */
export const read = (
  rows: ReadonlyArray<unknown>,
  messages: ReadonlyArray<OldMessage>,
): Either.Either<OldState, Problem> => {
  const positions = new Map(messages.flatMap(({ id }, index) => (id === null ? [] : [[id, index] as const])))
  if (rows.length > 0 && positions.size === 0) {
    return Either.left({
      problem: "no message has an id, but the summaries refer to messages by message_ids",
      allowed: 'messages with an "id" each',
    })
  }
  return Either.all(
    rows.map((row, position) => {
      if (!isObject(row)) return Either.left({ problem: `summary ${position} is no object` })
      const name = idOf(fieldOf(row, summaryNames.id)) ?? position
      return Either.mapLeft(readSummary(row, positions), (wrong) => ({
        problem: `summary "${name}": ${wrong}`,
      }))
    }),
  ).pipe(
    Either.map((summaries) => ({
      messages: messages.map(({ message }) => message),
      summaries: inOrderOfTime(summaries, ({ time }) => time),
    })),
  )
}

/** The content of a JSON file. */
export interface Document {
  readonly messages: ReadonlyArray<unknown>
  readonly summaries: ReadonlyArray<unknown>
}

/** Reads a JSON file. The messages may be in another one. */
export const readDocument = (value: unknown, elsewhere: boolean): Either.Either<Document, Problem> => {
  const messages = isObject(value) ? (value["messages"] ?? (elsewhere ? [] : undefined)) : undefined
  const summaries = isObject(value) ? (value["summaries"] ?? value[table]) : undefined
  return Array.isArray(messages) && Array.isArray(summaries)
    ? Either.right({ messages, summaries })
    : Either.left({
        problem: "it is no state of rolling summaries",
        allowed: 'a SQLite file, or a JSON object with "messages" and "summaries"',
      })
}

/** The chat ids in the records of a document. */
export const chatsOf = ({ messages, summaries }: Document): ReadonlyArray<string> => [
  ...new Set([...summaries, ...messages].flatMap((one) => chatOf(one) ?? [])),
]

/** The records of one chat. Records without a chat id belong to every chat. */
export const ofChat = ({ messages, summaries }: Document, chat: string): Document => {
  const belongs = (one: unknown) => (chatOf(one) ?? chat) === chat
  return { messages: messages.filter(belongs), summaries: summaries.filter(belongs) }
}

const chatOf = (record: unknown): string | null =>
  isObject(record) ? idOf(fieldOf(record, chatNames)) : null
