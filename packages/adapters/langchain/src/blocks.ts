/** Content blocks of LangChain, and calls of tools: to parts of memfold, and exactly back. */
import { argumentsOf, type Fields, isFields, patchOf, valueIn } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { exactFile, toFile } from "./files.js"
import { opaque, ownData, partFormOf, withForm } from "./form.js"
import type { WireType } from "./wire.js"

const exactArgs = (call: Message.ToolCall): unknown => valueIn(call.arguments)

/** The entry of a call in `tool_calls`, as far as the part says. */
const entryOf = (call: Message.ToolCall): Fields => ({ id: call.id, name: call.name, args: exactArgs(call) })

/** The block of a call in the content, as far as the part says. */
const callBlock = (call: Message.ToolCall, block: string): Fields => ({
  type: block,
  id: call.id,
  name: call.name,
  [block === "tool_use" ? "input" : "args"]: exactArgs(call),
})

/** A call, by its entry in `tool_calls` and its block in the content, if it has one. */
export const toCall = (entry: Fields, block?: Fields): Message.ToolCall => {
  const { id, name, args } = entry as { readonly [key: string]: unknown }
  const call: Message.ToolCall = {
    type: "tool-call",
    id: typeof id === "string" ? id : "",
    name: typeof name === "string" ? name : "",
    arguments: JSON.stringify(args ?? {}),
  }
  const kind = block?.["type"] === "tool_use" ? "tool_use" : "tool_call"
  return withForm(call, {
    call: patchOf(entry, entryOf(call)),
    ...(block === undefined ? {} : { block: kind, patch: patchOf(block, callBlock(call, kind)) }),
  })
}

/** The entry in `tool_calls` exactly as it came. */
export const exactEntry = (call: Message.ToolCall): Fields => ({ ...entryOf(call), ...partFormOf(call).call })

/** Whether a block is a call of a tool of the application. */
export const isCallBlock = (block: unknown): block is Fields =>
  isFields(block) && (block["type"] === "tool_use" || block["type"] === "tool_call")

/** Reasoning of OpenAI, which names an item of its own; encrypted reasoning is of no use without it. */
const isItem = (block: Fields): boolean =>
  ["id", "encrypted_content", "extras"].some((name) => Object.hasOwn(block, name))

const reasoningBlock = ({ text, signature }: Message.Reasoning, kind: string | undefined): Fields => ({
  ...(kind === "reasoning" ? { type: "reasoning", reasoning: text } : { type: "thinking", thinking: text }),
  ...(signature === undefined ? {} : { signature }),
})

const toReasoning = (block: Fields, kind: "thinking" | "reasoning"): Message.Part => {
  const { signature } = block as { readonly signature?: unknown }
  const text = block[kind]
  if (typeof text !== "string" || isItem(block)) return opaque(block, isItem(block))
  const part: Message.Reasoning = {
    type: "reasoning",
    text,
    ...(typeof signature === "string" ? { signature } : {}),
  }
  return withForm(part, { block: kind, patch: patchOf(block, reasoningBlock(part, kind)) })
}

/** A content block as a part. Calls are read by {@link toCall}, because their entry has the arguments. */
export const toPart = (block: unknown, type: WireType): Message.Part => {
  if (!isFields(block)) return opaque(block)
  const { type: kind, text } = block as Record<string, unknown>
  if (kind === "text" && typeof text === "string") {
    const part: Message.Text = { type: "text", text }
    return withForm(part, { patch: patchOf(block, part as Fields) })
  }
  if (type === "system") return opaque(block)
  if (type === "ai") {
    if (kind === "thinking" || kind === "reasoning") return toReasoning(block, kind)
    if (kind === "redacted_thinking") return opaque(block, true)
  }
  return toFile(block) ?? opaque(block)
}

/** The content block of a part exactly as it came; `undefined` if the part came without a block. */
export const exactBlock = (part: Message.Part): unknown => {
  const { block, patch } = partFormOf(part)
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...patch }
    case "reasoning":
      return { ...reasoningBlock(part, block), ...patch }
    case "file":
      return exactFile(part)
    case "tool-call":
      return block === undefined ? undefined : { ...callBlock(part, block), ...patch }
    case "tool-result":
      return undefined
    case "opaque":
      return block === "kwargs" ? undefined : ownData(part)
  }
}

/** The block of a text as a model gets it. */
export const sentText = (part: Message.Text): Fields => ({
  ...partFormOf(part).patch,
  type: "text",
  text: part.text,
})

/** The block of reasoning as a model gets it. */
export const sentReasoning = (part: Message.Reasoning): Fields => {
  const { block, patch } = partFormOf(part)
  return { ...patch, ...reasoningBlock(part, block) }
}

/** The block of a call as a model gets it, under the id that is sent; `undefined` for a call that has none. */
export const sentCallBlock = (call: Message.ToolCall, id: string): Fields | undefined => {
  const { block, patch } = partFormOf(call)
  if (block === undefined) return undefined
  const known = {
    ...callBlock(call, block),
    id,
    [block === "tool_use" ? "input" : "args"]: argumentsOf(call.arguments),
  }
  return { ...patch, ...known }
}
