/** An agent with memory: all that an application writes. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import type { Memory } from "@memfold/core"
import { langchain } from "@memfold/langchain"
import { createAgent, HumanMessage, type StructuredTool } from "langchain"

/** Answers what the user says; without a text, it goes on where the session stands. */
export const answer = async (
  memory: Memory.AnyMemory,
  { model, tools }: { readonly model: BaseChatModel; readonly tools: Array<StructuredTool> },
  id: string,
  text?: string,
): Promise<string> => {
  const agent = createAgent({ model, tools, middleware: [langchain(memory).middleware()] })
  const messages = text === undefined ? [] : [new HumanMessage(text)]
  const state = await agent.invoke({ messages }, { configurable: { thread_id: id } })
  return state.messages.at(-1)?.text ?? ""
}
