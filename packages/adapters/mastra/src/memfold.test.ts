/** The processors with agents of Mastra: what they store, and what the model gets. */
import { Agent, type MastraDBMessage, type MessageList } from "@mastra/core/agent"
import { Mastra } from "@mastra/core"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import type { Memory } from "@memfold/core"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemory } from "memfold"
import { type Answer, type Prompted, versions } from "@memfold/harness/aiSdkVersions"
import { loose } from "../test/loose.js"
import { memfold, messagesOf } from "./index.js"
import { MastraSession } from "./session.js"
import { quiet } from "../test/quiet.js"

quiet()

const [, , seven] = versions
const schema = z.object({ query: z.string() })
const search = createTool({
  id: "search",
  description: "Searches.",
  inputSchema: schema,
  execute: async ({ query }) => ({ found: query }),
})

const thread = { memory: { thread: "chat", resource: "ann" } }
const inMemory = () => createMemory({ store: "memory:", compaction: { mode: "off" } })
const calls = (...queries: ReadonlyArray<string>): Answer => ({
  calls: queries.map((query) => ({ id: `call-${query}`, input: { query } })),
})

const scripted = (answers: ReadonlyArray<Answer | Error>, version = seven!) => {
  const scripted = version.model((_prompt, request) => {
    const answer = answers[request] ?? { text: "There is no more." }
    if (answer instanceof Error) throw answer
    return answer
  })
  // Signed reasoning is for Anthropic.
  Object.assign(scripted.model, { provider: "anthropic.mock" })
  return scripted
}

const partOf = (part: { readonly [key: string]: unknown }): string =>
  part["type"] === "text"
    ? String(part["text"])
    : part["type"] === "tool-call" || part["type"] === "tool-result"
      ? `${part["type"]} ${String(part["toolCallId"])}`
      : String(part["type"])
const told = (prompt: ReadonlyArray<Prompted> | undefined) =>
  (prompt ?? []).map(
    ({ role, content }) =>
      `${role}: ${typeof content === "string" ? content : (content as Array<{ readonly [key: string]: unknown }>).map(partOf).join(", ")}`,
  )
const stored = async (memory: Memory.AnyMemory) =>
  (
    await Promise.resolve((memory as { readonly neutral: Memory.Neutral }).neutral.messages("chat"))
  ).messages.map(
    ({ role, parts }) =>
      `${role}: ${parts
        .filter(({ type }) => type !== "opaque")
        .map((part) =>
          part.type === "text"
            ? part.text
            : part.type === "tool-call" || part.type === "tool-result"
              ? `${part.type} ${part.id}`
              : part.type,
        )
        .join(", ")}`,
  )

const settings = (model: { readonly model: unknown }, memory: Memory.AnyMemory) => ({
  id: "support",
  name: "Support",
  instructions: "Be brief.",
  model: loose(model.model as never),
  tools: { search },
  ...memfold({ memory }),
})

describe.each(versions)("an agent with a model of $name", (version) => {
  it.each(["generate", "stream"] as const)("goes on where the session stands: %s", async (method) => {
    await using memory = inMemory()
    const model = scripted(
      [{ reasoning: "Hm.", ...calls("one", "two") }, { text: "Both." }, { text: "It was." }],
      version,
    )
    const ask = async (text: string) => {
      const agent = new Agent(settings(model, memory))
      if (method === "generate") return (await agent.generate(text, thread)).text
      return (await agent.stream(text, thread)).text
    }
    expect([await ask("What is it?"), await ask("And before?")]).toEqual(["Both.", "It was."])
    const turn = [
      "user: What is it?",
      "assistant: reasoning, tool-call call-one, tool-call call-two",
      "tool: tool-result call-one, tool-result call-two",
    ]
    expect(model.prompts.map(told)).toEqual([
      ["system: Be brief.", turn[0]],
      ["system: Be brief.", ...turn],
      ["system: Be brief.", ...turn, "assistant: Both.", "user: And before?"],
    ])
    expect(await stored(memory)).toEqual([
      ...turn,
      "assistant: Both.",
      "user: And before?",
      "assistant: It was.",
    ])
  })
})

/** An agent that also notes the messages of its calls, as a memory of Mastra would get them. */
const noting = (model: { readonly model: unknown }, memory: Memory.AnyMemory) => {
  const noted: Array<MastraDBMessage> = []
  const { inputProcessors, outputProcessors } = memfold({ memory })
  const agent = new Agent({
    ...settings(model, memory),
    inputProcessors,
    outputProcessors: [
      ...outputProcessors,
      {
        id: "notes",
        processOutputResult: ({ messageList }) => {
          noted.push(...structuredClone(messageList.get.all.db()))
          return messageList
        },
      },
    ],
  })
  return { agent, noted }
}

const plain = (all: ReadonlyArray<MastraDBMessage>) => JSON.parse(JSON.stringify(all)) as unknown

it("is refused where it is set up without a memory, and not in the first call", () => {
  for (const wrong of [undefined, null, {}, 5, "memory:", Promise.resolve()])
    expect(() => memfold({ memory: wrong as never })).toThrow('The option "memory" must be a memory')
})

describe("what is stored", () => {
  it("is what Mastra has: ids, dates, metadata, steps", async () => {
    await using memory = inMemory()
    const model = scripted([
      { reasoning: "Hm.", ...calls("one") },
      calls("two"),
      { text: "Done." },
      { text: "Yes." },
    ])
    const { agent, noted } = noting(model, memory)
    await agent.generate("One?", thread)
    await agent.generate({ id: "q2", role: "user", content: [{ type: "text", text: "Two?" }] }, thread)
    expect(plain(await messagesOf(memory, "chat"))).toEqual(plain(noted))
    expect(noted.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
    expect(noted[1]!.content.parts.filter(({ type }) => type === "step-start")).toHaveLength(2)
    expect(noted[2]!.id).toBe("q2")
  })

  it("has what a tool returned, and the model what it made of it", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), { text: "Done." }])
    const { agent, noted } = noting(model, memory)
    const pictures = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      execute: async () => ({ secret: "KX-4471" }),
      toModelOutput: () => ({ type: "content", value: [{ type: "text", text: "A picture." }] }),
    })
    await agent.generate("One?", { ...thread, toolsets: { more: { search: pictures } } })
    expect(JSON.stringify(model.prompts.at(-1))).toContain("A picture.")
    expect(JSON.stringify(model.prompts.at(-1))).not.toContain("KX-4471")
    expect(plain(await messagesOf(memory, "chat"))).toEqual(plain(noted))
    expect(JSON.stringify(noted)).toContain("KX-4471")
  })
})

describe("calls of an answer that have the same id", () => {
  it("have a result each, so that the model gets the answer", async () => {
    await using memory = inMemory()
    const twins = ["one", "two"].map((query) => ({ id: "call_0", input: { query } }))
    const model = scripted([{ calls: twins }, { text: "Both." }])
    await new Agent(settings(model, memory)).generate("Search.", thread)
    expect(told(model.prompts[1])).toEqual([
      "system: Be brief.",
      "user: Search.",
      expect.stringMatching(/^assistant: tool-call (\S+), tool-call (?!\1$)\S+$/),
      expect.stringMatching(/^tool: tool-result (\S+), tool-result (?!\1$)\S+$/),
    ])
    expect(await stored(memory)).toEqual([
      "user: Search.",
      "assistant: tool-call call_0, tool-call call_0",
      "tool: tool-result call_0, tool-result call_0",
      "assistant: Both.",
    ])
  })
})

describe("a call that is tried again", () => {
  it("stores nothing twice: by its id", async () => {
    await using memory = inMemory()
    const asked = {
      id: "request-7",
      role: "user" as const,
      content: [{ type: "text" as const, text: "Again?" }],
    }
    const failing = new Agent({
      ...settings(scripted([calls("one"), new Error("down"), new Error("down")]), memory),
      maxRetries: 0,
    })
    await expect(failing.generate(asked, thread)).rejects.toThrow("down")
    await expect(failing.generate(asked, thread)).rejects.toThrow("down")
    const model = scripted([{ text: "Yes." }])
    await new Agent(settings(model, memory)).generate(asked, thread)
    const all = ["user: Again?", "assistant: tool-call call-one", "tool: tool-result call-one"]
    expect(await stored(memory)).toEqual([...all, "assistant: Yes."])
    expect(told(model.prompts[0])).toEqual(["system: Be brief.", ...all])
  })

  it("goes on with no message, behind the last step that ended", async () => {
    await using memory = inMemory()
    const failing = new Agent({
      ...settings(scripted([calls("one"), new Error("down")]), memory),
      maxRetries: 0,
    })
    await expect(failing.generate("Question?", thread)).rejects.toThrow("down")
    const model = scripted([{ text: "Done." }])
    expect((await new Agent(settings(model, memory)).generate([], thread)).text).toBe("Done.")
    expect((await stored(memory)).at(-1)).toBe("assistant: Done.")
  })

  it("by another model", async () => {
    await using memory = inMemory()
    const [first, second] = [scripted([calls("one"), new Error("down")]), scripted([{ text: "Done." }])]
    const agent = new Agent({
      ...settings(first, memory),
      model: [
        { model: loose(first.model as never) as never, maxRetries: 0 },
        { model: loose(second.model as never) as never, maxRetries: 0 },
      ],
    })
    expect((await agent.generate("Question?", thread)).text).toBe("Done.")
    expect(await stored(memory)).toEqual([
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "assistant: Done.",
    ])
  })

  it("by a processor that refuses an answer", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), { text: "Bad." }, { text: "Good." }])
    const { inputProcessors, outputProcessors } = memfold({ memory })
    const agent = new Agent({
      ...settings(model, memory),
      maxProcessorRetries: 2,
      inputProcessors,
      outputProcessors: [
        {
          id: "strict",
          processOutputStep: ({ text, abort, messageList }) => {
            if (text === "Bad.") abort("It is bad.", { retry: true })
            return messageList
          },
        },
        ...outputProcessors,
      ],
    })
    await agent.generate("Question?", thread)
    expect(await stored(memory)).toEqual([
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "assistant: Good.",
    ])
  })

  it("because the answer of the store is lost", async () => {
    await using memory = inMemory()
    const { neutral } = memory
    const lost = new Set([1, 3])
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
    const asked = { id: "q1", role: "user" as const, content: [{ type: "text" as const, text: "Question?" }] }
    const model = scripted([calls("one"), { text: "Done." }])
    const agent = new Agent({ ...settings(model, unreliable), maxRetries: 0 })
    await expect(agent.generate(asked, thread)).rejects.toThrow("the connection is lost")
    await expect(agent.generate(asked, thread)).rejects.toThrow("the connection is lost")
    const all = ["user: Question?", "assistant: tool-call call-one", "tool: tool-result call-one"]
    expect(await stored(memory)).toEqual([...all, "assistant: Done."])
    // The session has the whole answer; whoever asks again asks for another one.
    await agent.generate(asked, thread)
    expect(await stored(memory)).toEqual(["user: Question?", "assistant: There is no more."])
    await memory.checkout("chat", 0)
    expect(await stored(memory)).toEqual([...all, "assistant: Done."])
  })
})

describe("a call that ends early", () => {
  it("has the result of a tool that was running when it was aborted", async () => {
    await using memory = inMemory()
    const controller = new AbortController()
    const waits = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      execute: async () => {
        controller.abort()
        return "too late"
      },
    })
    const agent = new Agent({ ...settings(scripted([calls("one")]), memory), tools: { search: waits } })
    const stream = await agent.stream("Question?", { ...thread, abortSignal: controller.signal })
    await stream.consumeStream()
    const model = scripted([{ text: "Hello." }])
    await new Agent(settings(model, memory)).generate("Hello?", thread)
    const before = ["user: Question?", "assistant: tool-call call-one", "tool: tool-result call-one"]
    expect(await stored(memory)).toEqual([...before, "user: Hello?", "assistant: Hello."])
    expect(told(model.prompts[0])).toEqual(["system: Be brief.", ...before, "user: Hello?"])
  })

  it("has the open call of a tool that the application runs, and takes its result", async () => {
    await using memory = inMemory()
    const page = createTool({ id: "search", description: "Searches.", inputSchema: schema })
    const model = scripted([calls("one"), { text: "Done." }])
    const agent = new Agent({ ...settings(model, memory), tools: { search: page } })
    const first = await agent.generate("Question?", thread)
    expect(first.finishReason).toBe("tool-calls")
    expect(await stored(memory)).toEqual(["user: Question?", "assistant: tool-call call-one"])
    const result = {
      role: "tool" as const,
      content: [
        {
          type: "tool-result" as const,
          toolCallId: "call-one",
          toolName: "search",
          output: { type: "json" as const, value: { found: 1 } },
        },
      ],
    }
    await agent.generate([result], thread)
    expect(told(model.prompts[1])).toEqual([
      "system: Be brief.",
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
    ])
    expect(await stored(memory)).toEqual([
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "assistant: Done.",
    ])
  })

  it("goes on with the next message if nothing answers an open call", async () => {
    await using memory = inMemory()
    const page = createTool({ id: "search", description: "Searches.", inputSchema: schema })
    const model = scripted([calls("one"), { text: "Never mind." }])
    const agent = new Agent({ ...settings(model, memory), tools: { search: page } })
    await agent.generate("Question?", thread)
    await agent.generate("Forget it.", thread)
    expect(told(model.prompts[1])).toEqual([
      "system: Be brief.",
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "user: Forget it.",
    ])
  })
})

describe("a call that waits for a person", () => {
  const guarded = (memory: Memory.AnyMemory, model: { readonly model: unknown }) => {
    const asks = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      requireApproval: true,
      execute: async ({ query }) => ({ found: query }),
    })
    return new Agent({ ...settings(model, memory), tools: { search: asks } })
  }

  it.each(["approveToolCall", "declineToolCall"] as const)(
    "stores it with what came of it: %s",
    async (way) => {
      await using memory = inMemory()
      const model = scripted([calls("one"), { text: "Done." }])
      const agents = { agent: guarded(memory, model) }
      const agent = new Mastra({ agents, storage: new InMemoryStore(), logger: false }).getAgent("agent")
      const stream = await agent.stream("Question?", thread)
      await stream.consumeStream()
      expect(await stored(memory)).toEqual(["user: Question?"])
      const resumed = await agent[way]({ runId: stream.runId, toolCallId: "call-one" })
      await resumed.consumeStream()
      expect(told(model.prompts.at(-1))).toEqual([
        "system: Be brief.",
        "user: Question?",
        "assistant: tool-call call-one",
        "tool: tool-result call-one",
      ])
      expect(await stored(memory)).toEqual([
        "user: Question?",
        "assistant: tool-call call-one",
        "tool: tool-result call-one",
        "assistant: Done.",
      ])
    },
  )
})

describe("a page that sends its messages", () => {
  const asked = (id: string, text: string) => ({
    id,
    role: "user" as const,
    parts: [{ type: "text" as const, text }],
  })

  it("has them stored once, and goes on from an edited one", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), { text: "It is one." }, { text: "Two." }, { text: "Three." }])
    const agent = new Agent(settings(model, memory))
    const first = await agent.stream([asked("u1", "One?")], thread)
    await first.consumeStream()
    const answer = first.messageList.get.response.aiV5.ui()
    const page = [asked("u1", "One?"), ...answer, asked("u2", "Two?")]
    await agent.generate(page, thread)
    const all = [
      "user: One?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "assistant: It is one.",
    ]
    expect(await stored(memory)).toEqual([...all, "user: Two?", "assistant: Two."])
    // What the session never had, in front of what it has, was said elsewhere.
    await agent.generate([asked("u0", "Zero?"), ...page.slice(0, -1), asked("u2", "Three?")], thread)
    expect(await stored(memory)).toEqual([...all, "user: Three?", "assistant: Three."])
    expect(told(model.prompts.at(-1))).toEqual(["system: Be brief.", ...all, "user: Three?"])
    const edited = (await messagesOf(memory, "chat")).filter(({ id }) => id === "u2")
    expect(edited.map(({ content }) => content.parts)).toMatchObject([[{ text: "Three?" }]])
    // The page asks for another answer: it leaves the first one out.
    await agent.generate([asked("u1", "One?")], thread)
    expect(told(model.prompts.at(-1))).toEqual(["system: Be brief.", "user: One?"])
    expect(await stored(memory)).toEqual(["user: One?", "assistant: There is no more."])
    await memory.checkout("chat", 0)
    expect(await stored(memory)).toEqual([...all, "user: Two?", "assistant: Two."])
  })

  it("goes on without what the page took out of its list", async () => {
    await using memory = inMemory()
    const model = scripted(["One.", "Two.", "Three.", "Four."].map((text) => ({ text })))
    const agent = new Agent(settings(model, memory))
    for (const name of ["One", "Two", "Three"]) {
      await agent.generate([...(await messagesOf(memory, "chat")), asked(name, `${name}?`)], thread)
    }
    const shown = (await messagesOf(memory, "chat")).toSpliced(2, 2)
    await agent.generate([...shown, asked("Four", "Four?")], thread)
    const all = ["user: One?", "assistant: One.", "user: Three?", "assistant: Three.", "user: Four?"]
    expect(told(model.prompts[3])).toEqual(["system: Be brief.", ...all])
    expect(await stored(memory)).toEqual([...all, "assistant: Four."])
  })

  it.each([
    ["edited", [asked("u1", "Won?")]],
    ["passed over", [asked("u1", "One?"), asked("u2", "Two?")]],
  ])("does not get an answer to what was %s while the model answered", async (_what, list) => {
    await using memory = inMemory()
    let edit = async () => {}
    const edits = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      execute: async () => {
        await edit()
        return "too late"
      },
    })
    const agent = new Agent({ ...settings(scripted([calls("one")]), memory), tools: { search: edits } })
    const other = new Agent(settings(scripted([{ text: "Won." }]), memory))
    edit = async () => void (await other.generate(list, thread))
    await expect(
      agent.generate([asked("u1", "One?")], { ...thread, maxRetries: 0 } as never),
    ).rejects.toMatchObject({ name: "BranchLeft" })
    expect(await stored(memory)).toEqual([
      ...list.map(({ parts: [part] }) => `user: ${part!.text}`),
      "assistant: Won.",
    ])
  })

  it("goes back to an earlier answer that the page shows again", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), ...["First.", "Second.", "Third."].map((text) => ({ text }))])
    const agent = new Agent(settings(model, memory))
    await agent.generate([asked("u1", "One?")], thread)
    const before = await messagesOf(memory, "chat")
    await agent.generate([asked("u1", "One?")], thread)
    expect(await stored(memory)).toEqual(["user: One?", "assistant: Second."])
    await agent.generate([...before, asked("u2", "Two?")], thread)
    const all = ["user: One?", "assistant: tool-call call-one", "tool: tool-result call-one"]
    expect(await stored(memory)).toEqual([...all, "assistant: First.", "user: Two?", "assistant: Third."])
    expect(await memory.branches("chat")).toHaveLength(2)
  })

  it("has a conversation without ids stored once, however often it is sent", async () => {
    await using memory = inMemory()
    const model = scripted(["a", "b", "c", "d"].map((text) => ({ text })))
    const said: Array<{ role: "user"; content: string } | { role: "assistant"; content: string }> = []
    for (const content of ["One?", "Two?", "Three?"]) {
      said.push({ role: "user", content })
      const { text } = await new Agent(settings(model, memory)).generate(said, thread)
      said.push({ role: "assistant", content: text })
    }
    const all = ["user: One?", "assistant: a", "user: Two?", "assistant: b", "user: Three?"]
    expect(await stored(memory)).toEqual([...all, "assistant: c"])
    await new Agent(settings(model, memory)).generate(said.slice(0, -1), thread)
    expect(await stored(memory)).toEqual([...all, "assistant: d"])
    expect(told(model.prompts[3])).toEqual(["system: Be brief.", ...all])
  })

  it("has the results of its tools stored behind their calls", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), { text: "Done." }])
    const onPage = createTool({ id: "search", description: "Searches.", inputSchema: schema })
    const agent = new Agent({ ...settings(model, memory), tools: { search: onPage } })
    const first = await agent.stream([asked("u1", "One?")], thread)
    await first.consumeStream()
    const [answer] = first.messageList.get.response.aiV5.ui()
    const parts = answer!.parts.map((part) =>
      part.type === "tool-search" ? { ...part, state: "output-available", output: { found: "one" } } : part,
    )
    await agent.generate([asked("u1", "One?"), { ...answer!, parts } as typeof answer & object], thread)
    const all = ["user: One?", "assistant: tool-call call-one", "tool: tool-result call-one"]
    expect(told(model.prompts[1])).toEqual(["system: Be brief.", ...all])
    expect(await stored(memory)).toEqual([...all, "assistant: Done."])
    expect((await messagesOf(memory, "chat")).at(-1)!.content.parts.map(({ type }) => type)).toContain("text")
  })
})

describe("a tool that suspends", () => {
  it("is stored with what came of it", async () => {
    await using memory = inMemory()
    const model = scripted([calls("one"), { text: "Done." }])
    const asks = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      suspendSchema: z.object({ question: z.string() }),
      resumeSchema: z.object({ answer: z.string() }),
      execute: async (_input, context) => {
        const { resumeData, suspend } = context?.agent ?? {}
        if (resumeData === undefined) return suspend?.({ question: "Which one?" })
        return { found: resumeData.answer }
      },
    })
    const agents = { agent: new Agent({ ...settings(model, memory), tools: { search: asks } }) }
    const agent = new Mastra({ agents, storage: new InMemoryStore(), logger: false }).getAgent("agent")
    const stream = await agent.stream("Question?", thread)
    await stream.consumeStream()
    expect(await stored(memory)).toEqual(["user: Question?"])
    const resumed = await agent.resumeStream({ answer: "the first" }, { ...thread, runId: stream.runId })
    await resumed.consumeStream()
    expect(await stored(memory)).toEqual([
      "user: Question?",
      "assistant: tool-call call-one",
      "tool: tool-result call-one",
      "assistant: Done.",
    ])
    expect(JSON.stringify(model.prompts[1])).toContain("the first")
  })
})

describe("two requests at once", () => {
  it("keep their calls and results together, and none is lost", async () => {
    await using memory = inMemory()
    let waiting = 0
    let open: () => void
    const both = new Promise<void>((resolve) => (open = resolve))
    const meets = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: schema,
      execute: async ({ query }) => {
        if (++waiting === 2) open()
        await both
        return { found: query }
      },
    })
    const run = async (name: string) => {
      const model = scripted([calls(name), { text: `Done ${name}.` }])
      const agent = new Agent({ ...settings(model, memory), tools: { search: meets } })
      await agent.generate(`Question ${name}?`, thread)
      return model
    }
    const models = await Promise.all([run("a"), run("b")])
    const said = await stored(memory)
    expect(said.toSorted()).toEqual([
      "assistant: Done a.",
      "assistant: Done b.",
      "assistant: tool-call call-a",
      "assistant: tool-call call-b",
      "tool: tool-result call-a",
      "tool: tool-result call-b",
      "user: Question a?",
      "user: Question b?",
    ])
    for (const all of [said, ...models.flatMap(({ prompts }) => prompts.map(told))]) {
      for (const [at, one] of all.entries()) {
        if (one.includes("tool-call"))
          expect(all[at + 1]).toBe(one.replace("assistant: tool-call", "tool: tool-result"))
      }
    }
  })
})

describe("an error of the memory", () => {
  it.each(["generate", "stream"] as const)("says what happened: %s", async (method) => {
    const memory = inMemory()
    await memory.close()
    const model = scripted([{ text: "Hello." }])
    const agent = new Agent(settings(model, memory))
    const thrown = async (): Promise<unknown> => {
      if (method === "generate") return agent.generate("Hello?", thread).catch((error: unknown) => error)
      const stream = await agent.stream("Hello?", thread)
      await stream.consumeStream()
      return stream.error
    }
    const error = await thrown()
    expect(error).toMatchObject({ name: "Closed", message: expect.stringContaining("closed") as string })
    expect(model.prompts).toEqual([])
  })
})

describe("a request that two processes get at once", () => {
  it("is stored once", async () => {
    await using memory = inMemory()
    const { neutral } = memory
    let reading = 0
    let open: () => void
    const both = new Promise<void>((resolve) => (open = resolve))
    // Each process has a memory of its own; both have read the session before one of them writes.
    const process = (): Memory.AnyMemory => ({
      neutral: {
        ...neutral,
        messages: async (session, options) => {
          const page = await neutral.messages(session, options)
          if (++reading === 2) open()
          await both
          return page
        },
      },
    })
    const createdAt = new Date(0)
    const content = { format: 2 as const, parts: [{ type: "text" as const, text: "Question?" }] }
    const asked: MastraDBMessage = { id: "q1", role: "user", createdAt, content }
    const save = async (own: Memory.AnyMemory) => {
      const chat = new MastraSession(own, "chat")
      await chat.save(await chat.given([asked]), { sent: new Set(), ended: false, prefix: undefined })
    }
    await Promise.all([save(process()), save(process())])
    expect(await stored(memory)).toEqual(["user: Question?"])
  })
})

describe("a call that is still open when the model is asked", () => {
  it("is stored when it has its result, or when the call of the agent ends", async () => {
    const call = { toolCallId: "call-one", toolName: "search", args: {} }
    const answer = (toolInvocation: object): MastraDBMessage =>
      ({
        id: "a1",
        role: "assistant",
        createdAt: new Date(0),
        content: {
          format: 2,
          parts: [{ type: "tool-invocation", toolInvocation: { ...call, ...toolInvocation } }],
        },
      }) as MastraDBMessage
    const [open, done] = [answer({ state: "call" }), answer({ state: "result", result: 1 })]
    const options = { sent: new Set<string>(), prefix: undefined }
    const calls = ["assistant: tool-call call-one", "tool: tool-result call-one"]
    for (const ended of [false, true]) {
      await using memory = inMemory()
      const chat = new MastraSession(memory, "chat")
      await chat.save(await chat.given([open]), { ...options, ended })
      expect(await stored(memory)).toEqual(ended ? calls.slice(0, 1) : [])
      await chat.save(await chat.given([done]), { ...options, ended: true })
      expect(await stored(memory)).toEqual(calls)
    }
  })
})

describe("a file by its address", () => {
  it("is fetched for a model that does not read it, and stored as it was", async () => {
    const bytes = Buffer.from("89504e470d0a1a0a", "hex")
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "image/png")
      response.end(bytes)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`
    await using memory = inMemory()
    const model = scripted([{ text: "Nice." }, { text: "Yes." }])
    const agent = new Agent(settings(model, memory))
    const image = { type: "file" as const, data: url, mediaType: "image/png" }
    await agent.generate([{ role: "user", content: [image] }], thread)
    await agent.generate("Is it?", thread)
    await new Promise((resolve) => server.close(resolve))
    const [first, second] = model.prompts.map((prompt) => prompt[1]!.content)
    expect(first).toMatchObject([{ type: "file", mediaType: "image/png", data: { type: "data" } }])
    const [{ data }] = first as [{ readonly data: { readonly data: Uint8Array } }]
    expect(Buffer.from(data.data).equals(bytes)).toBe(true)
    expect(second).toEqual(first)
    expect(JSON.stringify(await messagesOf(memory, "chat"))).toContain(url)
  })
})

describe("the session of a call", () => {
  it("is named by a function, or what is missing is said", async () => {
    await using memory = inMemory()
    const model = scripted([{ text: "Hello." }, { text: "Hello." }])
    const named = memfold({ memory, session: ({ threadId, resourceId }) => `${resourceId}/${threadId}` })
    await new Agent({ ...settings(model, memory), ...named }).generate("Hello?", thread)
    expect((await memory.state("ann/chat")).total).toBe(2)
    await expect(new Agent(settings(model, memory)).generate("Hello?")).rejects.toThrow(
      /no session .* thread/u,
    )
    expect(model.prompts).toHaveLength(1)
  })

  it("has no messages of a memory of Mastra, and all others that the model got", async () => {
    await using memory = inMemory()
    const model = scripted([{ text: "Hello." }])
    const remembers = {
      id: "remembers",
      processInput: ({ messageList }: { readonly messageList: MessageList }) =>
        messageList.add({ role: "user", content: "An old message." }, "memory"),
    }
    const { inputProcessors, outputProcessors } = memfold({ memory })
    const agent = new Agent({
      ...settings(model, memory),
      inputProcessors: [remembers, ...inputProcessors],
      outputProcessors,
    })
    await agent.generate("Hello?", { ...thread, context: [{ role: "user", content: "It is Monday." }] })
    const all = ["user: It is Monday.", "user: Hello?"]
    expect(told(model.prompts[0])).toEqual(["system: Be brief.", ...all])
    expect(await stored(memory)).toEqual([...all, "assistant: Hello."])
  })
})

describe("a compaction in a call of the agent", () => {
  it("stands behind the instructions, in one system message, and cuts no call from its result", async () => {
    await using memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: { fullContextTurns: 1, cachedContextTurns: 1 },
      compaction: { mode: "inline" },
      summarizer: async () => "They count.",
    })
    const turns = Array.from({ length: 12 }, (_, turn) => turn)
    const model = scripted(
      turns.flatMap((turn) => [calls(`${turn}`), { text: `The number after it is ${turn}.` }]),
    )
    const agent = new Agent(settings(model, memory))
    for (const turn of turns)
      await agent.generate(`What comes after the number ${turn}, as one counts?`, thread)
    expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
    const last = told(model.prompts.at(-1))
    expect(last[0]).toBe("system: Be brief.")
    expect(last[1]).toMatch(/^system: .*They count\./su)
    expect(last.filter((one) => one.startsWith("system"))).toHaveLength(2)
    expect(last.length).toBeLessThan(12)
    for (const prompt of model.prompts.map(told)) {
      const [asked, answered] = ["tool-call", "tool-result"].map((type) => prompt.join().split(type).length)
      expect(asked).toBe(answered)
    }
    expect(await messagesOf(memory, "chat")).toHaveLength(24)
  })
})
