/** `generateText` of the AI SDK: with messages that the program keeps itself, in memory, and with memfold. */
import { aiSdk as door } from "@memfold/ai-sdk"
import { generateText, type LanguageModel, type ModelMessage } from "ai"
import { memoryIn } from "./memfoldIn.js"
import { kept, type Neighbour } from "./Neighbour.js"
import { played } from "./playedModel.js"

const own: Neighbour = {
  name: "AI SDK: the newest messages in a list",
  durability: "none",
  open: async (_folder, said) => {
    const model = played(said) as unknown as LanguageModel
    const sessions = new Map<string, ReadonlyArray<ModelMessage>>()
    return {
      ask: async (session, question) => {
        const messages = [...(sessions.get(session) ?? []), { role: "user" as const, content: question }]
        const { response } = await generateText({ model, messages })
        sessions.set(session, [...messages, ...response.messages].slice(-kept))
      },
      close: async () => sessions.clear(),
    }
  },
}

const withMemfold: Neighbour = {
  name: "AI SDK: memfold",
  durability: "SQLite FULL",
  bound: { than: own.name, more: 3 },
  open: async (folder, said) => {
    const model = played(said) as unknown as LanguageModel
    const memory = memoryIn(folder, "full")
    return {
      ask: async (id, question) => {
        const session = door(memory).session(id)
        const context = await session.messages(question)
        const { prepareStep } = session
        await session.onFinish(await generateText({ model, ...context, prepareStep }))
      },
      close: () => memory.close(),
    }
  },
}

export const aiSdk: ReadonlyArray<Neighbour> = [own, withMemfold]
