/**
 * The export of Claude (`conversations.json`): a list of conversations with `chat_messages`.
 *
 * - one answer has several steps; each is a message with its calls, and one with their results
 * - blocks of tools have no ids in older exports; a result then answers the oldest open call of its name
 * - a message that names another than the one before it (`parent_message_uuid`) begins a branch. The newest branch is the
 *   conversation, the others are conversations of their own, behind all others
 * - the text that Claude took from an attachment is a text; other files are references by their names
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { waysOf } from "./branches.js"
import { brokenOf } from "./chat.js"
import {
  type StoredConversation,
  inOrder,
  listOf,
  nothing,
  objectOf,
  objectsOf,
  readEach,
  type Reader,
  type Reading,
  recorded,
  single,
  textOf,
  timeAt,
  written,
} from "./Reader.js"
import { type JsonObject, type Problem, type Source } from "./source.js"

const isConversation = (value: JsonObject): boolean => Array.isArray(value["chat_messages"])

interface Open {
  readonly id: string
  readonly name: string
}

/** The content of a result: a text, or blocks with texts and other things. */
const contentOf = (content: unknown): ReadonlyArray<Message.Text | Message.Opaque> => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return listOf(content).map((block) => {
    const { type, text } = objectOf(block)
    return type === "text" && typeof text === "string"
      ? { type: "text", text }
      : { type: "opaque", provider: "claude", data: block }
  })
}

const resultOf = (block: JsonObject, call: Open): Message.ToolResult => {
  const content = contentOf(block["content"])
  const output = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  const plain = content.length <= 1 && content.every((part) => part.type === "text")
  return {
    type: "tool-result",
    ...call,
    output,
    ...(plain ? {} : { content }),
    ...(typeof block["is_error"] === "boolean" ? { isError: block["is_error"] } : {}),
  }
}

/** The steps of an answer: parts of the assistant, then results of its tools, and again. */
const stepsOf = (message: JsonObject): ReadonlyArray<Message.Message> => {
  const steps: Array<{ readonly role: "assistant" | "tool"; readonly parts: Array<Message.Part> }> = []
  const open: Array<Open> = []
  const push = (role: "assistant" | "tool", part: Message.Part) => {
    const last = steps.at(-1)
    if (last?.role === role) last.parts.push(part)
    else steps.push({ role, parts: [part] })
  }
  for (const [index, raw] of listOf(message["content"]).entries()) {
    const block = objectOf(raw)
    const named = textOf(block["name"]) ?? "tool"
    switch (block["type"]) {
      case "text":
        if (textOf(block["text"]) !== undefined)
          push("assistant", { type: "text", text: String(block["text"]) })
        break
      case "thinking":
        push("assistant", { type: "reasoning", text: written(block["thinking"]) })
        break
      case "tool_use": {
        const call = { id: textOf(block["id"]) ?? `${written(message["uuid"])}-${index}`, name: named }
        open.push(call)
        push("assistant", { type: "tool-call", ...call, arguments: JSON.stringify(block["input"] ?? {}) })
        break
      }
      case "tool_result": {
        const id = textOf(block["tool_use_id"])
        const byId = open.findIndex((call) => call.id === id)
        const at = byId >= 0 ? byId : open.findIndex((call) => call.name === named)
        const [call] = at >= 0 ? open.splice(at, 1) : open.splice(0, 1)
        if (call === undefined) push("assistant", { type: "opaque", provider: "claude", data: raw })
        else push("tool", resultOf(block, call))
        break
      }
      // What was left of the context; nothing that was said.
      case "token_budget":
        break
      default:
        push("assistant", { type: "opaque", provider: "claude", data: raw })
    }
  }
  return steps
}

const attached = (message: JsonObject): ReadonlyArray<Message.Part> => [
  ...listOf(message["attachments"])
    .map(objectOf)
    .flatMap(({ extracted_content: text, file_name: name }): ReadonlyArray<Message.Part> =>
      textOf(text) === undefined ? [] : [{ type: "text", text: `${written(name)}\n${String(text)}` }],
    ),
  ...listOf(message["files"])
    .map(objectOf)
    .flatMap(({ file_name: name, file_uuid: uuid }): ReadonlyArray<Message.Part> => {
      const uri = textOf(uuid) ?? textOf(name)
      return uri === undefined
        ? []
        : [
            {
              type: "file",
              mediaType: "application/octet-stream",
              uri,
              ...(textOf(name) === undefined ? {} : { name: String(name) }),
            },
          ]
    }),
]

const messagesOf = (message: JsonObject): Either.Either<ReadonlyArray<Message.Message>, Problem> =>
  Either.gen(function* () {
    const { sender, text } = message
    if (sender !== "human" && sender !== "assistant") {
      const problem = `the message has ${sender === undefined ? "no" : "an unknown"} sender`
      return yield* Either.left({ problem, allowed: "human, assistant" })
    }
    const time = yield* timeAt(message, "created_at")
    const kept = { id: textOf(message["uuid"]), time }
    const steps = stepsOf(message)
    const whole: ReadonlyArray<Message.Message> =
      steps.length > 0 || textOf(text) === undefined
        ? steps
        : [{ role: "assistant", parts: [{ type: "text", text: String(text) }] }]
    if (sender === "assistant") return whole.map((one) => recorded(one, kept))
    const parts = [...whole.flatMap((one) => one.parts), ...attached(message)]
    return parts.length === 0 ? [] : [recorded({ role: "user", parts }, kept)]
  })

/** The ways through the messages. A message that names no other follows the one before it. */
const linesOf = (conversation: JsonObject): ReadonlyArray<ReadonlyArray<JsonObject>> => {
  const list = listOf(conversation["chat_messages"]).map(objectOf)
  const idOf = (index: number): string => textOf(list[index]?.["uuid"]) ?? `#${index}`
  const nodes = list.map((value, index) => ({
    id: idOf(index),
    parent: textOf(value["parent_message_uuid"]) ?? (index === 0 ? undefined : idOf(index - 1)),
    value,
  }))
  const current = textOf(conversation["current_leaf_message_uuid"]) ?? nodes.at(-1)?.id
  return waysOf(nodes, current).map((way) => way.map(({ value }) => value))
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  const all = objectsOf(source).filter(isConversation)
  if (all.length === 0) {
    const allowed = 'a list of objects with "chat_messages"'
    return single(() => nothing({ problem: "the file holds no conversations of Claude", allowed }))
  }
  const reading =
    (messages: ReadonlyArray<JsonObject>): (() => Reading) =>
    () =>
      readEach(messages, messagesOf, brokenOf(source))
  return inOrder(
    all.map((conversation) => {
      const [now = [], ...left] = linesOf(conversation)
      return { read: reading(now), left: left.map(reading) }
    }),
  )
}

export const reader: Reader = {
  recognizes: (source) => objectsOf(source).some(isConversation),
  find,
}
