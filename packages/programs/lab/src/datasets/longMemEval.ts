/**
 * The histories of LongMemEval: dated chats of a user with an assistant, with a question (or a list of them) and the
 * chats that answer it.
 */
import { Message } from "@memfold/core"
import type { Conversation, Question } from "../Conversation.js"
import { type Fields, isFields, type ReadConversation, unreadable } from "./fields.js"

/** `2023/07/12 (Wed) 10:14`, in milliseconds since the epoch; `NaN` if it is not of that form. */
const timeOf = (text: string): number => {
  const [, year, month, day, hour, minute] =
    /^(\d{4})\/(\d{2})\/(\d{2}) \(\w+\) (\d{2}):(\d{2})$/.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}Z`)
}

export const isLongMemEval = (value: unknown): value is Fields =>
  isFields(value) && Array.isArray(value["haystack_sessions"])

interface Turn {
  readonly role: "user" | "assistant"
  readonly content: string
  readonly has_answer?: boolean
}

const isTurn = (value: unknown): value is Turn =>
  isFields(value) &&
  (value["role"] === "user" || value["role"] === "assistant") &&
  typeof value["content"] === "string"

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** The questions, each with the ids of the chats that answer it; in the original, one question with a list of ids. */
const asked = (
  stored: Fields,
): ReadonlyArray<{
  readonly text: string
  readonly answer: unknown
  readonly ids: ReadonlyArray<unknown>
}> => {
  const ids = listOf(stored["answer_session_ids"])
  const { question: text, answer } = stored
  if (typeof text === "string") return [{ text, answer, ids }]
  const answers = listOf(stored["answers"])
  return listOf(stored["questions"]).map((one, at) => ({
    text: String(one),
    answer: answers[at],
    ids: listOf(ids[at]),
  }))
}

/** The messages of a history in the order of their dates, and the questions that can be answered from it. */
export const readLongMemEval = (stored: Fields, position: number): ReadConversation => {
  const ids = listOf(stored["haystack_session_ids"])
  const dates = listOf(stored["haystack_dates"])
  const chats = listOf(stored["haystack_sessions"]).map((turns, at) => ({
    id: ids[at],
    time: timeOf(String(dates[at])),
    turns: listOf(turns),
  }))
  const messages: Array<Message.Message> = []
  const ends: Array<number> = []
  const evidence = new Map<unknown, ReadonlyArray<number>>()
  for (const { id, time, turns } of chats.toSorted((one, other) => one.time - other.time)) {
    if (Number.isNaN(time))
      return unreadable(
        position,
        'a date of "haystack_dates" is missing or not like "2023/07/12 (Wed) 10:14"',
      )
    const from = messages.length
    const answering: Array<number> = []
    for (const turn of turns) {
      if (!isTurn(turn))
        return unreadable(position, `chat "${String(id)}" has a message without a role and a text`)
      if (turn.has_answer === true) answering.push(messages.length)
      messages.push((turn.role === "user" ? Message.user : Message.assistant)(turn.content, { time }))
    }
    ends.push(messages.length)
    // Where no message is marked, the whole chat is the evidence.
    evidence.set(id, answering.length > 0 ? answering : turns.map((_, at) => from + at))
  }
  if (messages.length === 0) return unreadable(position, 'it has no messages in "haystack_sessions"')
  const name = typeof stored["question_id"] === "string" ? stored["question_id"] : String(position)
  // Nothing in the history answers a question of abstention.
  const answerable = name.endsWith("_abs") ? [] : asked(stored)
  const questions = answerable.flatMap(({ text, answer, ids }): ReadonlyArray<Question> => {
    const found = [...new Set(ids.flatMap((id) => evidence.get(id) ?? []))]
    const hasAnswer = typeof answer === "string" || typeof answer === "number"
    return found.length === 0
      ? []
      : [{ text, evidence: found, ...(hasAnswer ? { answer: String(answer) } : {}) }]
  })
  return { conversation: { name, messages, questions, ends } satisfies Conversation }
}
