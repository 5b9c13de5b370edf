/** LangChain's `createAgent` over LangGraph: with its checkpointer, and with memfold. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage, type BaseMessage } from "@langchain/core/messages"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import { langchain } from "@memfold/langchain"
import { type AnyAgentMiddleware, createAgent, HumanMessage, summarizationMiddleware } from "langchain"
import { join } from "node:path"
import { memoryIn } from "./memfoldIn.js"
import { kept, type Model, type Neighbour, summary } from "./Neighbour.js"

/** A model that a function plays. */
class Played extends BaseChatModel {
  private readonly model: Model
  constructor(model: Model) {
    super({})
    this.model = model
  }
  override _llmType(): string {
    return "played"
  }
  /** It has no tools to call. */
  override bindTools(): this {
    return this
  }
  override async _generate(messages: ReadonlyArray<BaseMessage>) {
    const text = await this.model(messages.map((message) => message.text))
    return { generations: [{ text, message: new AIMessage(text) }] }
  }
}

/** The types of LangChain's own middleware do not fit where optional properties are exact. */
const summarizing = (summarizationMiddleware as unknown as (options: object) => AnyAgentMiddleware)({
  model: new Played(async () => summary),
  trigger: { messages: kept + 12 },
  keep: { messages: kept },
})

const agentOf = (
  model: Model,
  middleware: ReadonlyArray<AnyAgentMiddleware>,
  { checkpointer, ...call }: { readonly checkpointer?: SqliteSaver; readonly durability?: "exit" } = {},
) => {
  const agent = createAgent({
    model: new Played(model),
    middleware,
    ...(checkpointer ? { checkpointer } : {}),
  })
  return (session: string, question: string) =>
    agent.invoke(
      { messages: [new HumanMessage(question)] },
      { configurable: { thread_id: session }, ...call },
    )
}

const saverIn = (folder: string) => SqliteSaver.fromConnString(join(folder, "checkpoints.db"))

/** A checkpointer as `createAgent` takes it: each step of the graph is a checkpoint. */
const checkpointer: Neighbour = {
  name: "LangGraph: its checkpointer",
  durability: "SQLite NORMAL",
  open: async (folder, model) => {
    const saver = saverIn(folder)
    return { ask: agentOf(model, [], { checkpointer: saver }), close: async () => saver.db.close() }
  },
}

/** The least that it can be told to write: one checkpoint for each turn, and a state whose old messages a summary replaces. */
const smallest: Neighbour = {
  name: "LangGraph: one checkpoint a turn, old messages summarized away",
  durability: "SQLite NORMAL",
  open: async (folder, model) => {
    const saver = saverIn(folder)
    return {
      ask: agentOf(model, [summarizing], { checkpointer: saver, durability: "exit" }),
      close: async () => saver.db.close(),
    }
  },
}

const withMemfold: Neighbour = {
  name: "LangGraph: memfold",
  bound: { than: smallest.name, disk: true },
  durability: "SQLite NORMAL",
  open: async (folder, model) => {
    const memory = memoryIn(folder, "normal")
    return { ask: agentOf(model, [langchain(memory).middleware()]), close: () => memory.close() }
  },
}

export const langGraph: ReadonlyArray<Neighbour> = [checkpointer, smallest, withMemfold]
