/**
 * ShareGPT: conversations whose turns have `from` and `value`, as a list, one conversation, or one per line. A call of a
 * tool is a turn `function_call`, its result the turn `observation` or `tool` behind it; they have no ids, so that they get
 * new ones. `system` and `tools` beside the turns are kept: the one is the first message, the other in its metadata.
 */
import { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import type { Said } from "./EntryFormat.js"
import { readerOf, wholeLogs } from "./Log.js"
import { argumentsOf, recorded, result, timeAt } from "./parts.js"
import { isObject, type JsonObject, objectsOf, type Row, valueOr } from "./source.js"

const roles: Readonly<Record<string, Message.Role | "call">> = {
  system: "system",
  human: "user",
  user: "user",
  gpt: "assistant",
  chatgpt: "assistant",
  assistant: "assistant",
  bing: "assistant",
  bard: "assistant",
  function_call: "call",
  observation: "tool",
  tool: "tool",
  function_response: "tool",
}

const readConversation = Field.reads({
  conversations: Field.any,
  conversation: Field.any,
  system: Field.text,
  tools: Field.any,
})

const turnsOf = (value: unknown): ReadonlyArray<unknown> | undefined => {
  const { conversations, conversation } = readConversation(value)
  const turns = [conversations, conversation].find(Array.isArray) as ReadonlyArray<unknown> | undefined
  return turns?.some((turn) => isObject(turn) && "from" in turn && "value" in turn) === true
    ? turns
    : undefined
}

interface Called {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** A turn, with the calls that it makes, the call that it answers, and the tools of the conversation if it is the first. */
interface Turn {
  readonly fields: JsonObject
  readonly role: Message.Role | "call" | undefined
  readonly calls: ReadonlyArray<Called>
  readonly answers: Called | undefined
  readonly tools?: unknown
}

/** The calls of a turn: `{ "name", "arguments" }`, or a list of them. */
const callsOf = (value: unknown, first: number): ReadonlyArray<Called> => {
  const parsed = typeof value === "string" ? valueOr(value, null) : value
  return [parsed]
    .flat()
    .filter((one): one is JsonObject => isObject(one) && typeof one["name"] === "string")
    .map((call, index) => ({
      id: `call-${first + index}`,
      name: String(call["name"]),
      arguments: argumentsOf(call["arguments"] ?? call["parameters"]),
    }))
}

/** The turns of a conversation; a result answers the oldest call that has none. */
const rowsOf = (conversation: JsonObject): ReadonlyArray<Row<Turn>> => {
  const { system, tools } = readConversation(conversation)
  const open: Array<Called> = []
  let made = 0
  const instructions = system === undefined ? [] : [{ from: "system", value: system }]
  return [...instructions, ...(turnsOf(conversation) ?? [])].map((turn, at) => {
    const fields = isObject(turn) ? turn : {}
    const { from, value } = fields
    const role = typeof from === "string" && Object.hasOwn(roles, from) ? roles[from] : undefined
    const calls = role === "call" ? callsOf(value, made + 1) : []
    made += calls.length
    open.push(...calls)
    const answers = role === "tool" ? open.shift() : undefined
    const index = at - instructions.length
    return { index, value: { fields, role, calls, answers, ...(at === 0 ? { tools } : {}) } }
  })
}

const says = ({ fields, role, calls, answers, tools }: Turn): Said =>
  Either.gen(function* () {
    const { from, value } = fields
    if (role === undefined) {
      const problem = `has ${from === undefined ? "no" : "an unknown"} role at from`
      return yield* Either.left({ problem, allowed: Object.keys(roles).join(", ") })
    }
    const time = yield* timeAt(fields, "timestamp")
    if (role === "call" && calls.length === 0) {
      const allowed = 'JSON with "name" and "arguments"'
      return yield* Either.left({ problem: "has no call at value", allowed })
    }
    if (role !== "call" && role !== "tool" && typeof value !== "string")
      return yield* Either.left({ problem: "has no text at value", allowed: "a text" })
    const text = Field.written(value)
    const message: Message.Message =
      role === "call"
        ? Message.call(calls)
        : role !== "tool"
          ? { role, parts: [{ type: "text", text }] }
          : answers === undefined
            ? // An answer without a call, as where the call is words of the assistant, is what the user's side said.
              Message.user(text, { name: "tool" })
            : { role, parts: [result(answers, text)] }
    const kept = tools === undefined || tools === null || tools === "" ? {} : { tools }
    return [recorded(message, { time, ...kept })]
  })

export const reader = readerOf<Turn>({
  noun: "turn",
  recognizes: (source) => objectsOf(source).some((value) => turnsOf(value) !== undefined),
  says: ([turn]) => says(turn),
  logs: (source) =>
    wholeLogs(source, (value) => (turnsOf(value) === undefined ? undefined : { rows: rowsOf(value) }), {
      problem: "the file holds no conversations",
      allowed: 'objects with "conversations": turns with "from" and "value"',
    }),
})
