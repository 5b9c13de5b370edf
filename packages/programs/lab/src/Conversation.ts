/** Conversations to replay: messages, and where a data set has them, questions with the messages that answer them. */
import type { Message } from "@memfold/core"

/** A question, with the indexes of the messages that answer it. */
export interface Question {
  readonly text: string
  /** The answer that is expected, if it is in the words of the conversation: see `Answered.answers`. */
  readonly answer?: string
  readonly evidence: ReadonlyArray<number>
}

/** A conversation. */
export interface Conversation {
  /** Its name in reports. */
  readonly name: string
  readonly messages: ReadonlyArray<Message.Message>
  /** The questions whose evidence is in the messages; none for a transcript. */
  readonly questions: ReadonlyArray<Question>
  /** How many messages there are at the end of each day on which they talked; none for a transcript. */
  readonly ends: ReadonlyArray<number>
}

/**
 * A transcript as a conversation without questions.
 *
 * @param name - Its name in reports.
 * @param messages - The messages; their times, where given, say how fast the conversation went.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { ofTranscript } from "@memfold/lab"
 *
 * const chat = ofTranscript("chat", [Message.user("Hello"), Message.assistant("Hello to you")])
 * ```
 */
export const ofTranscript = (name: string, messages: ReadonlyArray<Message.Message>): Conversation => ({
  name,
  messages,
  questions: [],
  ends: [],
})

/** The questions are asked after every ten days with messages, and at the end. */
const everyDays = 10

/** After how many messages the questions of a conversation are asked. */
export const askedIn = ({ ends, questions }: Conversation): ReadonlyArray<number> =>
  questions.length === 0
    ? []
    : ends.filter((_, day) => (day + 1) % everyDays === 0 || day === ends.length - 1)

/** Whether all that answers a question is in the first `total` messages. */
export const isAnswered = ({ evidence }: Question, total: number): boolean =>
  evidence.every((index) => index < total)
