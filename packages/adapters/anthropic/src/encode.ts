/** From memfold messages to the conversation of a Messages API request. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import { fromFile } from "./files.js"
import { formOf, isBlank, type Form } from "./form.js"
import { toInput } from "./input.js"
import type { AnthropicConversation } from "./wire.js"

/**
 * Options of {@link encodeMessages}.
 *
 * - `extraFields`: whether unknown fields that a message had when it was decoded are sent back (`"send"`, the
 *   default) or left out (`"omit"`). Fields that only a response has are never sent.
 */
export interface EncodeOptions {
  readonly extraFields?: "send" | "omit"
}

/** The role and the form of the message that a part belongs to. */
interface Context {
  readonly role: Message.Role
  readonly form: Form
}

/** The block of one part that stands on its own; none if Anthropic cannot carry it there. */
const blockOf = (part: Message.Part, index: number, { role, form }: Context): Codec.Fields | undefined => {
  const extra = form.blocks?.[index]
  switch (part.type) {
    case "text":
      return isBlank(part.text) && extra === undefined
        ? undefined
        : Codec.restore({ type: "text", text: part.text }, extra)
    case "file": {
      const file = role === "user" || role === "tool" ? fromFile(part) : undefined
      return file && Codec.restore(file, extra)
    }
    case "opaque":
      return part.provider === "anthropic" && Codec.isFields(part.data as unknown)
        ? (part.data as Codec.Fields)
        : undefined
    case "reasoning": {
      if (role !== "assistant" || (part.signature === undefined && extra === undefined)) return undefined
      const signature = part.signature === undefined ? {} : { signature: part.signature }
      return Codec.restore({ type: "thinking", thinking: part.text, ...signature }, extra)
    }
    case "tool-call":
      return role === "assistant"
        ? Codec.restore(
            { type: "tool_use", id: part.id, name: part.name, input: toInput(part.arguments) },
            extra,
          )
        : undefined
    case "tool-result":
      return undefined
  }
}

/** A result, its index in the message, and the blocks that follow it there, up to the next result. */
interface Answer {
  readonly result: Message.ToolResult
  readonly index: number
  readonly following: Array<Codec.Fields>
}

/** The output comes first in the content; an empty one before other blocks is no block of its own. */
const resultBlock = ({ result, index, following }: Answer, form: Form): Codec.Fields => {
  const output = result.output === "" ? [] : [{ type: "text", text: result.output }]
  const written = form.results?.[index]
  const content =
    following.length > 0 || written === "blocks"
      ? { content: [...output, ...following] }
      : written === "absent" && result.output === ""
        ? {}
        : { content: result.output }
  const error = result.isError === undefined ? {} : { is_error: result.isError }
  return Codec.restore(
    { type: "tool_result", tool_use_id: result.id, ...content, ...error },
    form.blocks?.[index],
  )
}

/** Results and everything else, apart, because results have to come first in their turn. */
interface Blocks {
  readonly results: ReadonlyArray<Codec.Fields>
  readonly others: ReadonlyArray<Codec.Fields>
}

const blocksOf = (message: Message.Message, form: Form): Blocks => {
  const context = { role: message.role, form }
  const answers: Array<Answer> = []
  const others: Array<Codec.Fields> = []
  for (const [index, part] of message.parts.entries()) {
    const block = blockOf(part, index, context)
    if (part.type === "tool-result") answers.push({ result: part, index, following: [] })
    else if (block !== undefined)
      ((message.role === "tool" && answers.at(-1)?.following) || others).push(block)
  }
  const answering = message.role === "tool" || message.role === "user"
  return { results: answering ? answers.map((answer) => resultBlock(answer, form)) : [], others }
}

/** A single text without further fields is written as a string. */
const contentOf = (blocks: ReadonlyArray<Codec.Fields>, form: Form["content"]): unknown => {
  const [first] = blocks
  const plain = blocks.length === 1 && first?.["type"] === "text" && Object.keys(first).length === 2
  return plain && form !== "blocks" ? first["text"] : blocks
}

/** Messages that travel as one: the results of parallel calls, and what the user says right after them. */
interface Turn {
  readonly role: "user" | "assistant" | "system"
  readonly results: Array<Codec.Fields>
  readonly others: Array<Codec.Fields>
  content: Form["content"]
  fields: Codec.Fields | undefined
}

const wireRole = (role: Message.Role): Turn["role"] => (role === "tool" ? "user" : role)

const turnsOf = (messages: ReadonlyArray<Message.Message>): Array<Turn> => {
  const turns: Array<Turn> = []
  for (const message of messages) {
    const form = formOf(message)
    const { results, others } = blocksOf(message, form)
    if (results.length + others.length === 0 && form.content === undefined) continue
    const role = wireRole(message.role)
    const open = turns.at(-1)
    if (open !== undefined && open.role === role && form.separate !== true) {
      open.results.push(...results)
      open.others.push(...others)
      if (form.fields !== undefined) open.fields = Codec.restore(open.fields ?? {}, form.fields)
    } else {
      turns.push({
        role,
        results: [...results],
        others: [...others],
        content: form.content,
        fields: form.fields,
      })
    }
  }
  return turns
}

const systemOf = (messages: ReadonlyArray<Message.Message>): { readonly system?: unknown } => {
  const blocks = messages.flatMap((message) => blocksOf(message, formOf(message)).others)
  const form = messages.map((message) => formOf(message).content).find((content) => content !== undefined)
  return blocks.length === 0 && form === undefined ? {} : { system: contentOf(blocks, form) }
}

/**
 * Encodes messages for a Messages API request. `decodeMessages` gives the same messages back (L16: codecs lose nothing).
 *
 * - system messages are hoisted into `system`, wherever they stand, except those that were decoded from among
 *   the messages
 * - neighbours of the same role become one message, as the API would combine them itself, except those that
 *   were decoded as two; tool results come first in it
 * - arguments that are no JSON object are sent as `{ "raw_arguments": "<the text>" }`, empty ones as `{}`
 *
 * Left out are: reasoning without a signature (the API refuses it), blank texts (as well), opaque parts of
 * other providers, files other than images, PDFs and plain text, files of an assistant, names, the fields of a
 * response (`id`, `usage`, …), and a message of which nothing remains. Ids of calls are sent as they are.
 *
 * @example
 * ```ts
 * import { encodeMessages } from "@memfold/anthropic"
 * import { Message } from "@memfold/core"
 *
 * const { system, messages } = encodeMessages([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(system, messages) // "Be brief." [{ role: "user", content: "What is a fold?" }]
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): AnthropicConversation => {
  const hoisted = (message: Message.Message): boolean =>
    message.role === "system" && formOf(message).place !== "messages"
  const turns = turnsOf(messages.filter((message) => !hoisted(message)))
  return {
    ...systemOf(messages.filter(hoisted)),
    messages: turns.map((turn) =>
      Codec.restore(
        { role: turn.role, content: contentOf([...turn.results, ...turn.others], turn.content) },
        options.extraFields === "omit" ? undefined : turn.fields,
      ),
    ),
  } as unknown as AnthropicConversation
}
