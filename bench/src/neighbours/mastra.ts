/** An `Agent` of Mastra: with its memory in libSQL, and with memfold. */
import { Agent, type AgentConfig } from "@mastra/core/agent"
import { LibSQLStore } from "@mastra/libsql"
import { Memory } from "@mastra/memory"
import { mastra as door } from "@memfold/mastra"
import { join } from "node:path"
import { memoryIn } from "./memfoldIn.js"
import { kept, type Model, type Neighbour } from "./Neighbour.js"

interface Prompted {
  readonly content: string | ReadonlyArray<{ readonly text?: string }>
}

const textOf = ({ content }: Prompted) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")

const usage = {
  inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 7, text: 7, reasoning: 0 },
}
const end = { finishReason: { unified: "stop", raw: undefined }, usage }

/** A model of the AI SDK that a function plays. */
const played = (model: Model) => {
  const said = ({ prompt }: { readonly prompt: ReadonlyArray<Prompted> }) => model(prompt.map(textOf))
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "played",
    supportedUrls: {},
    doGenerate: async (call: { readonly prompt: ReadonlyArray<Prompted> }) => ({
      content: [{ type: "text", text: await said(call) }],
      warnings: [],
      ...end,
    }),
    doStream: async (call: { readonly prompt: ReadonlyArray<Prompted> }) => {
      const text = await said(call)
      const parts = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: text },
        { type: "text-end", id: "0" },
        { type: "finish", ...end },
      ]
      const stream = new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      return { stream }
    },
  }
}

type Parts = Pick<AgentConfig, "memory" | "inputProcessors" | "outputProcessors">

const agentOf = (model: Model, parts: Parts) => {
  const agent = new Agent({
    id: "clerk",
    name: "Clerk",
    instructions: "Be brief.",
    model: played(model) as unknown as AgentConfig["model"],
    ...parts,
  })
  return (session: string, question: string) =>
    agent.generate(question, { memory: { thread: session, resource: "ann" } })
}

const memory: Neighbour = {
  name: "Mastra: its memory, in libSQL",
  durability: "SQLite FULL",
  open: async (folder, model) => {
    const storage = new LibSQLStore({ id: "chats", url: `file:${join(folder, "mastra.db")}` })
    const own = new Memory({ storage, options: { lastMessages: kept } })
    return { ask: agentOf(model, { memory: own }), close: () => storage.close() }
  },
}

const withMemfold: Neighbour = {
  name: "Mastra: memfold",
  durability: "SQLite FULL",
  open: async (folder, model) => {
    const ours = memoryIn(folder, "full")
    return { ask: agentOf(model, door(ours).processors()), close: () => ours.close() }
  },
}

export const mastra: ReadonlyArray<Neighbour> = [memory, withMemfold]
