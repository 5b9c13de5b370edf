/** The public functions with the types of LangChain, without a cast. */
import type { BaseListChatMessageHistory } from "@langchain/core/chat_history"
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import type { BaseMessage, StoredMessage } from "@langchain/core/messages"
import {
  type RunnableWithMessageHistory,
  type RunnableWithMessageHistoryInputs,
} from "@langchain/core/runnables"
import { ChatOpenAI } from "@langchain/openai"
import type { Memory, Summarizer } from "@memfold/core"
import {
  type AgentMiddleware,
  type AnyAgentMiddleware,
  createAgent,
  HumanMessage,
  SystemMessage,
} from "langchain"
import { describe, expectTypeOf, it } from "vitest"
import {
  decodeMessages,
  encodeContext,
  encodeMessages,
  memfold,
  MemfoldChatMessageHistory,
  summarizer,
} from "../src/index.js"

declare const memory: Memory.AnyMemory

/** Compiled, never called. */
export const uses = async (model: BaseChatModel, chunk: BaseMessage, stored: StoredMessage) => {
  const agent = createAgent({ model, middleware: [memfold({ memory })] })
  const { messages } = await agent.invoke(
    { messages: [new HumanMessage("Hello?")] },
    { configurable: { thread_id: "chat" } },
  )
  createAgent({
    model,
    middleware: [memfold({ memory, session: ({ configurable }) => configurable?.thread_id })] as const,
  })
  summarizer({ model: new ChatOpenAI({ model: "gpt-6.2-mini" }) })
  const history = new MemfoldChatMessageHistory({ memory, session: "chat", provider: "openai" })
  await history.addMessages(messages, { idempotencyKey: "request-1" })
  decodeMessages([chunk, stored, "text", { role: "user", content: "text" }])
  const { system, messages: sent } = encodeContext([])
  await model.invoke(system === undefined ? sent : [new SystemMessage({ content: system }), ...sent])
}

describe("the public functions", () => {
  it("give and take the types of LangChain", () => {
    expectTypeOf(memfold).returns.toExtend<AnyAgentMiddleware>()
    expectTypeOf(memfold).returns.toExtend<AgentMiddleware>()
    expectTypeOf<MemfoldChatMessageHistory>().toExtend<BaseListChatMessageHistory>()
    expectTypeOf<(id: string) => MemfoldChatMessageHistory>().toExtend<
      RunnableWithMessageHistoryInputs<unknown, unknown>["getMessageHistory"]
    >()
    expectTypeOf<RunnableWithMessageHistory<unknown, unknown>>().not.toBeAny()
    expectTypeOf(encodeMessages).returns.toEqualTypeOf<Array<BaseMessage>>()
    expectTypeOf<BaseChatModel>().toExtend<Parameters<typeof summarizer>[0]["model"]>()
    expectTypeOf(summarizer).returns.toEqualTypeOf<Summarizer.Service>()
  })
})
