/** The conversations of LoCoMo, with the questions that can be answered from them. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Message } from "@memfold/core"

interface Said {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
}

interface Stored {
  readonly conversation: Readonly<Record<string, unknown>>
  readonly qa: ReadonlyArray<{ readonly question: string; readonly evidence?: ReadonlyArray<string> }>
}

/** A question, with the indexes of the messages that answer it. */
export interface Question {
  readonly text: string
  readonly evidence: ReadonlyArray<number>
}

/** A conversation over many days. */
export interface Conversation {
  readonly messages: ReadonlyArray<Message.Message>
  readonly questions: ReadonlyArray<Question>
  /** How many messages there are at the end of each day on which they talked. */
  readonly ends: ReadonlyArray<number>
}

/** `1:56 pm on 8 May, 2023`, in milliseconds since the epoch. */
const timeOf = (text: string): number => {
  const [, hour, minute, half, day, month, year] =
    /(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)/.exec(text) ?? []
  return Date.parse(`${day} ${month} ${year} ${(Number(hour) % 12) + (half === "pm" ? 12 : 0)}:${minute} UTC`)
}

/** The messages of a conversation, and the questions whose evidence is in it. */
const read = ({ conversation, qa }: Stored): Conversation => {
  const messages: Array<Message.Message> = []
  const ends: Array<number> = []
  const at = new Map<string, number>()
  for (let session = 1; Array.isArray(conversation[`session_${session}`]); session++) {
    const time = timeOf(String(conversation[`session_${session}_date_time`]))
    for (const { speaker, dia_id, text } of conversation[`session_${session}`] as ReadonlyArray<Said>) {
      at.set(dia_id, messages.length)
      const author = speaker === conversation["speaker_a"] ? Message.user : Message.assistant
      messages.push(author(text, { name: speaker, time }))
    }
    ends.push(messages.length)
  }
  const questions = qa.flatMap(({ question, evidence = [] }): ReadonlyArray<Question> => {
    const found = new Set(evidence.flatMap((ids) => ids.split(/[;\s]+/)).flatMap((id) => at.get(id) ?? []))
    return found.size === 0 ? [] : [{ text: question, evidence: [...found] }]
  })
  return { messages, questions, ends }
}

/** The conversations in the folder of the data sets; `null`, after a line that says so, if they are not there. */
export const conversations = (): ReadonlyArray<Conversation> | null => {
  const file = join(process.env["MEMFOLD_DATA"] ?? "../shared/data", "locomo/conversations.json")
  if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as ReadonlyArray<Stored>).map(read)
  console.log(`\nRemember: skipped, there is no ${file}; set MEMFOLD_DATA to the folder of the data sets`)
  return null
}
