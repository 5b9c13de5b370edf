/** The chat message history, in LangChain's own chains and by itself. */
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts"
import { RunnableWithMessageHistory } from "@langchain/core/runnables"
import { AIMessage, type BaseMessage, fakeModel, HumanMessage, SystemMessage } from "langchain"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { LangChainDecodeError, MemfoldChatMessageHistory } from "./index.js"

const told = (messages: ReadonlyArray<BaseMessage>) => messages.map((one) => `${one.type}: ${one.text}`)
const small = { strategy: "rounds", settings: { fullContextTurns: 1, cachedContextTurns: 1 } } as const

describe("a chain with a history", () => {
  for (const placed of ["in a placeholder", "in front of the input"]) {
    it(`gets the summary and the newest messages ${placed}, and stores each message once`, async () => {
      await using memory = createMemory({ store: "memory:", ...small, compaction: { mode: "inline" } })
      const model = fakeModel()
      for (let turn = 1; turn <= 12; turn++)
        model.respond(new AIMessage(`This is answer ${turn} of twelve, and no other.`))
      const getMessageHistory = (session: string) => new MemfoldChatMessageHistory({ memory, session })
      const prompt = ChatPromptTemplate.fromMessages([
        new MessagesPlaceholder("history"),
        ["human", "{input}"],
      ])
      const invoke = async (text: string) => {
        const config = { configurable: { sessionId: "chat" } }
        if (placed === "in a placeholder") {
          const chain = new RunnableWithMessageHistory({
            runnable: prompt.pipe(model),
            getMessageHistory,
            inputMessagesKey: "input",
            historyMessagesKey: "history",
          })
          return chain.invoke({ input: text }, config)
        }
        const chain = new RunnableWithMessageHistory({ runnable: model, getMessageHistory })
        return chain.invoke([new HumanMessage(text)], config)
      }
      for (let turn = 1; turn <= 12; turn++) await invoke(`This is question ${turn} of twelve, isn't it?`)
      expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
      const [first, ...rest] = model.calls.at(-1)!.messages
      expect(SystemMessage.isInstance(first)).toBe(true)
      expect(first!.text).toContain("question 1")
      expect(rest.length).toBeLessThan(8)
      const all = await getMessageHistory("chat").allMessages()
      expect(told(all)).toEqual(
        Array.from({ length: 12 }, (_, index) => [
          `human: This is question ${index + 1} of twelve, isn't it?`,
          `ai: This is answer ${index + 1} of twelve, and no other.`,
        ]).flat(),
      )
    })
  }
})

describe("a history", () => {
  it("adds, lists and clears", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
    await history.addUserMessage("Hello?")
    await history.addAIMessage("Hello.")
    await history.addMessage(new HumanMessage("And now?"))
    expect(told(await history.getMessages())).toEqual(["human: Hello?", "ai: Hello.", "human: And now?"])
    const { layout, tokens } = await history.context()
    expect(layout.map(({ section }) => section)).toEqual(["uncovered", "current"])
    expect(tokens).toBeGreaterThan(0)
    await history.clear()
    expect(await history.getMessages()).toEqual([])
    expect((await memory.state("chat")).total).toBe(0)
  })

  it("stores the same list once, if its messages have ids, or the append a name", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
    const named = [
      new HumanMessage({ content: "Hello?", id: "1" }),
      new AIMessage({ content: "Hello.", id: "2" }),
    ]
    await history.addMessages(named)
    await history.addMessages(named)
    expect((await memory.state("chat")).total).toBe(2)
    await history.addMessage(new HumanMessage("And now?"), { idempotencyKey: "request-2" })
    await history.addMessage(new HumanMessage("And now?"), { idempotencyKey: "request-2" })
    expect((await memory.state("chat")).total).toBe(3)
    await history.addMessage(new HumanMessage("And now?"))
    expect((await memory.state("chat")).total).toBe(4)
  })

  it("reads again after a failure", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const { neutral } = memory
    let fails = true
    const history = new MemfoldChatMessageHistory({
      memory: {
        neutral: {
          ...neutral,
          context: (session) => (fails ? Promise.reject(new Error("down")) : neutral.context(session)),
        },
      },
      session: "chat",
    })
    await expect(history.getMessages()).rejects.toThrow("down")
    await history.addUserMessage("Hello?")
    fails = false
    expect(told(await history.getMessages())).toEqual(["human: Hello?"])
  })

  it("stores nothing of a list with a message of another library, and does not quote it", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
    const foreign = { role: "user", parts: [{ type: "text", text: "KX-4471" }], id: "m1" }
    const added = history.addMessages([new HumanMessage("Hello?"), foreign as unknown as BaseMessage])
    const error = await added.then(
      () => undefined,
      (failure: unknown) => failure,
    )
    expect(error).toBeInstanceOf(LangChainDecodeError)
    expect(error).toMatchObject({ index: 1, use: "@memfold/ai-sdk" })
    expect(String(error)).not.toContain("KX-4471")
    expect((await memory.state("chat")).total).toBe(0)
  })
})
