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
import * as Field from "./Field.js"
import type { Log, Said } from "./EntryFormat.js"
import { groupedBy, readerOf, wholeLogs } from "./Log.js"
import {
  allRecorded,
  argumentsOf,
  type Called,
  file,
  joined,
  reasoning,
  recorded,
  resultOf,
  text,
  textsIn,
  timeAt,
  unknown,
} from "./parts.js"
import { isObject, type JsonObject, objectsOf } from "./source.js"

const readConversation = Field.reads({
  mapping: Field.any,
  current_node: Field.text,
  conversation_id: Field.text,
  id: Field.text,
})

const readNode = Field.reads({
  parent: Field.text,
  children: Field.list,
  message: Field.record({
    id: Field.text,
    author: Field.any,
    create_time: Field.any,
    content: Field.any,
    recipient: Field.text,
    metadata: Field.record({
      model_slug: Field.text,
      is_visually_hidden_from_conversation: Field.flag,
    }),
  }),
})

const readAuthor = Field.reads({ role: Field.text, name: Field.text })

/** A node of the tree, with its id there. */
interface Entry extends ReturnType<typeof readNode> {
  readonly id: string
  readonly author: ReturnType<typeof readAuthor>
}

/** Whether it is a tree of nodes, whose messages say who their author is: others have such trees, too. */
const isConversation = ({ mapping }: JsonObject): boolean => {
  const nodes = isObject(mapping) ? Object.values(mapping).filter(isObject) : []
  const messages = nodes.map(({ message }) => message).filter(isObject)
  return (
    nodes.some((node) => "message" in node || "parent" in node) &&
    (messages.length === 0 || messages.some((message) => "author" in message))
  )
}

/** The nodes, with their ids. */
const logOf = (value: JsonObject): Log<Entry> | undefined => {
  const { mapping, current_node: current, id, conversation_id: named = id } = readConversation(value)
  if (!isConversation(value) || !isObject(mapping)) return undefined
  const nodes = Object.entries(mapping).map(([id, one]) => ({ ...readNode(one), id }))
  const parents = new Map(nodes.flatMap(({ id, children }) => children.map((child) => [child, id] as const)))
  const rows = nodes.map(({ parent, ...node }) => ({
    value: { ...node, parent: parent ?? parents.get(node.id), author: readAuthor(node.message.author) },
  }))
  return { rows, current, id: named }
}

const readContent = Field.reads({
  content_type: Field.any,
  parts: Field.list,
  text: Field.text,
  title: Field.text,
  url: Field.text,
  result: Field.text,
  summary: Field.text,
  thoughts: Field.records({ summary: Field.text, content: Field.text }),
  content: Field.text,
  user_profile: Field.text,
  user_instructions: Field.text,
  model_set_context: Field.text,
})

const readPiece = Field.reads({ text: Field.text, asset_pointer: Field.text, content_type: Field.text })

/** A piece of a message: its text, or a reference to a file. Others are kept as they are. */
const pieceOf = (piece: unknown): ReadonlyArray<Message.Part> => {
  if (typeof piece === "string") return text(piece)
  const { text: said, asset_pointer: pointer, content_type: type = "" } = readPiece(piece)
  if (said !== undefined) return text(said)
  return pointer === undefined
    ? [unknown("chatgpt", piece)]
    : [file(type.startsWith("image") ? "image/*" : undefined, pointer)]
}

/** The parts of a message by the type of its content; a type that is not known here is kept as it is. */
const partsOf = (value: unknown): ReadonlyArray<Message.Part> => {
  const content = readContent(value)
  switch (content.content_type) {
    case "text":
    case "multimodal_text":
      return content.parts.flatMap(pieceOf)
    case "code":
    case "execution_output":
    case "system_error":
      return text(content.text)
    case "tether_quote":
    case "sonic_webpage":
      return text(joined([content.title, content.url, content.text]))
    case "tether_browsing_display":
      return text(content.result ?? content.summary)
    case "thoughts":
      return content.thoughts.map((one) => reasoning(joined([one.summary, one.content])))
    case "reasoning_recap":
      return text(content.content).map((one) => reasoning(one.text))
    case "user_editable_context":
      return text(joined([content.user_profile, content.user_instructions], "\n\n"))
    case "model_editable_context":
      return text(content.model_set_context)
    default:
      return [unknown("chatgpt", isObject(value) ? value : {})]
  }
}

const roles = ["system", "user", "assistant", "tool"] as const

const calledBy = (entry: Entry | undefined): Called | undefined => {
  const { recipient = "all", id } = entry?.message ?? {}
  return entry?.author.role !== "assistant" || recipient === "all" || recipient === "assistant"
    ? undefined
    : { id: id ?? entry.id, name: recipient }
}

/** The calls that stand one behind the other right before an answer of a tool. */
const callsIn = (before: Iterable<Entry>): ReadonlyArray<Called> => {
  const calls: Array<Called> = []
  for (const entry of before) {
    const called = calledBy(entry)
    if (called === undefined) break
    calls.unshift(called)
  }
  return calls
}

/** The answers of tools by the calls that they answer: by the name of the tool, or else the newest call. */
const answersOf = (
  entries: ReadonlyArray<Entry>,
  calls: ReadonlyArray<Called>,
): ReadonlyMap<Called | undefined, ReadonlyArray<Entry>> =>
  groupedBy(entries, (entry) => {
    const named = calls.filter(({ name }) => name === entry.author.name)
    const own = entries.filter(({ author }) => author.name === entry.author.name)
    return named.length === own.length ? named[own.indexOf(entry)] : (named.at(-1) ?? calls.at(-1))
  })

/** The messages of an entry, or of all that a tool answered to the calls `before` them. */
const says = (entries: readonly [Entry, ...Array<Entry>], before: Iterable<Entry>, answered?: Called): Said =>
  Either.gen(function* () {
    const [{ id, author, message }] = entries
    const role = roles.find((one) => one === author.role)
    if (role === undefined) {
      const problem = "has an unknown role at author"
      return yield* Either.left({ subject: `the message ${id}`, problem, allowed: roles.join(", ") })
    }
    const answers =
      role === "tool" ? [...answersOf(entries, answered === undefined ? callsIn(before) : [answered])] : []
    const [called] = answers[0] ?? []
    if (answers.length > 1) {
      const all = answers.map(([call, own]) => says(own as unknown as typeof entries, [], call))
      return (yield* Either.all(all)).flat()
    }
    if (role === "tool" && called === undefined && entries.length > 1) {
      const all = entries.map((one) => says([one], []))
      return (yield* Either.all(all)).flat()
    }
    const { model_slug: model, is_visually_hidden_from_conversation: hidden } = message.metadata
    const kept = {
      id: message.id ?? id,
      model: role === "assistant" ? model : undefined,
      time: yield* timeAt(message, "create_time"),
      hidden: hidden === true ? true : undefined,
    }
    const parts = entries.flatMap((one) => partsOf(one.message.content))
    if (called !== undefined) return [recorded({ role: "tool", parts: [resultOf(called, parts)] }, kept)]
    const calls = calledBy(entries[0])
    if (calls !== undefined) {
      const call = { type: "tool-call" as const, ...calls, arguments: argumentsOf(textsIn(parts)) }
      return [recorded({ role, parts: [...parts.filter(({ type }) => type !== "text"), call] }, kept)]
    }
    // A tool that nobody called, as the search in files that the user uploaded. It may only have shown that it runs.
    const name = role === "tool" ? (author.name ?? "tool") : author.name
    const named = name === undefined ? {} : { name }
    return allRecorded([{ role: role === "tool" ? "user" : role, parts, ...named }], kept)
  })

export const reader = readerOf<Entry>({
  recognizes: (source) => objectsOf(source).some(isConversation),
  logs: (source) =>
    wholeLogs(source, logOf, {
      problem: "the file holds no conversations of ChatGPT",
      allowed: 'a list of objects with "mapping"',
    }),
  id: ({ id }) => id,
  parent: ({ parent }) => parent ?? null,
  isTree: true,
  isSaid: ({ message }) => isObject(message.author),
  joins: (before, entry) => before.author.role === "tool" && entry.author.role === "tool",
  says,
})
