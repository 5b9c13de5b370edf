/** The conversations of LoCoMo: two people over many days, with questions and the messages that answer them. */
import { Message } from "@memfold/core"
import type { Conversation, Question } from "../Conversation.js"
import { type Fields, isFields, type ReadConversation, unreadable } from "./fields.js"

interface Utterance {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
}

/** `1:56 pm on 8 May, 2023`, in milliseconds since the epoch; `NaN` if it is not of that form. */
const timeOf = (text: string): number => {
  const [, hour, minute, half, day, month, year] =
    /(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)/.exec(text) ?? []
  return Date.parse(`${day} ${month} ${year} ${(Number(hour) % 12) + (half === "pm" ? 12 : 0)}:${minute} UTC`)
}

export const isLocomo = (value: unknown): value is Fields =>
  isFields(value) && isFields(value["conversation"]) && Array.isArray(value["qa"])

/**
 * The questions whose answers are in the words of the conversation: several places, temporal, one place. Open questions are answered
 * with what everybody knows, and adversarial ones have no answer.
 */
const answeredByWords: ReadonlySet<unknown> = new Set([1, 2, 4])

const isSaid = (value: unknown): value is Utterance =>
  isFields(value) && ["speaker", "dia_id", "text"].every((name) => typeof value[name] === "string")

/** The messages of a conversation, and the questions whose evidence is in it. */
export const readLocomo = (stored: Fields, position: number): ReadConversation => {
  const conversation = stored["conversation"] as Fields
  const messages: Array<Message.Message> = []
  const ends: Array<number> = []
  const at = new Map<string, number>()
  for (let session = 1; Array.isArray(conversation[`session_${session}`]); session++) {
    const said: ReadonlyArray<unknown> = conversation[`session_${session}`] as ReadonlyArray<unknown>
    const time = timeOf(String(conversation[`session_${session}_date_time`]))
    if (Number.isNaN(time))
      return unreadable(position, `session_${session}_date_time is not a time like "1:56 pm on 8 May, 2023"`)
    for (const one of said) {
      if (!isSaid(one))
        return unreadable(position, `session_${session} has a message without "speaker", "dia_id" and "text"`)
      at.set(one.dia_id, messages.length)
      const author = one.speaker === conversation["speaker_a"] ? Message.user : Message.assistant
      messages.push(author(one.text, { name: one.speaker, time }))
    }
    ends.push(messages.length)
  }
  if (messages.length === 0) return unreadable(position, 'it has no messages in "session_1"')
  const questions = (stored["qa"] as ReadonlyArray<unknown>).flatMap((one): ReadonlyArray<Question> => {
    if (!isFields(one) || typeof one["question"] !== "string") return []
    const evidence: ReadonlyArray<unknown> = Array.isArray(one["evidence"]) ? one["evidence"] : []
    const ids = evidence.flatMap((ids) => String(ids).split(/[;\s]+/))
    const found = new Set(ids.flatMap((id) => at.get(id) ?? []))
    const { answer, category, question: text } = one
    const hasAnswer =
      answeredByWords.has(category) && (typeof answer === "string" || typeof answer === "number")
    return found.size === 0
      ? []
      : [{ text, evidence: [...found], ...(hasAnswer ? { answer: String(answer) } : {}) }]
  })
  const name = typeof stored["sample_id"] === "string" ? stored["sample_id"] : String(position)
  return { conversation: { name, messages, questions, ends } satisfies Conversation }
}
