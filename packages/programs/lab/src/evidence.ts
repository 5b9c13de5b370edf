/** What of the sentences that answer a question stands in a text. */
import { Message, TokenCounter } from "@memfold/core"
import type { Conversation, Question } from "./Conversation.js"

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

/** The sentences of a text. */
const sentencesOf = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment.trim()).filter((one) => one !== "")

/** The sentences that answer a question. */
export const wantedOf = (
  { messages }: Pick<Conversation, "messages">,
  { evidence }: Question,
): ReadonlyArray<string> =>
  evidence.flatMap((index) => sentencesOf(Message.text(messages[index] ?? { role: "user", parts: [] })))

/** The share of what is true, from 0 to 1; of nothing, nothing is missing. */
export const share = (which: ReadonlyArray<boolean>): number =>
  which.length === 0 ? 1 : which.filter(Boolean).length / which.length

/** The texts of messages, one per line. */
export const textOf = (messages: ReadonlyArray<Message.Message>): string =>
  messages.map(Message.text).join("\n")

/** The newest messages that fit into a number of tokens. */
export const newestWithin = (messages: ReadonlyArray<Message.Message>, tokens: number): string => {
  let from = messages.length
  for (let left = tokens; from > 0; from--) {
    left -= TokenCounter.ofMessage(TokenCounter.estimating, messages[from - 1]!)
    if (left < 0) break
  }
  return textOf(messages.slice(from))
}
