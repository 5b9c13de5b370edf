/** The model: OpenAI's, or any with a compatible API, if a key is set; otherwise a stand-in that needs no network. */
import { setTimeout } from "node:timers/promises"
import OpenAI from "openai"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions"

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-6.2-luna" } = process.env

export const modelName =
  OPENAI_API_KEY === undefined ? "The stand-in answers; set OPENAI_API_KEY for a model" : OPENAI_MODEL

/** Yields the answer to a conversation, piece by piece. */
export async function* reply(messages: Array<ChatCompletionMessageParam>): AsyncGenerator<string> {
  if (OPENAI_API_KEY === undefined) return yield* standIn(messages)
  const stream = await new OpenAI().chat.completions.create({ model: OPENAI_MODEL, messages, stream: true })
  for await (const { choices } of stream) yield choices[0]?.delta.content ?? ""
}

/** Writes summaries of old messages: with the model, or without one. */
export const complete =
  OPENAI_API_KEY === undefined
    ? ("extractive" as const)
    : async ({ system, user }: { system: string; user: string }): Promise<string> => {
        const messages = [
          { role: "system" as const, content: system },
          { role: "user" as const, content: user },
        ]
        const { choices } = await new OpenAI().chat.completions.create({ model: OPENAI_MODEL, messages })
        return choices[0]?.message.content ?? ""
      }

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{L}{4,}|\p{N}+/gu) ?? [])

/** The words around what was told, in turns: another answer has other words. */
const wordings = [
  { recalls: "You told me:", noted: "I will remember that." },
  { recalls: "As you said:", noted: "That is in my memory now." },
  { recalls: "I remember:", noted: "Noted." },
]
let answers = 0

/** What the stand-in says: the sentence of the context that has most of the words of a question. Questions and its own answers tell nothing. */
export const answerOf = (messages: Array<ChatCompletionMessageParam>): string => {
  const said = messages.flatMap(({ role, content }) =>
    role !== "assistant" && typeof content === "string" ? [content] : [],
  )
  const asked = said.pop() ?? ""
  const told = said.flatMap((text) => text.split(/(?<=[.!?])\s+|\n/u)).filter((one) => !one.endsWith("?"))
  const { recalls, noted } = wordings[answers++ % wordings.length]!
  if (!asked.trimEnd().endsWith("?")) return noted
  const words = wordsOf(asked)
  const shared = (sentence: string) => [...wordsOf(sentence)].filter((word) => words.has(word)).length
  const best = told.toSorted((one, other) => shared(other) - shared(one))[0] ?? ""
  return shared(best) > 0
    ? `${recalls} ${best}`
    : `You have not told me that; I was given ${messages.length} messages.`
}

async function* standIn(messages: Array<ChatCompletionMessageParam>): AsyncGenerator<string> {
  for (const piece of answerOf(messages).match(/\S+\s*/gu) ?? []) {
    await setTimeout(15)
    yield piece
  }
}
