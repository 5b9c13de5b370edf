/**
 * The export of ChatGPT (`conversations.json`): a list of conversations, each a tree of messages in `mapping`.
 *
 * - the way to `current_node` is the conversation; other branches are conversations of their own, behind all others
 * - a message of the assistant to a tool (`recipient`) is a call, and the messages of the tool behind it are its result;
 *   they have no ids, and the call gets the id of its message
 * - times, models and ids are kept; images and other files are references (`asset_pointer`) without their bytes
 * - the empty system messages that ChatGPT writes are not read
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { type Node, waysOf } from "./branches.js"
import { brokenOf } from "./chat.js"
import {
  argumentsOf,
  type StoredConversation,
  inOrder,
  listOf,
  nothing,
  objectOf,
  objectsOf,
  type Reader,
  type Reading,
  type Recorded,
  recorded,
  single,
  textOf,
  timeAt,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

const isConversation = (value: JsonObject): boolean => {
  const { mapping } = value
  return isObject(mapping) && Object.values(mapping).every((node) => isObject(node) && "message" in node)
}

const nodesOf = (mapping: JsonObject): ReadonlyArray<Node<JsonObject>> =>
  Object.entries(mapping).map(([id, value]) => {
    const { parent, message } = objectOf(value)
    return { id, parent: textOf(parent), value: objectOf(message) }
  })

/** A piece of a message: its text, or a reference to a file. Others are kept as they are. */
const pieceOf = (piece: unknown): Message.Part => {
  if (typeof piece === "string") return { type: "text", text: piece }
  const fields = objectOf(piece)
  const text = textOf(fields["text"])
  const pointer = textOf(fields["asset_pointer"])
  if (text !== undefined) return { type: "text", text }
  return pointer === undefined
    ? { type: "opaque", provider: "chatgpt", data: piece }
    : { type: "file", mediaType: mediaTypeOf(fields), uri: pointer }
}

const mediaTypeOf = ({ content_type: type }: JsonObject): string =>
  typeof type === "string" && type.startsWith("image") ? "image/*" : "application/octet-stream"

const asText = (text: unknown): ReadonlyArray<Message.Part> =>
  textOf(text) === undefined ? [] : [{ type: "text", text: String(text) }]

/** The parts of a message by the type of its content; a type that is not known here is kept as it is. */
const partsOf = (content: JsonObject): ReadonlyArray<Message.Part> => {
  switch (content["content_type"]) {
    case "text":
    case "multimodal_text":
      return listOf(content["parts"])
        .filter((piece) => piece !== "")
        .map(pieceOf)
    case "code":
    case "execution_output":
    case "system_error":
      return asText(content["text"])
    case "tether_quote":
    case "sonic_webpage":
      return asText(
        [content["title"], content["url"], content["text"]].flatMap((one) => textOf(one) ?? []).join("\n"),
      )
    case "tether_browsing_display":
      return asText(textOf(content["result"]) ?? content["summary"])
    case "thoughts":
      return listOf(content["thoughts"])
        .map(objectOf)
        .map(({ summary, content: thought }) => ({
          type: "reasoning" as const,
          text: [summary, thought].flatMap((one) => textOf(one) ?? []).join("\n"),
        }))
    case "reasoning_recap":
      return asText(content["content"]).map((part) => ({ ...part, type: "reasoning" }) as Message.Reasoning)
    case "user_editable_context":
      return asText(
        [content["user_profile"], content["user_instructions"]]
          .flatMap((one) => textOf(one) ?? [])
          .join("\n\n"),
      )
    case "model_editable_context":
      return asText(content["model_set_context"])
    default:
      return [{ type: "opaque", provider: "chatgpt", data: content }]
  }
}

interface Open {
  readonly id: string
  readonly name: string
}

const textIn = (parts: ReadonlyArray<Message.Part>): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** A result with what it consists of, where that is more than one text. */
const resultOf = (call: Open, parts: ReadonlyArray<Message.Part>): Message.Message => {
  const content = parts.filter(
    (part) => part.type === "text" || part.type === "file" || part.type === "opaque",
  )
  const result = { type: "tool-result" as const, id: call.id, name: call.name, output: textIn(parts) }
  const plain = parts.length <= 1 && parts.every((part) => part.type === "text")
  return { role: "tool", parts: [plain ? result : { ...result, content }] }
}

const allRoles = ["system", "user", "assistant", "tool"] as const

const read = (way: ReadonlyArray<Node<JsonObject>>): Reading => {
  const messages: Array<Message.Message> = []
  let open: Open | undefined
  /** The call that was answered last: a tool may answer in several messages. */
  let answered:
    | { readonly call: Open; readonly parts: Array<Message.Part>; readonly kept: Recorded }
    | undefined
  for (const { id, value } of way) {
    if (!isObject(value["author"])) continue
    const role = allRoles.find((one) => one === objectOf(value["author"])["role"])
    if (role === undefined) {
      return {
        messages,
        broken: { problem: `the message ${id} has an unknown role at author`, allowed: allRoles.join(", ") },
      }
    }
    const time = timeAt(value, "create_time")
    if (Either.isLeft(time)) return { messages, broken: time.left }
    const metadata = objectOf(value["metadata"])
    const kept: Recorded = {
      id: textOf(value["id"]) ?? id,
      model: role === "assistant" ? textOf(metadata["model_slug"]) : undefined,
      time: time.right,
      hidden: metadata["is_visually_hidden_from_conversation"] === true ? true : undefined,
    }
    const parts = partsOf(objectOf(value["content"]))
    const recipient = textOf(value["recipient"]) ?? "all"
    const name = textOf(objectOf(value["author"])["name"])
    if (role === "tool") {
      if (answered !== undefined && open === undefined) {
        answered.parts.push(...parts)
        messages[messages.length - 1] = recorded(resultOf(answered.call, answered.parts), answered.kept)
      } else if (open === undefined) {
        // A tool that nobody called, as the search in files that the user uploaded. It may only have shown that it runs.
        if (parts.length > 0) messages.push(recorded({ role: "user", parts, name: name ?? "tool" }, kept))
      } else {
        answered = { call: open, parts: [...parts], kept }
        open = undefined
        messages.push(recorded(resultOf(answered.call, parts), kept))
      }
      continue
    }
    answered = undefined
    if (role === "assistant" && recipient !== "all" && recipient !== "assistant") {
      open = { id: kept.id ?? id, name: recipient }
      const text = textIn(parts)
      const call: Message.ToolCall = { type: "tool-call", ...open, arguments: argumentsOf(text) }
      messages.push(recorded({ role, parts: [...parts.filter(({ type }) => type !== "text"), call] }, kept))
      continue
    }
    open = undefined
    if (parts.length > 0)
      messages.push(recorded({ role, parts, ...(name === undefined ? {} : { name }) }, kept))
  }
  return { messages, broken: undefined }
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  const all = objectsOf(source).filter(isConversation)
  if (all.length === 0) {
    const allowed = 'a list of objects with "mapping"'
    return single(() => nothing({ problem: "the file holds no conversations of ChatGPT", allowed }))
  }
  return inOrder(
    all.map((conversation) => {
      const nodes = nodesOf(objectOf(conversation["mapping"]))
      const [now = [], ...left] = waysOf(nodes, textOf(conversation["current_node"]))
      return { read: () => read(now), left: left.map((way) => () => read(way)) }
    }),
  ).map((found) => ({ ...found, read: () => stopped(found.read(), brokenOf(source)) }))
}

/** A reading of a file that ends with a broken line. */
const stopped = (reading: Reading, broken: Problem | undefined): Reading => ({
  ...reading,
  broken: reading.broken ?? broken,
})

export const reader: Reader = {
  recognizes: (source) => objectsOf(source).some(isConversation),
  find,
}
