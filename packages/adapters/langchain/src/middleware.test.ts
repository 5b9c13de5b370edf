/** The middleware with the fake models of LangChain: what it stores, and what the model gets. */
import { MemorySaver, Command } from "@langchain/langgraph"
import type { Memory } from "@memfold/core"
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  humanInTheLoopMiddleware,
  modelRetryMiddleware,
  SystemMessage,
  tool,
  ToolMessage,
  toolStrategy,
} from "langchain"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemory } from "memfold"
import { loose } from "../test/loose.js"
import { memfold, MemfoldChatMessageHistory, summarizer } from "./index.js"

const search = tool(async ({ query }) => [`found ${query}`, { rows: [query] }], {
  name: "search",
  description: "Searches.",
  schema: z.object({ query: z.string() }),
  responseFormat: "content_and_artifact",
})

const thread = { configurable: { thread_id: "chat" } }
const asks = (text: string) => ({ messages: [new HumanMessage(text)] })
const call = (query: string) => [{ name: "search", args: { query }, id: `call-${query}` }]

const told = (messages: ReadonlyArray<BaseMessage>) =>
  messages.map(
    (one) =>
      `${one.type}: ${one.type === "ai" && (one as AIMessage).tool_calls!.length > 0 ? "call" : one.text}`,
  )
const stored = async (memory: Memory.AnyMemory) =>
  new MemfoldChatMessageHistory({ memory, session: "chat" }).allMessages()

const inMemory = () => createMemory({ store: "memory:", compaction: { mode: "off" } })

it("is refused where it is set up without a memory, and not in the first call", () => {
  for (const wrong of [undefined, null, {}, 5, "memory:", Promise.resolve()])
    expect(() => memfold({ memory: wrong as never })).toThrow('The option "memory" must be a memory')
})

describe("an agent with the middleware", () => {
  it("goes on where the session stands, and its state has the messages of the call only", async () => {
    await using memory = inMemory()
    const model = fakeModel()
      .respondWithTools(call("one"))
      .respond(new AIMessage("It is one."))
      .respond(new AIMessage("It was one."))
    const agent = createAgent({
      model,
      tools: [search],
      systemPrompt: "Be brief.",
      middleware: [memfold({ memory })],
    })
    const first = await agent.invoke(asks("What is it?"), thread)
    const second = await agent.invoke(asks("And before?"), thread)
    expect(told(first.messages)).toEqual([
      "human: What is it?",
      "ai: call",
      "tool: found one",
      "ai: It is one.",
    ])
    expect(told(second.messages)).toEqual(["human: And before?", "ai: It was one."])
    expect(model.calls.map(({ messages }) => told(messages))).toEqual([
      ["system: Be brief.", "human: What is it?"],
      ["system: Be brief.", "human: What is it?", "ai: call", "tool: found one"],
      [
        "system: Be brief.",
        "human: What is it?",
        "ai: call",
        "tool: found one",
        "ai: It is one.",
        "human: And before?",
      ],
    ])
  })

  it("stores each message as the state has it: ids, artifacts, metadata", async () => {
    await using memory = inMemory()
    const model = fakeModel()
      .respondWithTools(call("one"))
      .respond(
        new AIMessage({
          content: "Yes.",
          response_metadata: { logprobs: [1] },
          additional_kwargs: { refusal: null },
        }),
      )
    const agent = createAgent({ model, tools: [search], middleware: [memfold({ memory })] })
    const { messages } = await agent.invoke(asks("Is it?"), thread)
    const fields = (one: BaseMessage) => ({ ...one, lc_kwargs: undefined })
    expect((await stored(memory)).map(fields)).toEqual(messages.map(fields))
    expect((await stored(memory))[2]).toMatchObject({ artifact: { rows: ["one"] } })
  })

  it("stores nothing twice when a call is tried again, by a middleware or by the application", async () => {
    await using memory = inMemory()
    const model = fakeModel()
      .respondWithTools(call("one"))
      .respond(new Error("overloaded"))
      .respond(new AIMessage("done"))
    const agent = createAgent({
      model,
      tools: [search],
      middleware: [
        loose(modelRetryMiddleware, { maxRetries: 2, initialDelayMs: 0, jitter: false }),
        memfold({ memory }),
      ],
    })
    await agent.invoke(asks("Question?"), thread)
    expect(told(await stored(memory))).toEqual([
      "human: Question?",
      "ai: call",
      "tool: found one",
      "ai: done",
    ])

    const failing = createAgent({
      model: fakeModel().alwaysThrow(new Error("down")),
      middleware: [memfold({ memory })],
    })
    const request = { messages: [new HumanMessage({ content: "Again?", id: "request-7" })] }
    await expect(failing.invoke(request, thread)).rejects.toThrow("down")
    await expect(failing.invoke(request, thread)).rejects.toThrow("down")
    const working = createAgent({
      model: fakeModel().respond(new AIMessage("again")),
      middleware: [memfold({ memory })],
    })
    await working.invoke(request, thread)
    expect(told(await stored(memory)).slice(4)).toEqual(["human: Again?", "ai: again"])
  })

  it("writes an append once if the answer of the store is lost", async () => {
    await using memory = inMemory()
    const { neutral } = memory
    const lost = new Set([1, 2])
    let appends = 0
    const unreliable: Memory.AnyMemory = {
      neutral: {
        ...neutral,
        append: async (session, messages, options) => {
          const appended = await neutral.append(session, messages, options)
          if (lost.has(++appends)) throw new Error("the connection is lost")
          return appended
        },
      },
    }
    const model = fakeModel().respondWithTools(call("one")).respond(new AIMessage("done"))
    const agent = createAgent({
      model,
      tools: [search],
      middleware: [
        loose(modelRetryMiddleware, { maxRetries: 2, initialDelayMs: 0 }),
        memfold({ memory: unreliable }),
      ],
    })
    await agent.invoke(asks("Question?"), thread)
    expect(told(await stored(memory))).toEqual([
      "human: Question?",
      "ai: call",
      "tool: found one",
      "ai: done",
    ])
  })

  it("goes on after a failure with no message, behind the last step that ended", async () => {
    await using memory = inMemory()
    const broken = createAgent({
      model: fakeModel().respondWithTools(call("one")).alwaysThrow(new Error("down")),
      tools: [search],
      middleware: [memfold({ memory })],
    })
    await expect(broken.invoke(asks("Question?"), thread)).rejects.toThrow("down")
    const model = fakeModel().respond(new AIMessage("done"))
    const agent = createAgent({ model, tools: [search], middleware: [memfold({ memory })] })
    await agent.invoke({ messages: [] }, thread)
    expect(told(await stored(memory)).at(-1)).toBe("ai: done")
    expect(model.calls).toHaveLength(1)
  })

  it("has only finished steps of a call that was aborted", async () => {
    await using memory = inMemory()
    const controller = new AbortController()
    const waits = tool(
      async () => {
        controller.abort()
        return "too late"
      },
      { name: "search", description: "Searches.", schema: z.object({ query: z.string() }) },
    )
    const agent = createAgent({
      model: fakeModel().respondWithTools(call("one")).respond(new AIMessage("never")),
      tools: [waits],
      middleware: [memfold({ memory })],
    })
    await expect(agent.invoke(asks("Question?"), { ...thread, signal: controller.signal })).rejects.toThrow(
      /abort/iu,
    )
    expect(told(await stored(memory))).toEqual(["human: Question?"])
    const next = fakeModel().respond(new AIMessage("Hello."))
    await createAgent({ model: next, middleware: [memfold({ memory })] }).invoke(asks("Hello?"), thread)
    expect(told(next.calls[0]!.messages)).toEqual(["human: Question?", "human: Hello?"])
  })

  it("keeps two requests at once apart: a call and its result stay together, and none is lost", async () => {
    await using memory = inMemory()
    let waiting = 0
    let open: () => void
    const both = new Promise<void>((resolve) => (open = resolve))
    const meets = tool(
      async ({ query }) => {
        if (++waiting === 2) open()
        await both
        return `found ${query}`
      },
      { name: "search", description: "Searches.", schema: z.object({ query: z.string() }) },
    )
    const run = async (name: string) => {
      const model = fakeModel()
        .respondWithTools(call(name))
        .respond(new AIMessage(`done ${name}`))
      await createAgent({ model, tools: [meets], middleware: [memfold({ memory })] }).invoke(
        asks(name),
        thread,
      )
      return model
    }
    const models = await Promise.all([run("a"), run("b")])
    const said = told(await stored(memory))
    expect(said.toSorted()).toEqual([
      "ai: call",
      "ai: call",
      "ai: done a",
      "ai: done b",
      "human: a",
      "human: b",
      "tool: found a",
      "tool: found b",
    ])
    for (const [at, one] of said.entries())
      if (one === "ai: call") expect(said[at + 1]).toMatch(/^tool: found/u)
    for (const model of models)
      for (const { messages } of model.calls)
        for (const [at, one] of told(messages).entries())
          if (one === "ai: call") expect(messages[at + 1]?.type).toBe("tool")
  })

  it("names the session by a function, or says what is missing", async () => {
    await using memory = inMemory()
    const model = () => fakeModel().respond(new AIMessage("Hello."))
    const named = createAgent({
      model: model(),
      middleware: [
        memfold({ memory, session: ({ configurable }) => `of ${String(configurable?.["user"])}` }),
      ],
    })
    await named.invoke(asks("Hello?"), { configurable: { user: "ann" } })
    expect((await memory.state("of ann")).total).toBe(2)
    const nameless = createAgent({ model: model(), middleware: [memfold({ memory })] })
    await expect(nameless.invoke(asks("Hello?"))).rejects.toThrow(/no session .* thread_id/u)
  })
})

describe("an agent with a checkpointer as well", () => {
  const guarded = (
    memory: Memory.AnyMemory,
    checkpointer: MemorySaver,
    model: ReturnType<typeof fakeModel>,
  ) =>
    createAgent({
      model,
      tools: [search],
      checkpointer,
      middleware: [memfold({ memory }), loose(humanInTheLoopMiddleware, { interruptOn: { search: true } })],
    })

  it("waits for a person, and stores the call with what came of it", async () => {
    await using memory = inMemory()
    const checkpointer = new MemorySaver()
    await guarded(memory, checkpointer, fakeModel().respondWithTools(call("one"))).invoke(
      asks("Question?"),
      thread,
    )
    expect(told(await stored(memory))).toEqual(["human: Question?"])
    const resumed = guarded(memory, checkpointer, fakeModel().respond(new AIMessage("done")))
    await resumed.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread)
    const all = ["human: Question?", "ai: call", "tool: found one", "ai: done"]
    expect(told(await stored(memory))).toEqual(all)
    // The state of the thread has all messages again.
    await guarded(memory, checkpointer, fakeModel().respond(new AIMessage("Hi."))).invoke(
      asks("Hello?"),
      thread,
    )
    expect(told(await stored(memory))).toEqual([...all, "human: Hello?", "ai: Hi."])
  })
})

describe("an agent that ends without a last call of the model", () => {
  it("has a structured response with the result that LangChain makes for it", async () => {
    await using memory = inMemory()
    const model = fakeModel()
      .respondWithTools([{ name: "order", args: { id: "KX-4471" }, id: "c1" }])
      .respond(new AIMessage("Gladly."))
    const order = z.object({ id: z.string() }).describe("An order.").meta({ title: "order" })
    const agent = createAgent({
      model,
      responseFormat: toolStrategy(order),
      middleware: [memfold({ memory })],
    })
    const { structuredResponse } = await agent.invoke(asks("Which one?"), thread)
    expect(structuredResponse).toEqual({ id: "KX-4471" })
    const said = ["human: Which one?", "ai: call", 'tool: {"id":"KX-4471"}']
    expect(told(await stored(memory)).slice(0, 3)).toEqual(said)
    await createAgent({ model, middleware: [memfold({ memory })] }).invoke(asks("Thank you."), thread)
    expect(told(model.calls[1]!.messages).slice(0, 3)).toEqual(said)
  })

  it("has the result of a tool that answers itself", async () => {
    await using memory = inMemory()
    const direct = tool(async () => "42", {
      name: "search",
      description: "Searches.",
      schema: z.object({ query: z.string() }),
      returnDirect: true,
    })
    const agent = createAgent({
      model: fakeModel().respondWithTools(call("one")),
      tools: [direct],
      middleware: [memfold({ memory })],
    })
    await agent.invoke(asks("Question?"), thread)
    expect(told(await stored(memory))).toEqual(["human: Question?", "ai: call", "tool: 42"])
  })
})

describe("a compaction in a call of the agent", () => {
  it("stands in front of the messages, behind the system prompt, and never in the stream", async () => {
    const summaries = fakeModel()
    for (let one = 0; one < 20; one++) summaries.respond(new AIMessage("They count."))
    await using memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: { fullContextTurns: 1, cachedContextTurns: 1 },
      compaction: { mode: "inline" },
      summarizer: summarizer({ model: summaries }),
    })
    const model = fakeModel()
    for (let one = 0; one < 12; one++)
      model.respond(new AIMessage(`The number that comes after the one before is ${one}, and so it goes on.`))
    const systemPrompt = new SystemMessage({
      content: [{ type: "text", text: "Count.", cache_control: { type: "ephemeral" } }],
    })
    const agent = createAgent({ model, systemPrompt, middleware: [memfold({ memory })] })
    const streamed: Array<string> = []
    for (let turn = 0; turn < 12; turn++) {
      const asked = asks(`What is the number that comes after the number ${turn} if one goes on counting?`)
      for await (const [chunk] of await agent.stream(asked, { ...thread, streamMode: "messages" }))
        streamed.push(chunk.text)
    }
    expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
    expect(summaries.callCount).toBeGreaterThan(2)
    const [system, ...rest] = model.calls.at(-1)!.messages
    expect(system!.content).toEqual([
      { type: "text", text: "Count.", cache_control: { type: "ephemeral" } },
      { type: "text", text: expect.stringContaining("They count.") as string },
    ])
    expect(rest.length).toBeLessThan(10)
    expect(streamed.join("\n")).not.toContain("They count.")
    expect(
      (await stored(memory)).filter((one) => ToolMessage.isInstance(one) || SystemMessage.isInstance(one)),
    ).toEqual([])
  })
})
