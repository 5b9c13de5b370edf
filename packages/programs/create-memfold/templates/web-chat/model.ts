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

/** Says how much of the conversation it was given. */
const standIn = new MockLanguageModelV3({
  doStream: async ({ prompt }) => {
    const texts = prompt.flatMap(({ role, content }) =>
      role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
    )
    const text = `You said “${texts.at(-1) ?? ""}”, and the model got ${prompt.length} of the messages. You began with “${texts[0] ?? ""}”.`
    const words = text.match(/\S+\s*/gu) ?? []
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
