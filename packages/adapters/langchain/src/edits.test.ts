/** Edited, removed and regenerated messages of an agent: what the application shows is what the model gets. */
import { RemoveMessage } from "@langchain/core/messages"
import { MemorySaver } from "@langchain/langgraph"
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  modelRetryMiddleware,
  tool,
  ToolMessage,
} from "langchain"
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemory, type PromiseMemory } from "memfold"
import { loose } from "../test/loose.js"
import { memfold, MemfoldChatMessageHistory } from "./index.js"

type AnyMemory = PromiseMemory<"openai", "inline">

const thread = { configurable: { thread_id: "chat" } }
const human = (content: string, id?: string) =>
  new HumanMessage(id === undefined ? { content } : { content, id })
const ai = (content: string, id?: string) => new AIMessage(id === undefined ? { content } : { content, id })
const search = tool(async ({ query }) => `found ${query}`, {
  name: "search",
  description: "Searches.",
  schema: z.object({ query: z.string() }),
})
const call = (query: string) => [{ name: "search", args: { query }, id: `call-${query}` }]

const told = (messages: ReadonlyArray<BaseMessage>) =>
  messages.map((one) => (one.type === "ai" && (one as AIMessage).tool_calls!.length > 0 ? "call" : one.text))

/** Opens a memory whose store outlives it. */
const reopening = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-langchain-"))
  return {
    open: (): AnyMemory =>
      createMemory({ store: `sqlite:${join(folder, "chats.db")}`, compaction: { mode: "off" } }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
const inMemory = (): AnyMemory => createMemory({ store: "memory:", compaction: { mode: "off" } })

const stored = async (memory: AnyMemory) =>
  told(await new MemfoldChatMessageHistory({ memory, session: "chat" }).allMessages())

/** Asks an agent whose model gives these answers, and returns what the model got the last time. */
const ask = async (
  memory: AnyMemory,
  messages: ReadonlyArray<BaseMessage>,
  answers: ReadonlyArray<string>,
  { checkpointer, config = thread }: { checkpointer?: MemorySaver; config?: object } = {},
) => {
  const model = fakeModel()
  for (const answer of answers)
    if (answer === "call") model.respondWithTools(call(`${model.calls.length}`))
    else model.respond(new AIMessage(answer))
  const agent = createAgent({
    model,
    tools: [search],
    middleware: [memfold({ memory })],
    ...(checkpointer === undefined ? {} : { checkpointer }),
  })
  const state = await agent.invoke({ messages: [...messages] }, config)
  return { got: told(model.calls.at(-1)!.messages), state: state.messages, agent }
}

describe("a list with ids", () => {
  const first = [human("q1", "1"), ai("a1", "2"), human("q2", "3")]

  it("replaces a message that has another text, and the old one is a branch", async () => {
    using store = reopening()
    {
      await using memory = store.open()
      await ask(memory, first.slice(0, 1), ["a1"])
      await ask(memory, [human("q2", "3")], ["a2"])
      await ask(memory, [human("q3", "5")], ["a3"])
    }
    await using memory = store.open()
    const { got } = await ask(memory, [human("q2, please", "3")], ["a2, gladly"])
    expect(got).toEqual(["q1", "a1", "q2, please"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2, please", "a2, gladly"])
    const [, left] = await memory.branches("chat")
    await memory.checkout("chat", left!.id)
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"])
    // An edit and its undo: each text is there again, although it was stored before.
    await ask(memory, [human("q2, please", "3")], ["again"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2, please", "again"])
    await ask(memory, [human("q2", "3")], ["once more"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "once more"])
    expect((await ask(memory, [human("q3", "5")], ["a3"])).got).toEqual(["q1", "a1", "q2", "once more", "q3"])
  })

  it("is asked again if it ends with a stored question: one answer stays", async () => {
    await using memory = inMemory()
    await ask(memory, [human("q1", "1")], ["a1"])
    const { state } = await ask(memory, [human("q2", "3")], ["call", "a2"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "call", "found 0", "a2"])
    const { got } = await ask(memory, [human("q2", "3")], ["another"])
    expect(got).toEqual(["q1", "a1", "q2"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "another"])
    // A list that shows the first answer again, and goes on.
    await ask(memory, [human("q2", "3"), state.at(-1)!, human("q3", "5")], ["a3"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"])
  })

  it("may be cut, also to be the whole conversation without its end", async () => {
    await using memory = inMemory()
    const one = await ask(memory, [human("q1", "1")], ["call", "a1"])
    const two = await ask(memory, [...one.state, human("q2", "3")], ["a2"])
    expect(await stored(memory)).toEqual(["q1", "call", "found 0", "a1", "q2", "a2"])
    expect(two.got).toEqual(["q1", "call", "found 0", "a1", "q2"])
    const cut = await ask(memory, [...one.state, human("q3", "5")], ["a3"])
    expect(cut.got).toEqual(["q1", "call", "found 0", "a1", "q3"])
    // A page that shows no steps with tools.
    const shown = [human("q1", "1"), one.state.at(-1)!, human("q4", "7")]
    expect((await ask(memory, shown, ["a4"])).got).toEqual(["q1", "call", "found 0", "a1", "q4"])
  })

  it("keeps what other adapters said, and a redacted message as it is", async () => {
    await using memory = inMemory()
    const one = await ask(memory, [human("q1", "1")], ["a1"])
    await memory.append("chat", [
      { role: "user", content: "elsewhere" },
      { role: "assistant", content: "said" },
    ])
    const two = await ask(memory, [...one.state, human("q2", "3")], ["a2"])
    expect(two.got).toEqual(["q1", "a1", "elsewhere", "said", "q2"])
    await memory.redact("chat", 4)
    const three = await ask(memory, [...two.state, human("q3", "5")], ["a3"])
    expect(three.got).toEqual(["q1", "a1", "elsewhere", "said", "[redacted]", "a2", "q3"])
    expect(await memory.branches("chat")).toHaveLength(1)
  })
})

describe("a list that goes far back", () => {
  const many = Array.from({ length: 130 }, (_, n) => [human(`q${n}`, `q${n}`), ai(`a${n}`, `a${n}`)])

  it("is found where it is, with and without ids", async () => {
    for (const cut of [many.slice(0, 1).flat(), [human("q0"), ai("a0")]]) {
      await using memory = inMemory()
      await new MemfoldChatMessageHistory({ memory, session: "chat" }).addMessages(many.flat())
      expect((await ask(memory, [...cut, human("new")], ["a"])).got).toEqual(["q0", "a0", "new"])
      expect(await memory.branches("chat")).toHaveLength(2)
    }
  })

  it("is found if it is a question that was asked before", async () => {
    await using memory = inMemory()
    await ask(memory, [human("old", "old")], ["a"])
    await new MemfoldChatMessageHistory({ memory, session: "chat" }).addMessages(many.flat())
    expect((await ask(memory, [human("old", "old")], ["again"])).got).toEqual(["old"])
    expect(await stored(memory)).toEqual(["old", "again"])
  })
})

describe("a list without ids", () => {
  const talk = ["q1", "a1", "q2", "a2", "q3", "a3"]
  const list = (texts: ReadonlyArray<string>) =>
    texts.map((text) => (text.startsWith("q") ? human(text) : ai(text)))

  it("that is sent again stores nothing twice", async () => {
    using store = reopening()
    for (const length of [1, 3, 5]) {
      await using memory = store.open()
      const { got } = await ask(memory, list(talk.slice(0, length)), [talk[length]!])
      expect(got).toEqual(talk.slice(0, length))
    }
    await using memory = store.open()
    expect(await stored(memory)).toEqual(talk)
    expect(await memory.branches("chat")).toHaveLength(1)
  })

  it("may show an answer without its steps and its thinking, and be the end of the conversation", async () => {
    await using memory = inMemory()
    await ask(memory, list(["q1"]), ["call", "a1"])
    await ask(memory, list(["q1", "a1", "q2"]), ["call", "a2"])
    const { got } = await ask(memory, list(["q2", "a2", "q3"]), ["call", "a3"])
    expect(got.filter((text) => /^[qa]/u.test(text))).toEqual(talk.slice(0, 5))
    expect(await stored(memory)).toHaveLength(12)
  })

  it("is edited, cut and asked again like a list with ids", async () => {
    await using memory = inMemory()
    await ask(memory, list(["q1"]), ["a1"])
    await ask(memory, list(["q1", "a1", "q2"]), ["a2"])
    await ask(memory, list(["q1", "a1", "q2"]), ["call", "a2, again"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "call", "found 0", "a2, again"])
    await ask(memory, list(["q1", "a1", "q3"]), ["a3"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q3", "a3"])
  })

  it("without an answer is new: the same words are said again", async () => {
    await using memory = inMemory()
    await ask(memory, list(["q1"]), ["a1"])
    await ask(memory, list(["q1"]), ["a1"])
    expect(await stored(memory)).toEqual(["q1", "a1", "q1", "a1"])
  })
})

describe("a thread with a checkpointer", () => {
  it("has RemoveMessage, replaced messages and earlier checkpoints as the state has them", async () => {
    await using memory = inMemory()
    const checkpointer = new MemorySaver()
    const options = { checkpointer }
    await ask(memory, [human("q1", "1")], ["call", "a1"], options)
    const two = await ask(memory, [human("q2", "3")], ["a2"], options)
    const last = two.state.at(-1)!
    const cut = [new RemoveMessage({ id: last.id! }), new RemoveMessage({ id: "3" }), human("q3", "5")]
    const three = await ask(memory, cut, ["a3"], options)
    expect(three.got).toEqual(["q1", "call", "found 0", "a1", "q3"])
    expect(await stored(memory)).toEqual([...three.got, "a3"])
    // The answer again, from the checkpoint in front of it.
    const { agent } = three
    for await (const { config, next } of agent.graph.getStateHistory(thread)) {
      if (!next.includes("model_request")) continue
      const model = fakeModel().respond(new AIMessage("a3, again"))
      const again = createAgent({ model, tools: [search], middleware: [memfold({ memory })], checkpointer })
      await again.graph.invoke(null, config)
      expect(told(model.calls[0]!.messages)).toEqual(["q1", "call", "found 0", "a1", "q3"])
      break
    }
    expect(await stored(memory)).toEqual(["q1", "call", "found 0", "a1", "q3", "a3, again"])
    // In the middle: the question and the answer, but not what follows.
    const four = await ask(memory, [human("q4", "7")], ["a4"], options)
    const gone = four.state.find(({ text }) => text === "a3, again")!
    const removed = [new RemoveMessage({ id: "5" }), new RemoveMessage({ id: gone.id! }), human("q5", "9")]
    const five = await ask(memory, removed, ["a5"], options)
    expect(five.got).toEqual(["q1", "call", "found 0", "a1", "q4", "a4", "q5"])
    expect(told(five.state)).toEqual(await stored(memory))
  })
})

describe("two requests at once", () => {
  it("remove nothing of each other, also when a call is tried again", async () => {
    await using memory = inMemory()
    await ask(memory, [human("q0", "0")], ["a0"])
    let other: Promise<unknown> | undefined
    const model = fakeModel()
      .respond(new Error("overloaded"))
      .respondWithTools(call("a"))
      .respond(new AIMessage("done"))
    const agent = createAgent({
      model,
      tools: [search],
      middleware: [
        loose(modelRetryMiddleware, {
          maxRetries: 2,
          initialDelayMs: 0,
          jitter: false,
          retryOn: () => true,
        }),
        memfold({ memory }),
        loose((middleware: unknown) => middleware, {
          name: "other",
          wrapModelCall: async (request: never, handler: (request: never) => Promise<unknown>) => {
            await (other ??= ask(memory, [human("qb", "b")], ["ab"]))
            return handler(request)
          },
        }),
      ],
    })
    await agent.invoke({ messages: [human("qa", "a")] }, thread)
    expect(await stored(memory)).toEqual(["q0", "a0", "qa", "qb", "ab", "call", "found a", "done"])
    expect(await memory.branches("chat")).toHaveLength(1)
  })
})

describe("two pages of one conversation", () => {
  it("that ask at once keep both questions and both answers, and each goes on with what it shows", async () => {
    await using memory = inMemory()
    const begun = await ask(memory, [human("begin", "0")], ["to begin"])
    let other: Promise<unknown> | undefined
    const second = async () => ask(memory, [...begun.state, human("second", "b")], ["to second"])
    const model = fakeModel().respond(new AIMessage({ content: "to first", id: "a-first" }))
    const agent = createAgent({
      model,
      tools: [search],
      middleware: [
        memfold({ memory }),
        loose((middleware: unknown) => middleware, {
          name: "other",
          wrapModelCall: async (request: never, handler: (request: never) => Promise<unknown>) => {
            other = second()
            await other
            return handler(request)
          },
        }),
      ],
    })
    const { messages: one } = await agent.invoke({ messages: [...begun.state, human("first", "a")] }, thread)
    const all = ["begin", "to begin", "first", "second", "to second", "to first"]
    expect(await stored(memory)).toEqual(all)
    expect(await memory.branches("chat")).toHaveLength(1)
    // Each page goes on with what it shows.
    await ask(memory, [...one, human("more a", "c")], ["to a"])
    expect(await stored(memory)).toEqual([...all, "more a", "to a"])
    expect(await memory.branches("chat")).toHaveLength(1)
    const { state } = (await other) as Awaited<ReturnType<typeof ask>>
    await ask(memory, [...state, human("more b", "d")], ["to b"])
    const said = await stored(memory)
    for (const text of ["first", "second", "to second", "more b", "to b"]) expect(said).toContain(text)
  })
})

describe("what a page answers late", () => {
  const open = new AIMessage({ content: "", id: "2", tool_calls: call("colour") })
  const result = new ToolMessage({ content: "green", tool_call_id: "call-colour", id: "r" })

  it.each([
    ["in its place", [human("q1", "1"), open, result, human("q2", "3"), ai("a2", "4"), human("q3", "5")]],
    ["at the end", [human("q1", "1"), open, human("q2", "3"), ai("a2", "4"), result, human("q3", "5")]],
  ])("stands behind its call, wherever the list has it: %s", async (_where, list) => {
    await using memory = inMemory()
    const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
    await history.addMessages([human("q1", "1"), open, human("q2", "3"), ai("a2", "4")])
    const { got } = await ask(memory, list, ["a3"])
    expect(got).toEqual(["q1", "call", "green", "q2", "a2", "q3"])
    expect(await stored(memory)).toEqual(["q1", "call", "green", "q2", "a2", "q3", "a3"])
  })
})

it("costs as much as the list is long, however long the conversation", async () => {
  const costs = async (count: number) => {
    let read = 0
    const counting = Layer.effect(
      EventLog.EventLog,
      Effect.map(InMemoryEventLog.make, (log) => ({
        ...log,
        read: (session: string, page: EventLog.PageOptions) =>
          Effect.tap(log.read(session, page), (records) => Effect.sync(() => (read += records.length))),
      })),
    )
    await using memory: AnyMemory = createMemory({ store: counting, compaction: { mode: "off" } })
    const texts = Array.from({ length: count }, (_, n) => [human(`q${n}`, `q${n}`), ai(`a${n}`, `a${n}`)])
    await new MemfoldChatMessageHistory({ memory, session: "chat" }).addMessages(texts.flat())
    const cost = async (messages: ReadonlyArray<BaseMessage>) => {
      read = 0
      await ask(memory, messages, ["answer"])
      return read
    }
    return [
      await cost([human("another", `q${count - 1}`)]),
      await cost([human("another", `q${count - 1}`)]),
      await cost([human("new", "new")]),
    ]
  }
  const [short, long] = [await costs(1_000), await costs(4_000)]
  expect(long).toEqual(short)
})

describe("a history", () => {
  it("replaces an answer, and a message with a known id", async () => {
    await using memory = inMemory()
    const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
    await history.addMessages([human("q1", "1"), ai("a1", "2")])
    await history.addMessages([human("q2", "3"), ai("a2", "4")])
    await history.addMessages([human("q2", "3"), ai("a2, again", "5")])
    expect(await stored(memory)).toEqual(["q1", "a1", "q2", "a2, again"])
    await history.addMessages([human("q1, please", "1"), ai("a1, gladly", "6")])
    expect(await stored(memory)).toEqual(["q1, please", "a1, gladly"])
    await history.addMessages([human("q1", "1"), ai("a1", "2")])
    expect(await stored(memory)).toEqual(["q1", "a1"])
    await history.addMessage(human("q1", "1"))
    expect(await stored(memory)).toEqual(["q1", "a1"])
  })
})
