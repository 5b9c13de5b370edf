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
import * as Field from "./Field.js"
import type { Said } from "./EntryFormat.js"
import { readerOf, wholeLogs } from "./Log.js"
import {
  allRecorded,
  call,
  type Called,
  file,
  reasoning,
  resultOf,
  Steps,
  text,
  timeAt,
  unknown,
} from "./parts.js"
import { type JsonObject, objectsOf } from "./source.js"

const isConversation = (value: JsonObject): boolean => Array.isArray(value["chat_messages"])

const readMessage = Field.reads({
  uuid: Field.text,
  parent_message_uuid: Field.text,
  sender: Field.any,
  text: Field.text,
  created_at: Field.any,
  content: Field.list,
  attachments: Field.records({ extracted_content: Field.text, file_name: Field.text }),
  files: Field.records({ file_name: Field.text, file_uuid: Field.text }),
})
type Entry = ReturnType<typeof readMessage>

const readConversation = Field.reads({
  chat_messages: Field.list,
  current_leaf_message_uuid: Field.text,
  uuid: Field.text,
})

const readBlock = Field.reads({
  type: Field.any,
  text: Field.text,
  thinking: Field.any,
  id: Field.text,
  name: Field.text,
  input: Field.any,
  tool_use_id: Field.text,
  content: Field.any,
  is_error: Field.flag,
})

/** The content of a result: a text, or blocks with texts and other things. */
const contentOf = (content: unknown): ReadonlyArray<Message.Text | Message.Opaque> => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return (Array.isArray(content) ? content : []).map((block: unknown) => {
    const { type, text } = readBlock(block)
    return type === "text" && text !== undefined ? { type, text } : unknown("claude", block)
  })
}

/** The steps of an answer: parts of the assistant, then results of its tools, and again. */
const stepsOf = ({ uuid = "", content }: Entry): ReadonlyArray<Message.Message> => {
  const steps = new Steps()
  const open: Array<Called> = []
  for (const [index, raw] of content.entries()) {
    const { name = "tool", ...block } = readBlock(raw)
    switch (block.type) {
      case "text":
        steps.said(...text(block.text))
        break
      case "thinking":
        steps.said(reasoning(Field.written(block.thinking)))
        break
      case "tool_use": {
        const made = call(block.id ?? `${uuid}-${index}`, name, block.input)
        open.push({ id: made.id, name })
        // What is called behind a result is called because of it.
        if (steps.isAnswered) steps.begin()
        steps.said(made)
        break
      }
      case "tool_result": {
        const byId = open.findIndex(({ id }) => id === block.tool_use_id)
        const at = byId >= 0 ? byId : open.findIndex((one) => one.name === name)
        const [called] = open.splice(Math.max(at, 0), 1)
        if (called === undefined) steps.said(unknown("claude", raw))
        else steps.answered(resultOf(called, contentOf(block.content), block.is_error))
        break
      }
      // What was left of the context; nothing that was said.
      case "token_budget":
        break
      default:
        steps.said(unknown("claude", raw))
    }
  }
  return steps.messages
}

const attached = ({ attachments, files }: Entry): ReadonlyArray<Message.Part> => [
  ...attachments.flatMap(({ extracted_content: content, file_name: name = "" }) =>
    content === undefined ? [] : text(`${name}\n${content}`),
  ),
  ...files.flatMap(({ file_name: name, file_uuid: uuid }) => {
    const uri = uuid ?? name
    return uri === undefined ? [] : [file(undefined, uri, name)]
  }),
]

const says = (message: Entry): Said =>
  Either.gen(function* () {
    const { sender, uuid: id } = message
    if (sender !== "human" && sender !== "assistant") {
      const problem = `has ${sender === undefined ? "no" : "an unknown"} sender`
      return yield* Either.left({ problem, allowed: "human, assistant" })
    }
    const kept = { id, time: yield* timeAt(message, "created_at") }
    const steps = stepsOf(message)
    // Older exports have the text alone; newer ones repeat the texts of the blocks there.
    const hasText = steps.some(({ parts }) => parts.some(({ type }) => type === "text"))
    const said: ReadonlyArray<Message.Message> = hasText
      ? steps
      : [...steps, { role: "assistant", parts: text(message.text) }]
    if (sender === "assistant") return allRecorded(said, kept)
    return allRecorded(
      [{ role: "user", parts: [...said.flatMap(({ parts }) => parts), ...attached(message)] }],
      kept,
    )
  })

export const reader = readerOf<Entry>({
  recognizes: (source) => objectsOf(source).some(isConversation),
  logs: (source) =>
    wholeLogs(
      source,
      (value) => {
        if (!isConversation(value)) return undefined
        const { chat_messages: all, current_leaf_message_uuid: current, uuid: id } = readConversation(value)
        return { rows: all.map((one) => ({ value: readMessage(one) })), current, id }
      },
      {
        problem: "the file holds no conversations of Claude",
        allowed: 'a list of objects with "chat_messages"',
      },
    ),
  id: ({ uuid }) => uuid,
  isTree: true,
  // The first messages, of which an edit makes several, name one that is nowhere.
  parent: ({ parent_message_uuid: parent }) => (parent?.startsWith("00000000-") === true ? null : parent),
  says: ([message]) => says(message),
})
