/**
 * Messages of Chat Completions and of Anthropic Messages: a list, an object with `messages`, or one per line; with optional
 * times. Also the trajectories of tau-bench and SWE-agent, which are Chat Completions.
 */
import { decodeMessage as decodeAnthropic, decodeMessages } from "@memfold/anthropic"
import { decodeMessage as decodeOpenAI } from "@memfold/openai"
import type { Message } from "@memfold/core"
import { Either, Option } from "effect"
import type { EntryFormat, Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import { timeAt } from "./parts.js"
import { isObject, type JsonObject, type Problem, type Row, rowsOf, type Source } from "./source.js"

/** The messages of a file: a list, the `messages` of an object, a single message, or one per line. */
export const messagesIn = ({ document, rows }: Source): Either.Either<ReadonlyArray<Row>, Problem> => {
  if (document === undefined) return Either.right(rows)
  const list = isObject(document) ? document["messages"] : document
  if (Array.isArray(list)) return Either.right(rowsOf(list))
  return isObject(document) && "role" in document
    ? Either.right(rowsOf([document]))
    : Either.left({
        problem: "the file holds no messages",
        allowed: 'a list of messages, an object with "messages", or one message a line',
      })
}

/** The one log of a file with messages. */
export const logIn = (source: Source) =>
  Either.map(messagesIn(source), (rows) => [{ rows, broken: source.broken }])

/** Whether one of the messages of a file is such a value. */
export const hasMessage =
  (is: (value: unknown) => boolean) =>
  (source: Source): boolean =>
    Option.exists(Either.getRight(messagesIn(source)), (rows) => rows.some(({ value }) => is(value)))

/** Reads a message whose time, which no codec knows, is at `time`, or else at `timestamp`. */
const timed = (value: unknown, decode: (value: unknown) => Said): Said => {
  const field = ["time", "timestamp"].find((one) => isObject(value) && (value[one] ?? null) !== null)
  if (field === undefined) return decode(value)
  const { [field]: _, ...message } = value as JsonObject
  return Either.flatMap(timeAt(value as JsonObject, field), (time) =>
    Either.map(decode(message), (all) => all.map((one) => ({ ...one, time: time! }))),
  )
}

/** A message as Anthropic has it: Roo calls the thoughts of other models `reasoning`. */
const asAnthropic = (value: unknown): unknown => {
  if (!isObject(value) || !Array.isArray(value["content"])) return value
  const content = value["content"].map((block: unknown) =>
    isObject(block) && block["type"] === "reasoning" && typeof block["text"] === "string"
      ? { type: "thinking", thinking: block["text"] }
      : block,
  )
  return { ...value, content }
}

/** Decodes one message of Chat Completions. */
export const decodeChat = (value: unknown) =>
  Either.map(decodeOpenAI(value), (message): readonly [Message.Message] => [message])

const chat: EntryFormat<unknown> = { says: ([value]) => timed(value, decodeChat) }

export const openai = (recognizes: (source: Source) => boolean) =>
  readerOf<unknown>({ ...chat, recognizes, logs: logIn })

/** The instructions: the field `system` of a request, or a message before the conversation. Later ones stay in their place. */
interface AnthropicEntry {
  readonly place: "field" | "start" | "conversation"
  readonly value: unknown
}

const instructions = (system: unknown) => decodeMessages({ system, messages: [] })

const anthropicSays = ({ place, value }: AnthropicEntry): Said => {
  if (place === "field")
    return Either.mapLeft(instructions(value), (wrong) => ({ ...wrong, subject: "the file" }))
  return timed(asAnthropic(value), (message) =>
    Either.flatMap(decodeAnthropic(message), (decoded) =>
      place === "start" ? instructions((message as JsonObject)["content"]) : Either.right(decoded),
    ),
  )
}

const isSystem = (value: unknown): boolean => isObject(value) && value["role"] === "system"

export const anthropic = (recognizes: (source: Source) => boolean) =>
  readerOf<AnthropicEntry>({
    recognizes,
    says: ([entry]) => anthropicSays(entry),
    logs: (source) =>
      Either.map(messagesIn(source), (rows) => {
        const { document } = source
        const isRequest = isObject(document) && Array.isArray(document["messages"])
        const system = isRequest ? document["system"] : undefined
        const first = rows.findIndex(({ value }) => !isSystem(value))
        const begin = first === -1 ? rows.length : first
        const placed = rows.map((row, index) => ({
          ...row,
          value: { place: index < begin ? ("start" as const) : ("conversation" as const), value: row.value },
        }))
        return [{ rows: [{ value: { place: "field", value: system } }, ...placed], broken: source.broken }]
      }),
  })

/** Trajectories of tau-bench in a list, each with its messages in `traj`. */
const trajectories = ({
  document,
}: Source): ReadonlyArray<JsonObject & { readonly traj: Array<unknown> }> => {
  const found = [document].flat()
  return found.every((one): one is JsonObject & { readonly traj: Array<unknown> } =>
    Array.isArray(isObject(one) ? one["traj"] : undefined),
  )
    ? found
    : []
}

export const tauBench = readerOf<unknown>({
  ...chat,
  // The task, as the one who plays the user was given it.
  notSaid: ["info"],
  recognizes: (source) => trajectories(source).length > 0,
  logs: (source) => {
    const all = trajectories(source)
    return all.length > 0
      ? Either.right(all.map((value, index) => ({ rows: rowsOf(value.traj), raw: [{ value, index }] })))
      : Either.left({
          problem: "the file holds no trajectories",
          allowed: 'a JSON list of objects with "traj"',
        })
  },
})

/**
 * The messages of a trajectory of SWE-agent, or of mini-SWE-agent. Of their own fields, only the ids of answered calls are read; thought and
 * action are also in the content.
 */
const historyOf = ({ document }: Source): ReadonlyArray<unknown> | undefined => {
  const { history, messages, trajectory_format: mini } = isObject(document) ? document : {}
  const all = typeof mini === "string" && mini.startsWith("mini-swe-agent") ? messages : history
  // Other programs have a history, too.
  return Array.isArray(all) && all.some((one) => isObject(one) && "role" in one) ? all : undefined
}

/** A tool message of SWE-agent lists the ids of the calls that it answers; there is always one. */
const asChat = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { role, content, tool_calls, reasoning_content, tool_call_id, tool_call_ids: ids } = value
  const [id = tool_call_id] = Array.isArray(ids) ? (ids as ReadonlyArray<unknown>) : []
  return { role, content, tool_calls, reasoning_content, tool_call_id: id }
}

/** What ends a run of mini-SWE-agent, such as the patch that it hands in: no model was told it. */
const isExit = (value: unknown): boolean => isObject(value) && value["role"] === "exit"

export const sweAgent = readerOf<unknown>({
  ...chat,
  isSaid: (value) => !isExit(value),
  // What the run was set to, what it had open, and what each step was asked with, which the history has. An action is what the program
  // read in the content. The trajectory is the same run once more, but has what ends it, and answers that were asked for again.
  notSaid: ["info", "environment", "replay_config", "action", "trajectory[].state", "trajectory[].query"],
  recognizes: (source) => historyOf(source) !== undefined,
  logs: (source) =>
    Either.fromNullable(historyOf(source), () => ({
      problem: "the file holds no trajectory",
      allowed: 'a JSON object with "history"',
    })).pipe(Either.map((history) => [{ rows: rowsOf(history.map(asChat)) }])),
})
