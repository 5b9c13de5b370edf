/** Reads the messages of an old state: mostly Chat Completions messages, with ids and times under several names. */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { decodeChat } from "../transcript/chat.js"
import { isObject, type JsonObject, type Problem, type Row, valueOr } from "../transcript/source.js"
import { chatNames, fieldOf, idOf, nameIn } from "./fields.js"
import { readOldTime, timeAllowed } from "./time.js"

/** A message and its id in the older program. */
export interface OldMessage {
  readonly message: Message.Message
  readonly id: string | null
}

export const messageNames = {
  id: ["id", "message_id", "uuid"],
  chat: chatNames,
  role: ["role"],
  content: ["content", "text", "body"],
  time: ["at", "timestamp", "created_at", "sent_at", "time"],
} as const

/** The other fields that a provider accepts. */
const further = [
  "name",
  "tool_calls",
  "tool_call_id",
  "function_call",
  "refusal",
  "reasoning_content",
  "reasoning",
]

/** Parses columns that hold a JSON list as text. */
const unpacked = (value: unknown): unknown =>
  typeof value === "string" && value.trimStart().startsWith("[") ? valueOr(value, value) : value

/**
 * A record as a provider's message. Other fields, such as `tools_used` or a row id, are kept in the metadata and never
 * sent.
 */
const wireOf = (record: JsonObject): { readonly wire: JsonObject; readonly beside: JsonObject } => {
  const columns = Object.keys(record)
  const wire: Record<string, unknown> = {}
  const used = new Set([messageNames.time, messageNames.chat].map((names) => nameIn(columns, names)))
  const take = (name: string, names: ReadonlyArray<string>) => {
    const column = nameIn(columns, names)
    const value = column === undefined ? undefined : record[column]
    used.add(column)
    if (value === undefined || (value === null && name !== "content")) return
    wire[name] = name === "tool_calls" ? unpacked(value) : value
  }
  take("role", messageNames.role)
  take("content", messageNames.content)
  for (const name of further) take(name, [name])
  const beside = Object.entries(record).filter(
    ([column, value]) => !used.has(column) && value !== null && !(value instanceof Uint8Array),
  )
  return { wire, beside: Object.fromEntries(beside) }
}

const readMessage = (
  record: unknown,
): Either.Either<OldMessage, { readonly problem: string; readonly allowed: string }> =>
  Either.gen(function* () {
    const { wire, beside } = isObject(record) ? wireOf(record) : { wire: record, beside: {} }
    const time = yield* Either.mapLeft(timeOf(record), () => ({
      problem: "has no readable time",
      allowed: timeAllowed,
    }))
    const [message] = yield* decodeChat(wire)
    const metadata = {
      ...message.metadata,
      ...(Object.keys(beside).length === 0 ? {} : { import: beside }),
    }
    return {
      message: {
        ...message,
        ...(time === null ? {} : { time }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      },
      id: isObject(record) ? idOf(fieldOf(record, messageNames.id)) : null,
    }
  })

/** The time of a record; a `Left` if it cannot be read. */
export const timeOf = (record: unknown): Either.Either<number | null, void> =>
  isObject(record) ? readOldTime(fieldOf(record, messageNames.time)) : Either.right(null)

/** Reads all messages. Fails at the first invalid one. */
export const readMessages = (
  entries: ReadonlyArray<Row>,
): Either.Either<ReadonlyArray<OldMessage>, Problem> => {
  if (entries.length === 0) return Either.left({ problem: "there are no messages" })
  return Either.all(
    entries.map(({ value, line }, index) =>
      Either.mapLeft(readMessage(value), ({ problem, allowed }): Problem => ({
        ...(line === undefined ? {} : { line }),
        problem: `${line === undefined ? `message ${index}` : "the message"} ${problem}`,
        allowed,
      })),
    ),
  )
}
