/** Servers that speak Chat Completions and refuse what OpenAI takes. */
import type { ChatRule } from "./chatRules.js"
import { type Fields, fieldsOf, isFields, listOf } from "./json.js"
import type { Findings } from "./violation.js"

type Check = (messages: ReadonlyArray<Fields>, findings: Findings<ChatRule>) => void

const isCalling = ({ tool_calls: calls }: Fields): boolean => listOf(calls).length > 0

/** The conversation begins with the user, behind the system messages. */
const firstUser: Check = (messages, findings) => {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer")
  if (first !== -1 && messages[first]!["role"] !== "user")
    findings.add("first-user", `messages[${first}].role`)
}

/** Each message with calls has its reasoning; for some servers, an empty one is none. */
const reasoned =
  (takesEmpty: boolean): Check =>
  (messages, findings) => {
    for (const [index, message] of messages.entries()) {
      const { role, reasoning_content: text } = message
      const isThere = typeof text === "string" && (takesEmpty || text !== "")
      if (role === "assistant" && isCalling(message) && !isThere)
        findings.add(
          "reasoning-content",
          `messages[${index}]`,
          `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
        )
    }
  }

const isSigned = (call: unknown): boolean => {
  const { google } = fieldsOf(fieldsOf(call)["extra_content"])
  return typeof fieldsOf(google)["thought_signature"] === "string"
}

/** The first of the calls of a message has the signature of its thought. */
const signed: Check = (messages, findings) => {
  for (const [index, { tool_calls: calls }] of messages.entries()) {
    const [first] = listOf(calls)
    if (first !== undefined && !isSigned(first))
      findings.add("thought-signature", `messages[${index}].tool_calls[0]`)
  }
}

const order: Check = (messages, findings) => {
  for (const [index, { role }] of messages.entries()) {
    if (role === "user" && messages[index - 1]?.["role"] === "tool")
      findings.add("user-after-tool", `messages[${index}].role`)
  }
}

const callIds: Check = (messages, findings) => {
  for (const [index, { tool_calls: calls, tool_call_id: answered }] of messages.entries()) {
    const ids = [
      ...listOf(calls).map((call) => fieldsOf(call)["id"]),
      ...(answered == null ? [] : [answered]),
    ]
    for (const id of ids) {
      if (typeof id !== "string" || !/^[a-zA-Z0-9]{9}$/u.test(id))
        findings.add(
          "call-id-nine",
          `messages[${index}]`,
          `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
        )
    }
  }
}

const unnamed: Check = (messages, findings) => {
  for (const [index, { role, name }] of messages.entries())
    if (role !== "tool" && name != null) findings.add("field-unknown", `messages[${index}].name`)
}

const images =
  (most: number): Check =>
  (messages, findings) => {
    const parts = messages.flatMap(({ content }) => listOf(content))
    const count = parts.filter((part) => isFields(part) && part["type"] === "image_url").length
    if (count > most)
      findings.add(
        "image-count",
        "messages",
        `At most ${most} images may be provided in one request, found ${count}.`,
      )
  }

/** What each server refuses beyond OpenAI, and the fields that it takes beyond it. */
const rows = {
  any: { checks: [firstUser], fields: [] },
  anthropic: { checks: [firstUser, images(100)], fields: [] },
  bedrock: { checks: [firstUser, images(20)], fields: [] },
  deepseek: { checks: [firstUser, reasoned(true)], fields: ["reasoning_content"] },
  gemini: { checks: [firstUser, signed], fields: ["extra_content"] },
  groq: { checks: [firstUser, images(5)], fields: [] },
  kimi: { checks: [firstUser, reasoned(false)], fields: ["reasoning_content"] },
  mistral: { checks: [firstUser, order, callIds, unnamed, images(8)], fields: [] },
  openai: { checks: [images(500)], fields: [] },
  scaleway: { checks: [firstUser, images(12)], fields: [] },
} as const satisfies Record<
  string,
  { readonly checks: ReadonlyArray<Check>; readonly fields: ReadonlyArray<string> }
>

/** A server that speaks Chat Completions: OpenAI itself, one of these, or `any`, which has what nearly all of them want. */
export type ChatServer = keyof typeof rows

/** Fields of messages and calls that a server takes beyond the API. */
export const fieldsOfServer = (server: ChatServer): ReadonlySet<string> => new Set(rows[server].fields)

/** Finds what a server refuses beyond the API. */
export const serverProblems = (
  server: ChatServer,
  messages: ReadonlyArray<unknown>,
  findings: Findings<ChatRule>,
): void => {
  for (const check of rows[server].checks) check(messages.map(fieldsOf), findings)
}
