/**
 * Dumps of LangChain messages: of `dumps` and `toJSON` (`lc`, `kwargs`), of `messages_to_dict` and `toDict` (`type`, `data`), and of
 * `model_dump` (`type`, `content`).
 */
import { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf, type ChatEntry, entriesOf } from "./chat.js"
import { listOf, nothing, objectOf, readEach, type Reader, single, textOf, written } from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

const roles: Readonly<Record<string, Message.Message["role"]>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
}

/** The word for a message in the name of its class: `ai` of `AIMessageChunk`. */
const ofClass = (name: unknown): string =>
  written(name)
    .replace(/Message(?:Chunk)?$/u, "")
    .toLowerCase()

/** The kind of a message and its fields; `null` of anything else. */
const messageIn = (value: unknown): { readonly kind: string; readonly fields: JsonObject } | null => {
  if (!isObject(value)) return null
  if ("lc" in value && isObject(value["kwargs"]))
    return { kind: ofClass(listOf(value["id"]).at(-1)), fields: value["kwargs"] }
  const kind = textOf(value["type"])
  if (kind === undefined || !Object.hasOwn(roles, kind)) return null
  if (isObject(value["data"])) return { kind, fields: value["data"] }
  return "content" in value && !("role" in value) ? { kind, fields: value } : null
}

/** The messages of a file: a list, the `messages` of an object, also of a state that is dumped as a whole. */
const entriesIn = (source: Source): Either.Either<ReadonlyArray<ChatEntry>, Problem> => {
  if (source.kind === "document" && isObject(source.value)) {
    const state = objectOf(source.value["kwargs"] ?? source.value["values"])
    if (Array.isArray(state["messages"]))
      return Either.right(state["messages"].map((value: unknown) => ({ value })))
  }
  return entriesOf(source)
}

const partOf = (block: unknown): ReadonlyArray<Message.Part> => {
  if (typeof block === "string") return block === "" ? [] : [{ type: "text", text: block }]
  const { type, text, image_url: image, thinking } = objectOf(block)
  // Calls stand in a field of their own as well.
  if (type === "tool_use" || type === "tool_call" || type === "function_call") return []
  if (type === "text") return textOf(text) === undefined ? [] : [{ type: "text", text: String(text) }]
  if (type === "thinking") return [{ type: "reasoning", text: written(thinking) }]
  if (type === "image_url")
    return [{ type: "file", mediaType: "image/*", uri: written(isObject(image) ? image["url"] : image) }]
  return isObject(block) ? [{ type: "opaque", provider: "langchain", data: block }] : []
}

const partsOf = (content: unknown): ReadonlyArray<Message.Part> =>
  (Array.isArray(content) ? content : [content ?? ""]).flatMap(partOf)

const callsOf = ({ tool_calls: calls }: JsonObject): ReadonlyArray<Message.ToolCall> =>
  listOf(calls)
    .map(objectOf)
    .map(({ id, name, args }) => ({
      type: "tool-call",
      id: written(id),
      name: written(name),
      arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}),
    }))

const resultOf = (fields: JsonObject): Message.Message =>
  Message.result({
    id: written(fields["tool_call_id"]),
    ...(textOf(fields["name"]) === undefined ? {} : { name: String(fields["name"]) }),
    output: partsOf(fields["content"])
      .map((part) => (part.type === "text" ? part.text : ""))
      .join("\n"),
    ...(fields["status"] === "error" ? { isError: true } : {}),
  })

const readMessage = (
  { value, line }: ChatEntry,
  index: number,
): Either.Either<ReadonlyArray<Message.Message>, Problem> => {
  const subject = line === undefined ? `message ${index}` : "the message"
  const found = messageIn(value)
  const role = found === null ? undefined : roles[found.kind]
  if (found === null || role === undefined)
    return Either.left({
      ...(line === undefined ? {} : { line }),
      problem: `${subject} is no message of LangChain`,
      allowed: Object.keys(roles).join(", "),
    })
  const { fields } = found
  const message: Message.Message =
    role === "tool"
      ? resultOf(fields)
      : { role, parts: [...partsOf(fields["content"]), ...(role === "assistant" ? callsOf(fields) : [])] }
  return Either.right(message.parts.length === 0 ? [] : [message])
}

export const reader: Reader = {
  recognizes: (source) =>
    Either.match(entriesIn(source), {
      onLeft: () => false,
      onRight: (rows) => rows.some(({ value }) => messageIn(value) !== null),
    }),
  find: (source) =>
    single(() =>
      Either.match(entriesIn(source), {
        onLeft: nothing,
        onRight: (rows) => readEach(rows, readMessage, brokenOf(source)),
      }),
    ),
}
