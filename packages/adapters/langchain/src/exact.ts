/** From memfold messages to messages of LangChain exactly as they came. */
import { type Fields, isFields, plainText, present } from "@memfold/codec"
import { Message } from "@memfold/core"
import { exactBlock, exactEntry } from "./blocks.js"
import { type Form, formOf, ownData, partFormOf } from "./form.js"
import type { WireMessage, WireType } from "./wire.js"

/** The types of messages, by who speaks in them. */
export const types = { user: "human", assistant: "ai", system: "system", tool: "tool" } as const

/** The content: a text where one plain text says it. */
const contentOf = (blocks: ReadonlyArray<unknown>, form: Form): unknown => {
  if (form.content === "blocks") return blocks
  return blocks.length === 0 ? "" : (plainText(blocks) ?? blocks)
}

const blocksOf = (parts: ReadonlyArray<Message.Part>): ReadonlyArray<unknown> =>
  parts.map(exactBlock).filter((block) => block !== undefined)

/** The encrypted reasoning that stands beside the content. */
const kwargsOf = ({ parts }: Message.Message, fields: Fields | undefined): Fields => {
  const item = parts.find((part) => partFormOf(part).block === "kwargs")
  if (item === undefined) return {}
  const beside = fields?.["additional_kwargs"]
  return { additional_kwargs: { ...(isFields(beside) ? beside : {}), reasoning: ownData(item) } }
}

const status = ({ isError }: Message.ToolResult): Fields =>
  isError === undefined ? {} : { status: isError ? "error" : "success" }

/** The messages that a message is in LangChain: one for each result of a tool message, and one for any other. */
export const exactWires = (message: Message.Message): ReadonlyArray<WireMessage> => {
  const form = formOf(message)
  const { id, role, fields, raw } = form
  if (raw !== undefined) return [raw as WireMessage]
  const named = present({ id, name: message.name })
  if (message.role === "tool") {
    return Message.results(message).map((result) => ({
      ...fields,
      ...named,
      type: "tool",
      tool_call_id: result.id,
      ...(result.name === undefined ? {} : { name: result.name }),
      ...status(result),
      content:
        result.content === undefined
          ? result.output
          : contentOf(blocksOf(result.content), { content: "blocks" }),
    }))
  }
  const calls = Message.calls(message)
  const type: WireType = role === undefined ? types[message.role] : "generic"
  return [
    {
      ...fields,
      ...kwargsOf(message, fields),
      ...named,
      ...(role === undefined ? {} : { role }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(exactEntry) }),
      type,
      content: contentOf(blocksOf(message.parts), form),
    },
  ]
}
