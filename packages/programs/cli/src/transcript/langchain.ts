/**
 * Dumps of LangChain messages: of `dumps` and `toJSON` (`lc`, `kwargs`), of `messages_to_dict` and `toDict` (`type`, `data`), and of
 * `model_dump` (`type`, `content`).
 */
import type { Message } from "@memfold/core"
import { Either, Option } from "effect"
import { messagesIn } from "./chat.js"
import * as Field from "./Field.js"
import { spokenIn } from "./leftOut.js"
import type { Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import { call, file, reasoning, resultOf, text, unknown } from "./parts.js"
import { isObject, type JsonObject, type Problem, type Row, rowsOf, type Source } from "./source.js"

const roles: Readonly<Record<string, Message.Message["role"]>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
  // A message of any role, which it names: one that is nobody's here is said on the user's side.
  chat: "user",
  // Takes a message out of a state; nobody says anything in it.
  remove: "user",
}

/** The role of a message: a `ChatMessage` names its own, in the words of its model's API. */
const roleOf = (kind: string, named: string): Message.Message["role"] | undefined =>
  kind !== "chat"
    ? roles[kind]
    : ["assistant", "ai", "model"].includes(named)
      ? "assistant"
      : ["system", "developer"].includes(named)
        ? "system"
        : roles["chat"]

const readKwargs = Field.reads({ id: Field.list, kwargs: Field.any, values: Field.any })

/** The word for a message is in the name of its class: `ai` of `AIMessageChunk`. */
const kindOf = (name: string): string => name.replace(/Message(?:Chunk)?$/u, "").toLowerCase()

/** The kind of a message and its fields; `null` of anything else. */
const messageIn = (value: unknown): { readonly kind: string; readonly fields: JsonObject } | null => {
  if (!isObject(value)) return null
  const { type, data } = value
  if ("lc" in value && isObject(value["kwargs"])) {
    return { kind: kindOf(Field.written(readKwargs(value).id.at(-1))), fields: value["kwargs"] }
  }
  if (typeof type !== "string") return null
  const kind = kindOf(type)
  if (!Object.hasOwn(roles, kind)) return null
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

const isCall = (type: unknown): boolean =>
  type === "tool_use" || type === "tool_call" || type === "function_call"

const partOf = (block: unknown): ReadonlyArray<Message.Part> => {
  if (typeof block === "string") return text(block)
  if (!isObject(block)) return []
  const { type, image_url: image, thinking, ...rest } = readBlock(block)
  switch (type) {
    // Calls stand in a field of their own as well, or are read from here.
    case "tool_use":
    case "tool_call":
    case "function_call":
      return []
    case "text":
      return text(rest.text)
    case "thinking":
    case "reasoning":
      return [reasoning(Field.written(thinking ?? spokenIn(block).join("\n")))]
    case "image_url":
      return [file("image/*", Field.written(isObject(image) ? image["url"] : image))]
    default:
      return [unknown("langchain", block)]
  }
}

const readFields = Field.reads({
  content: Field.any,
  tool_calls: Field.records({ id: Field.any, name: Field.any, args: Field.any }),
  additional_kwargs: Field.record({
    reasoning_content: Field.text,
    function_call: Field.any,
    tool_calls: Field.records({ id: Field.any, function: Field.any }),
  }),
  tool_call_id: Field.any,
  name: Field.text,
  role: Field.text,
  status: Field.any,
})

type Fields = ReturnType<typeof readFields>

const readCall = Field.reads({
  id: Field.any,
  call_id: Field.any,
  name: Field.any,
  arguments: Field.any,
  args: Field.any,
  input: Field.any,
})

/** The calls of a message: in their field, or, in older dumps, beside the content or in its blocks. */
const callsOf = ({ tool_calls: calls, additional_kwargs: more, content }: Fields) => {
  if (calls.length > 0) return calls
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  return [
    ...more.tool_calls.map(({ id, function: called }) => ({ ...readCall(called), id })),
    ...(isObject(more.function_call) ? [readCall(more.function_call)] : []),
    ...blocks.filter(({ type }) => isCall(type)).map(readCall),
  ].map(({ id, call_id, name, arguments: given, args = given, input = args }) => ({
    id: id ?? call_id,
    name,
    args: input,
  }))
}

const says = (value: unknown): Said => {
  const found = messageIn(value)
  const fields = readFields(found?.fields)
  const role = found === null ? undefined : roleOf(found.kind, fields.role ?? "")
  if (found === null || role === undefined)
    return Either.left({ problem: "is no message of LangChain", allowed: Object.keys(roles).join(", ") })
  const { content, tool_call_id: id, name, status } = fields
  const parts = (Array.isArray(content) ? content : [content ?? ""]).flatMap(partOf)
  if (role === "tool") {
    const called = { id: Field.written(id), ...(name === undefined ? {} : { name }) }
    return Either.right([{ role, parts: [resultOf(called, parts, status === "error" ? true : undefined)] }])
  }
  if (role === "assistant") {
    const thought = fields.additional_kwargs.reasoning_content
    if (thought !== undefined) parts.unshift(reasoning(thought))
    for (const { id, name, args } of callsOf(fields)) {
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
