/**
 * ShareGPT: conversations whose turns have `from` and `value`, as a list, one conversation, or one per line. A call of a
 * tool is a turn `function_call`, its result the turn `observation` or `tool` behind it; they have no ids, so that they get
 * new ones. `system` and `tools` beside the turns are kept: the one is the first message, the other in its metadata.
 */
import { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf } from "./chat.js"
import {
  argumentsOf,
  type StoredConversation,
  listOf,
  nothing,
  objectOf,
  objectsOf,
  readEach,
  type Reader,
  single,
  textOf,
  timeAt,
  recorded,
  written,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

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

const turnsOf = (value: unknown): ReadonlyArray<unknown> | undefined => {
  const { conversations, conversation } = objectOf(value)
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

/** The calls of a turn: `{ "name", "arguments" }`, or a list of them. */
const callsOf = (value: unknown, first: number): ReadonlyArray<Called> => {
  const parsed =
    typeof value === "string" ? Either.getOrNull(Either.try(() => JSON.parse(value) as unknown)) : value
  const calls = (Array.isArray(parsed) ? parsed : [parsed]).filter(isObject)
  const named = calls.filter(({ name }) => typeof name === "string")
  return named.map((call, index) => ({
    id: `call-${first + index}`,
    name: String(call["name"]),
    arguments: argumentsOf(call["arguments"] ?? call["parameters"]),
  }))
}

const read = (conversation: JsonObject, broken: Problem | undefined) => {
  const turns = turnsOf(conversation) ?? []
  const { system, tools } = conversation
  const open: Array<Called> = []
  let calls = 0
  const turnOf = (turn: unknown, index: number): Either.Either<ReadonlyArray<Message.Message>, Problem> =>
    Either.gen(function* () {
      const { from, value } = objectOf(turn)
      const role = typeof from === "string" && Object.hasOwn(roles, from) ? roles[from] : undefined
      if (role === undefined) {
        const problem = `turn ${index} has ${from === undefined ? "no" : "an unknown"} role at from`
        return yield* Either.left({ problem, allowed: Object.keys(roles).join(", ") })
      }
      const time = yield* timeAt(objectOf(turn), "timestamp")
      if (role === "call") {
        const made = callsOf(value, calls + 1)
        if (made.length === 0) {
          const problem = `turn ${index} has no call at value`
          return yield* Either.left({ problem, allowed: 'JSON with "name" and "arguments"' })
        }
        calls += made.length
        open.push(...made)
        return [recorded(Message.call(made), { time })]
      }
      if (typeof value !== "string" && role !== "tool") {
        return yield* Either.left({ problem: `turn ${index} has no text at value`, allowed: "a text" })
      }
      const text = written(value)
      if (role !== "tool") return [recorded({ role, parts: [{ type: "text", text }] }, { time })]
      const call = open.shift()
      // An answer without a call, as where the call is words of the assistant, is what the user's side said.
      return call === undefined
        ? [recorded(Message.user(text, { name: "tool" }), { time })]
        : [recorded(Message.result({ id: call.id, name: call.name, output: text }), { time })]
    })
  const instructed = textOf(system) === undefined ? [] : [{ from: "system", value: system }]
  const reading = readEach(
    [...instructed, ...turns],
    (turn, index) => turnOf(turn, index - instructed.length),
    broken,
  )
  const [first, ...rest] = reading.messages
  if (tools === undefined || tools === null || tools === "" || first === undefined) return reading
  const metadata = { ...first.metadata, transcript: { ...objectOf(first.metadata?.["transcript"]), tools } }
  return { ...reading, messages: [{ ...first, metadata }, ...rest] }
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  const all = objectsOf(source).filter((value) => turnsOf(value) !== undefined)
  if (all.length > 0) {
    // What is broken behind the last whole line is a conversation that nobody can read.
    const broken = brokenOf(source)
    const end = broken === undefined ? [] : [{ read: () => nothing(broken) }]
    return [...all.map((value) => ({ read: () => read(value, undefined) })), ...end]
  }
  return single(() =>
    nothing({
      problem: "the file holds no conversations",
      allowed: 'objects with "conversations": turns with "from" and "value"',
    }),
  )
}

export const reader: Reader = {
  recognizes: (source) => listOf(objectsOf(source)).some((value) => turnsOf(value) !== undefined),
  find,
}
