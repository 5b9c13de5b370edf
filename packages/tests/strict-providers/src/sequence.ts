/** A request as the sequence of what its reasoning is bound to, for each API that binds it. */
import { blocksOf, isThinking } from "./anthropicTurns.js"
import { type Fields, fieldsOf, isFields, listOf } from "./json.js"

/**
 * One step of a conversation.
 *
 * - `content`: something that reasoning after it is bound to
 * - `reasoning`: its text (as the signature covers it) and its signature
 * - `compaction`: what the provider itself put in place of earlier steps
 */
export type Step = { readonly path: string; readonly role: string } & (
  | { readonly kind: "content"; readonly value: unknown }
  | { readonly kind: "reasoning"; readonly text: string; readonly signature: unknown }
  | { readonly kind: "compaction"; readonly signature: unknown }
)

/** What comes before everything else, and then step after step. */
export interface Sequence {
  readonly opening: unknown
  readonly steps: ReadonlyArray<Step>
}

/** The value without what the check does not look at. */
const counted = (block: Fields): unknown => {
  const { cache_control: _, prompt_cache_breakpoint: __, ...rest } = block
  return Array.isArray(rest["content"])
    ? { ...rest, content: rest["content"].map((inner) => (isFields(inner) ? counted(inner) : inner)) }
    : rest
}

const loaded = (tools: unknown): ReadonlyArray<unknown> =>
  listOf(tools)
    .map(fieldsOf)
    .filter((tool) => tool["defer_loading"] !== true)
    .map(counted)

const blockStep = (block: Fields, path: string, role: string): Step => {
  if (block["type"] === "compaction") {
    return { path, role, kind: "compaction", signature: block["signature"] ?? block["encrypted_content"] }
  }
  if (!isThinking(block)) return { path, role, kind: "content", value: counted(block) }
  const redacted = block["type"] === "redacted_thinking"
  return {
    path,
    role,
    kind: "reasoning",
    text: redacted ? "" : String(block["thinking"]),
    signature: redacted ? block["data"] : block["signature"],
  }
}

/** A request to the Messages API: `system` and `tools`, then block after block. */
export const messagesSequence = (request: unknown): Sequence => {
  const { system, tools, messages } = fieldsOf(request)
  return {
    opening: [blocksOf(system).map(counted), loaded(tools)],
    steps: listOf(messages).flatMap((message, index) => {
      const { role, content } = fieldsOf(message)
      return blocksOf(content).map((block, position) =>
        blockStep(block, `messages.${index}.content.${position}`, String(role)),
      )
    }),
  }
}

/** The texts of a message of the Responses API, whichever of its two forms it has. */
const said = ({ role, content }: Fields): unknown => [
  role,
  typeof content === "string"
    ? [content]
    : listOf(content)
        .map(fieldsOf)
        .map((part) => part["text"] ?? counted(part)),
]

const itemStep = (item: Fields, path: string): Step => {
  const role = String(item["role"] ?? item["type"])
  switch (item["type"]) {
    case "reasoning": {
      const text = listOf(item["summary"]).map((part) => String(fieldsOf(part)["text"]))
      return { path, role, kind: "reasoning", text: text.join("\n"), signature: item["encrypted_content"] }
    }
    case "compaction":
      return { path, role, kind: "compaction", signature: item["encrypted_content"] }
    case "message":
    case undefined:
      return { path, role, kind: "content", value: said(item) }
    default: {
      const { id: _, status: __, ...value } = item
      return { path, role, kind: "content", value: counted(value) }
    }
  }
}

/**
 * A request to the Responses API: `tools` and `text.format`, then item after item
 * (https://developers.openai.com/api/docs/guides/keep-prefix-unchanged). `instructions` are for one turn and do not count.
 */
export const responsesSequence = (request: unknown): Sequence => {
  const { tools, text, input } = fieldsOf(request)
  const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input).map(fieldsOf)
  return {
    opening: [loaded(tools), fieldsOf(text)["format"] ?? null],
    steps: items.map((item, index) => itemStep(item, `input[${index}]`)),
  }
}
