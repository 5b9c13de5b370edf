/**
 * Dumps of LangChain messages: of `dumps` and `toJSON` (`lc`, `kwargs`), of `messages_to_dict` and `toDict` (`type`, `data`), and of
 * `model_dump` (`type`, `content`).
 */
import { Message } from "@memfold/core"
import { Either, Option } from "effect"
import { messagesIn } from "./chat.js"
import * as Field from "./Field.js"
import { readerOf, type Said } from "./Log.js"
import { call, file, opaque, reasoning, text } from "./parts.js"
import { isObject, type JsonObject, type Problem, type Row, rowsOf, type Source } from "./source.js"

const roles: Readonly<Record<string, Message.Message["role"]>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
}

const readKwargs = Field.reads({ id: Field.list, kwargs: Field.any, values: Field.any })

/** The kind of a message and its fields; `null` of anything else. */
const messageIn = (value: unknown): { readonly kind: string; readonly fields: JsonObject } | null => {
  if (!isObject(value)) return null
  const { type: kind, data } = value
  if ("lc" in value && isObject(value["kwargs"])) {
    // The word for a message is in the name of its class: `ai` of `AIMessageChunk`.
    const name = Field.written(readKwargs(value).id.at(-1)).replace(/Message(?:Chunk)?$/u, "")
    return { kind: name.toLowerCase(), fields: value["kwargs"] }
  }
  if (typeof kind !== "string" || !Object.hasOwn(roles, kind)) return null
  if (isObject(data)) return { kind, fields: data }
  return "content" in value && !("role" in value) ? { kind, fields: value } : null
}

/** The messages of a file: a list, the `messages` of an object, also of a state that is dumped as a whole. */
const entriesIn = (source: Source): Either.Either<ReadonlyArray<Row>, Problem> => {
  const { kwargs, values } = readKwargs(source.document)
  const state = kwargs ?? values
  return isObject(state) && Array.isArray(state["messages"])
    ? Either.right(rowsOf(state["messages"]))
    : messagesIn(source)
}

const readBlock = Field.reads({
  type: Field.any,
  text: Field.text,
  image_url: Field.any,
  thinking: Field.any,
})

const partOf = (block: unknown): ReadonlyArray<Message.Part> => {
  if (typeof block === "string") return text(block)
  if (!isObject(block)) return []
  const { type, image_url: image, thinking, ...rest } = readBlock(block)
  switch (type) {
    // Calls stand in a field of their own as well.
    case "tool_use":
    case "tool_call":
    case "function_call":
      return []
    case "text":
      return text(rest.text)
    case "thinking":
      return [reasoning(Field.written(thinking))]
    case "image_url":
      return [file("image/*", Field.written(isObject(image) ? image["url"] : image))]
    default:
      return [opaque("langchain", block)]
  }
}

const readFields = Field.reads({
  content: Field.any,
  tool_calls: Field.records({ id: Field.any, name: Field.any, args: Field.any }),
  tool_call_id: Field.any,
  name: Field.text,
  status: Field.any,
})

const says = (value: unknown): Said => {
  const found = messageIn(value)
  const role = found === null ? undefined : roles[found.kind]
  if (found === null || role === undefined)
    return Either.left({ problem: "is no message of LangChain", allowed: Object.keys(roles).join(", ") })
  const { content, tool_calls: calls, tool_call_id: id, name, status } = readFields(found.fields)
  const parts = (Array.isArray(content) ? content : [content ?? ""]).flatMap(partOf)
  if (role === "tool") {
    const output = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n")
    const named = name === undefined ? {} : { name }
    const failed = status === "error" ? { isError: true } : {}
    return Either.right([Message.result({ id: Field.written(id), ...named, output, ...failed })])
  }
  if (role === "assistant") {
    for (const { id, name, args } of calls) {
      const made = call(id, name, args)
      parts.push(typeof args === "string" ? { ...made, arguments: args } : made)
    }
  }
  return Either.right(parts.length === 0 ? [] : [{ role, parts }])
}

export const reader = readerOf<unknown>({
  recognizes: (source) =>
    Option.exists(Either.getRight(entriesIn(source)), (rows) =>
      rows.some(({ value }) => messageIn(value) !== null),
    ),
  logs: (source) => Either.map(entriesIn(source), (rows) => [{ rows, broken: source.broken }]),
  says: ([message]) => says(message),
})
