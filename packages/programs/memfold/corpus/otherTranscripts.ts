/**
 * Conversations of data sets that the command line does not read: chats of two people over many sessions (LoCoMo), and long
 * histories (LongMemEval).
 */
import { Message } from "@memfold/core"
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

/** The conversations of a file; none if it is of no kind known here. */
export const otherConversations = (file: string): ReadonlyArray<ReadonlyArray<Message.Message>> => {
  if (!file.endsWith(".json")) return []
  return listOf(JSON.parse(readFileSync(file, "utf8")))
    .map(fieldsOf)
    .flatMap(({ conversation, haystack_sessions: sessions }) => [
      ...(conversation === undefined ? [] : [ofTwoPeople(fieldsOf(conversation))]),
      ...(sessions === undefined ? [] : [history(sessions)]),
    ])
}
