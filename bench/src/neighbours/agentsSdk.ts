/** `run` of the OpenAI Agents SDK: with its own session, which is in memory, and with memfold. */
import { openaiAgents } from "@memfold/openai-agents"
import {
  Agent,
  type Model as AgentsModel,
  type ModelRequest,
  MemorySession,
  Runner,
  type Session,
  setTracingDisabled,
  Usage,
} from "@openai/agents"
import { memoryIn } from "./memfoldIn.js"
import type { Model, Neighbour } from "./Neighbour.js"

setTracingDisabled(true)

type Item = Exclude<ModelRequest["input"], string>[number]

const textOf = (item: Item): string => {
  if (!("content" in item) || item.content === undefined) return ""
  if (typeof item.content === "string") return item.content
  return item.content.map((part) => ("text" in part ? part.text : "")).join("")
}

/** A model that a function plays. */
const played = (model: Model): AgentsModel => ({
  getResponse: async ({ input }) => {
    const text = await model(typeof input === "string" ? [input] : input.map(textOf))
    return {
      usage: new Usage(),
      output: [
        { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] },
      ],
    }
  },
  getStreamedResponse: () => {
    throw new Error("the benchmark does not stream")
  },
})

const asking = (model: Model, sessionOf: (id: string) => Session) => {
  const runner = new Runner()
  const agent = new Agent({ name: "Clerk", instructions: "Be brief.", model: played(model) })
  return (session: string, question: string) => runner.run(agent, question, { session: sessionOf(session) })
}

const memorySession: Neighbour = {
  name: "Agents SDK: its MemorySession",
  durability: "none",
  open: async (_folder, model) => {
    const sessions = new Map<string, Session>()
    const sessionOf = (sessionId: string) => {
      const session = sessions.get(sessionId) ?? new MemorySession({ sessionId })
      sessions.set(sessionId, session)
      return session
    }
    return { ask: asking(model, sessionOf), close: async () => sessions.clear() }
  },
}

const withMemfold: Neighbour = {
  name: "Agents SDK: memfold",
  bound: { than: memorySession.name, times: 1.2 },
  durability: "SQLite FULL",
  open: async (folder, model) => {
    const memory = memoryIn(folder, "full")
    return { ask: asking(model, (id) => openaiAgents(memory).session(id)), close: () => memory.close() }
  },
}

export const agentsSdk: ReadonlyArray<Neighbour> = [memorySession, withMemfold]
