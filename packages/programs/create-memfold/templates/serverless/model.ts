/** The model: OpenAI's if a key is set, otherwise a stand-in that needs no network. */
import OpenAI from "openai"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions"

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-6.2-luna" } = process.env

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{L}{4,}|\p{N}+/gu) ?? [])

/** The words around what was told, in turns: another answer has other words. */
const wordings = [
  { recalls: "You told me:", noted: "I will remember that." },
  { recalls: "As you said:", noted: "That is in my memory now." },
  { recalls: "I remember:", noted: "Noted." },
]
let answers = 0

/** What the stand-in says: the sentence of the context that has most of the words of a question. */
const answerOf = (messages: Array<ChatCompletionMessageParam>): string => {
  const { recalls, noted } = wordings[answers++ % wordings.length]!
  const said = messages.flatMap(({ role, content }) =>
    role !== "assistant" && typeof content === "string" ? [content] : [],
  )
  const asked = said.pop() ?? ""
  if (!asked.trimEnd().endsWith("?")) return noted
  const told = said.flatMap((text) => text.split(/(?<=[.!?])\s+|\n/u)).filter((one) => !one.endsWith("?"))
  const words = wordsOf(asked)
  const shared = (sentence: string) => [...wordsOf(sentence)].filter((word) => words.has(word)).length
  const best = told.toSorted((one, other) => shared(other) - shared(one))[0] ?? ""
  return shared(best) > 0 ? `${recalls} ${best}` : "You have not told me that yet."
}

export const reply = async (messages: Array<ChatCompletionMessageParam>): Promise<string> => {
  if (OPENAI_API_KEY === undefined) return answerOf(messages)
  const { choices } = await new OpenAI().chat.completions.create({ model: OPENAI_MODEL, messages })
  return choices[0]?.message.content ?? ""
}
