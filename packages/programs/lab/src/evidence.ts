/** What of the sentences that answer a question stands in a text. */
import { Message, Search, TokenCounter } from "@memfold/core"
import type { Conversation, Question } from "./Conversation.js"

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

const sentencesOf = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment.trim()).filter((one) => one !== "")

/** The sentences that answer a question. */
export const wantedOf = (
  { messages }: Pick<Conversation, "messages">,
  { evidence }: Question,
): ReadonlyArray<string> =>
  evidence.flatMap((index) => sentencesOf(Message.text(messages[index] ?? { role: "user", parts: [] })))

/** A word of an answer: its terms, one of which a text must have. An answer is too short to tell its language, and so its stems. */
export type AnswerWord = ReadonlyArray<string>

/** Scripts that write no spaces: each of their terms counts as a word. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/** The words of the answer that is expected, each once, as recall compares words; none where no answer is known. */
export const answerWords = ({ answer = "" }: Question): ReadonlyArray<AnswerWord> => {
  const words = (answer.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap((word) => {
    const terms = Search.termsOf(word)
    return unspaced.test(word) ? terms.map((term) => [term]) : terms.length === 0 ? [] : [terms]
  })
  return [...new Map(words.map((terms) => [terms.join(" "), terms])).values()]
}

export const wordsIn = (words: ReadonlyArray<AnswerWord>, text: Shown): ReadonlyArray<boolean> =>
  words.map((terms) => terms.some((term) => text.words.has(term)))

/** A text that a model could be given: its words, and what it takes. */
export interface Shown {
  readonly words: ReadonlySet<string>
  readonly tokens: number
}

export const shownText = (text: string, tokens = TokenCounter.estimating.count(text)): Shown => ({
  words: new Set(Search.termsOf(text)),
  tokens,
})

/** The share of what is true, from 0 to 1; of nothing, nothing is missing. */
export const share = (which: ReadonlyArray<boolean>): number =>
  which.length === 0 ? 1 : which.filter(Boolean).length / which.length

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
