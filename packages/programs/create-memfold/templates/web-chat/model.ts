/** The model: OpenAI's if a key is set, otherwise a stand-in that needs no network. */
import { openai } from "@ai-sdk/openai"
import { simulateReadableStream, type LanguageModel } from "ai"
import { MockLanguageModelV3 } from "ai/test"

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-6.2-luna" } = process.env

export const hasKey = OPENAI_API_KEY !== undefined

export const modelName = hasKey ? OPENAI_MODEL : "a stand-in answers; set OPENAI_API_KEY for a model"

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{L}{4,}|\p{N}+/gu) ?? [])

/** The words around what was told, in turns: another answer has other words. */
const wordings = [
  { told: "You told me:", noted: "I will remember that:" },
  { told: "As you said:", noted: "That is in my memory now:" },
  { told: "I remember:", noted: "Noted:" },
]
let answers = 0

/** What the stand-in says: the sentence of the context that has most of the words of a question, and how much it was given. */
const answerOf = (said: Array<string>, given: number): string => {
  const { told, noted } = wordings[answers++ % wordings.length]!
  const asked = said.pop() ?? ""
  const known = said.flatMap((text) => text.split(/(?<=[.!?])\s+|\n/u)).filter((one) => !one.endsWith("?"))
  const words = wordsOf(asked)
  const shared = (sentence: string) => [...wordsOf(sentence)].filter((word) => words.has(word)).length
  const best = known.toSorted((one, other) => shared(other) - shared(one))[0] ?? ""
  const isQuestion = asked.trimEnd().endsWith("?")
  const answer = !isQuestion
    ? `${noted} ${asked}`
    : shared(best) > 0
      ? `${told} ${best}`
      : "You have not told me that yet."
  return `${answer} (I was given ${given === 1 ? "one message" : `${given} messages`}.)`
}

/** Answers from what the context has of the user's words, and of the summary. */
const standIn = new MockLanguageModelV3({
  doStream: async ({ prompt }) => {
    const said = prompt.flatMap(({ role, content }) =>
      role === "system"
        ? [content]
        : role === "user"
          ? content.flatMap((part) => (part.type === "text" ? [part.text] : []))
          : [],
    )
    const words = answerOf(said, prompt.length).match(/\S+\s*/gu) ?? []
    return {
      stream: simulateReadableStream({
        chunkDelayInMs: 20,
        chunks: [
          { type: "text-start", id: "1" },
          ...words.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
        ],
      }),
    }
  },
})

export const model: LanguageModel = hasKey ? openai(OPENAI_MODEL) : standIn
