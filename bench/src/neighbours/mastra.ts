/** An `Agent` of Mastra: with its memory in libSQL, and with memfold. */
import { Agent, type AgentConfig } from "@mastra/core/agent"
import { LibSQLStore } from "@mastra/libsql"
import { Memory } from "@mastra/memory"
import { mastra as door } from "@memfold/mastra"
import { join } from "node:path"
import { memoryIn } from "./memfoldIn.js"
import { kept, type Model, type Neighbour } from "./Neighbour.js"
import { played } from "./playedModel.js"

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
  bound: { than: memory.name, disk: true },
  durability: "SQLite FULL",
  open: async (folder, model) => {
    const ours = memoryIn(folder, "full")
    return { ask: agentOf(model, door(ours).processors()), close: () => ours.close() }
  },
}

export const mastra: ReadonlyArray<Neighbour> = [memory, withMemfold]
