/**
 * Conversations of files that the command line does not read: chats of two people over many sessions (LoCoMo), long
 * histories (LongMemEval), and records of coding agents, in the message format of their provider.
 */
import { decodeMessage } from "@memfold/anthropic"
import { Message } from "@memfold/core"
import { Responses } from "@memfold/openai"
import { responsesViolations } from "@memfold/strict-providers"
import { Either } from "effect"
import { readFileSync } from "node:fs"

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const spoken = (role: unknown, text: unknown): Message.Message =>
  role === "assistant" ? Message.assistant(String(text)) : Message.user(String(text))

/** A conversation of two people: the second one is the assistant. */
const ofTwoPeople = (conversation: Fields): ReadonlyArray<Message.Message> =>
  Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .toSorted((a, b) => Number(a.slice(8)) - Number(b.slice(8)))
    .flatMap((key) => listOf(conversation[key]).map(fieldsOf))
    .map(({ speaker, text }) => spoken(speaker === conversation["speaker_b"] ? "assistant" : "user", text))

const history = (sessions: unknown): ReadonlyArray<Message.Message> =>
  listOf(sessions)
    .flatMap(listOf)
    .map(fieldsOf)
    .map(({ role, content }) => spoken(role, content))

/** Whether the Responses API would have taken this item. The samples have parts that it takes nowhere. */
const couldBeSent = (item: unknown): boolean =>
  !responsesViolations({ model: "m", input: [item] }).some(({ rule }) => rule.endsWith("-type"))

/** A line of a record: a message of the Messages API, or an item of the Responses API. */
const recorded = (line: string): ReadonlyArray<Message.Message> => {
  const { type, message, payload, isSidechain } = fieldsOf(JSON.parse(line))
  if (isSidechain === true) return []
  if (message !== undefined) return Either.getOrElse(decodeMessage(message), () => [])
  if (type !== "response_item" || !couldBeSent(payload)) return []
  return Either.getOrElse(Responses.decodeItems([payload]), () => [])
}

/** The conversations of a file; none if it is of no kind known here. */
export const otherConversations = (file: string): ReadonlyArray<ReadonlyArray<Message.Message>> => {
  const text = readFileSync(file, "utf8")
  if (file.endsWith(".jsonl")) {
    return [text.split("\n").flatMap((line) => (line.trim() === "" ? [] : recorded(line)))]
  }
  return listOf(JSON.parse(text))
    .map(fieldsOf)
    .flatMap(({ conversation, haystack_sessions: sessions }) => [
      ...(conversation === undefined ? [] : [ofTwoPeople(fieldsOf(conversation))]),
      ...(sessions === undefined ? [] : [history(sessions)]),
    ])
}
