/**
 * Messages of a page of the AI SDK, from version 5 on: `UIMessage`s, whose parts have all that they say. Each step of an answer is a
 * message with its calls, and one with their results.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { fileOf, Steps } from "./aiSdk4.js"
import { brokenOf, type ChatEntry, entriesOf } from "./chat.js"
import {
  listOf,
  nothing,
  objectOf,
  readEach,
  type Reader,
  recorded,
  single,
  textOf,
  timeAt,
  written,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem } from "./source.js"

const isCall = ({ type, toolCallId }: JsonObject): boolean =>
  textOf(toolCallId) !== undefined && (type === "dynamic-tool" || written(type).startsWith("tool-"))

const ownTypes = ["step-start", "source-url", "source-document"]

const isPart = (part: JsonObject): boolean =>
  isCall(part) || ownTypes.some((type) => type === part["type"]) || part["type"] === "text"

const isMessage = ({ value }: ChatEntry): boolean =>
  isObject(value) && !("content" in value) && listOf(value["parts"]).map(objectOf).some(isPart)

const roles = ["system", "user", "assistant"] as const

/** What a model got of a part; `null` of a part that is of the page alone. */
const said = (part: JsonObject): Message.Part | null => {
  const text = textOf(part["text"])
  switch (part["type"]) {
    case "text":
      return text === undefined ? null : { type: "text", text }
    case "reasoning":
      return { type: "reasoning", text: text ?? "" }
    case "file":
      return fileOf(part["mediaType"], part["url"], part["filename"])
    default:
      return null
  }
}

const ended: Readonly<Record<string, (part: JsonObject) => Pick<Message.ToolResult, "output" | "isError">>> =
  {
    "output-available": ({ output }) => ({ output: written(output) }),
    "output-error": ({ errorText }) => ({ output: written(errorText), isError: true }),
    "output-denied": () => ({ output: "the call was denied", isError: true }),
  }

const answer = (parts: ReadonlyArray<JsonObject>): ReadonlyArray<Message.Message> => {
  const steps = new Steps()
  for (const part of parts) {
    if (part["type"] === "step-start") steps.begin()
    else if (isCall(part)) {
      const name =
        part["type"] === "dynamic-tool" ? written(part["toolName"]) : written(part["type"]).slice(5)
      const call = { type: "tool-call", id: written(part["toolCallId"]), name } as const
      const result = ended[written(part["state"])]?.(part) ?? null
      steps.called({ ...call, arguments: JSON.stringify(part["input"] ?? {}) }, result)
    } else {
      const one = said(part)
      if (one !== null) steps.said(one)
    }
  }
  return steps.messages
}

const readMessage = (
  { value, line }: ChatEntry,
  index: number,
): Either.Either<ReadonlyArray<Message.Message>, Problem> => {
  const subject = line === undefined ? `message ${index}` : "the message"
  const place = line === undefined ? {} : { line }
  const row = objectOf(value)
  const role = roles.find((one) => one === row["role"])
  if (role === undefined)
    return Either.left({ ...place, problem: `${subject} has no known role`, allowed: roles.join(", ") })
  const holder = textOf(row["createdAt"]) === undefined ? objectOf(row["metadata"]) : row
  const time = "createdAt" in holder ? timeAt(holder, "createdAt") : Either.right(undefined)
  if (Either.isLeft(time)) return Either.left({ ...place, ...time.left })
  const kept = { id: textOf(row["id"]), time: time.right }
  const parts = listOf(row["parts"]).map(objectOf)
  const messages: ReadonlyArray<Message.Message> =
    role === "assistant" ? answer(parts) : [{ role, parts: parts.flatMap((part) => said(part) ?? []) }]
  return Either.right(
    messages.filter((message) => message.parts.length > 0).map((message) => recorded(message, kept)),
  )
}

export const reader: Reader = {
  recognizes: (source) =>
    Either.match(entriesOf(source), { onLeft: () => false, onRight: (rows) => rows.some(isMessage) }),
  find: (source) =>
    single(() =>
      Either.match(entriesOf(source), {
        onLeft: nothing,
        onRight: (rows) => readEach(rows, readMessage, brokenOf(source)),
      }),
    ),
}
