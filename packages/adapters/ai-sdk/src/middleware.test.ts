/** The middleware for language models, with the real AI SDK 5, 6 and 7. */
import type { Message } from "@memfold/core"
import type { LanguageModel, wrapLanguageModel } from "ai"
import { describe, expect, it } from "vitest"
import { createMemory, Keep, Strategy as S, SummaryMode, Trigger } from "memfold"
import { type Answer, search, versions } from "@memfold/harness/aiSdkVersions"
import { aiSdk, type AiSdkSession, type MessagesOptions } from "./index.js"

const plain = { store: "memory:", compaction: { mode: "off" } } as const
const compacting = {
  store: "memory:",
  summarizer: "echo",
  strategy: S.make({
    name: "short",
    when: Trigger.backlog({ messages: 4 }),
    keep: Keep.lastMessages(3),
    summaryMode: SummaryMode.rolling,
  }),
  compaction: { mode: "inline" },
} as const
const tools = { search }

const outline = async (memory: { readonly neutral: { readonly messages: Function } }) => {
  const { messages } = await memory.neutral.messages("chat", { limit: 500 })
  return (messages as ReadonlyArray<Message.Message>).map(({ role, parts }) =>
    [
      role,
      ...parts.map((part) => ("id" in part ? part.id : part.type === "text" ? part.text : part.type)),
    ].join(" "),
  )
}

/** Calls the tool `calls` times, then says something. */
const agent =
  (calls: number) =>
  (_prompt: unknown, request: number): Answer =>
    request % (calls + 1) < calls
      ? { calls: [{ id: `c${request}`, input: { query: `q${request}` } }] }
      : { text: `answer ${request}` }

for (const { name, sdk, model: make, steps, major } of versions) {
  const { generateText, streamText } = sdk
  const wrapped = (model: LanguageModel, chat: AiSdkSession, options?: MessagesOptions) =>
    sdk.wrapLanguageModel({
      model: model as Parameters<typeof wrapLanguageModel>[0]["model"],
      middleware: chat.middleware(options),
    })

  describe(name, () => {
    it("gives a plain generateText with only the new message a session", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make((_prompt, request) => ({ text: `answer ${request}` }))
      for (const prompt of ["one", "two"]) {
        const chat = aiSdk(memory, { major }).session("chat")
        await generateText({ model: wrapped(model, chat), system: "Be brief.", prompt })
      }
      expect(await outline(memory)).toEqual([
        "user one",
        "assistant answer 0",
        "user two",
        "assistant answer 1",
      ])
      expect(prompts[1]?.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"])
      expect(prompts[1]?.[0]?.content).toBe("Be brief.")
      expect((await memory.neutral.messages("chat")).messages[1]?.usage).toEqual({ input: 40, output: 7 })
    })

    for (const kind of ["generateText", "streamText"] as const) {
      it(`stores a tool loop of ${kind} once, and compacts within it`, async () => {
        await using memory = createMemory(compacting)
        const { model, prompts } = make(agent(12))
        const chat = aiSdk(memory, { major }).session("chat", { instructions: "Be kind." })
        const call = { model: wrapped(model, chat), tools, prompt: "Find it.", stopWhen: steps(20) }
        const text = kind === "generateText" ? (await generateText(call)).text : await streamText(call).text
        expect(text).toBe("answer 12")
        const lines = await outline(memory)
        expect(lines).toHaveLength(26)
        expect(lines.slice(0, 3)).toEqual(["user Find it.", "assistant c0", "tool c0"])
        expect(new Set(lines).size).toBe(26)
        expect((await memory.summaries("chat")).length).toBeGreaterThan(3)
        expect(Math.max(...prompts.map((prompt) => prompt.length))).toBeLessThan(10)
        expect(JSON.stringify(prompts.at(-1)?.slice(0, 2))).toMatch(
          /Be kind\.\\n\\n\[Conversation Summary\]/u,
        )
      })
    }

    it("stores the last step of a loop that stops with its results, by onEnd", async () => {
      await using memory = createMemory(plain)
      const { model } = make(agent(2))
      const chat = aiSdk(memory, { major }).session("chat")
      const wrappedModel = wrapped(model, chat)
      const result = await generateText({ model: wrappedModel, tools, prompt: "one", stopWhen: steps(2) })
      expect(await outline(memory)).toHaveLength(3)
      await chat.onEnd(result)
      await chat.onEnd(result)
      const before = ["user one", "assistant c0", "tool c0", "assistant c1", "tool c1"]
      expect(await outline(memory)).toEqual(before)
      await generateText({ model: wrappedModel, prompt: "two" })
      expect(await outline(memory)).toEqual([...before, "user two", "assistant answer 2"])
    })

    it("stores a call without results as interrupted", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make((_prompt, request) =>
        request === 0 ? { calls: [{ id: "c0", input: { query: "q" } }] } : { text: "Fine." },
      )
      const model1 = wrapped(model, aiSdk(memory, { major }).session("chat"))
      await generateText({ model: model1, tools, prompt: "one" })
      await generateText({ model: model1, tools, prompt: "two" })
      expect(await outline(memory)).toEqual(["user one", "assistant c0", "user two", "assistant Fine."])
      expect(prompts[1]?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"])
    })

    it("stores a call once that the SDK tries again", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make((_prompt, request) => {
        if (request === 0)
          throw Object.assign(new Error("busy"), {
            name: "AI_APICallError",
            [Symbol.for("vercel.ai.error.AI_APICallError")]: true,
            isRetryable: true,
            responseHeaders: { "retry-after-ms": "1" },
          })
        return { text: "Fine." }
      })
      const chat = aiSdk(memory, { major }).session("chat")
      await generateText({ model: wrapped(model, chat), prompt: "one" })
      expect(prompts).toHaveLength(2)
      expect(await outline(memory)).toEqual(["user one", "assistant Fine."])
      // The same words again are said again.
      await generateText({ model: wrapped(model, chat), prompt: "one" })
      expect(await outline(memory)).toHaveLength(4)
    })

    it("stores a request once that is sent again under its name", async () => {
      await using memory = createMemory(plain)
      const { model } = make((_prompt, request) => {
        if (request === 0) throw new Error("gone")
        return { text: "Fine." }
      })
      const ask = () => {
        const chat = aiSdk(memory, { major }).session("chat")
        return generateText({ model: wrapped(model, chat, { idempotencyKey: "request-1" }), prompt: "one" })
      }
      await expect(ask()).rejects.toThrow("gone")
      await ask()
      expect(await outline(memory)).toEqual(["user one", "assistant Fine."])
    })

    it("keeps the finished steps of a stream that is aborted, and goes on", async () => {
      await using memory = createMemory(plain)
      const stop = new AbortController()
      const { model } = make((_prompt, request) => {
        if (request === 2) stop.abort()
        return { calls: [{ id: `c${request}`, input: { query: "q" } }] }
      })
      const chat = aiSdk(memory, { major }).session("chat")
      const result = streamText({
        model: wrapped(model, chat),
        tools,
        prompt: "one",
        abortSignal: stop.signal,
        stopWhen: steps(9),
        onError: () => undefined,
      })
      await result.consumeStream({ onError: () => undefined })
      const before = ["user one", "assistant c0", "tool c0", "assistant c1", "tool c1"]
      expect(await outline(memory)).toEqual(before)
      const next = aiSdk(memory, { major }).session("chat")
      await generateText({ model: wrapped(make(() => ({ text: "two" })).model, next), prompt: "two?" })
      expect(await outline(memory)).toEqual([...before, "user two?", "assistant two"])
    })

    it("takes what follows the last answer, if a call has the whole conversation", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make((_prompt, request) => ({ text: `answer ${request}` }))
      const messages: Array<{ role: "user" | "assistant"; content: string }> = []
      for (const content of ["one", "two", "three"]) {
        messages.push({ role: "user", content })
        const chat = aiSdk(memory, { major }).session("chat")
        const { text } = await generateText({ model: wrapped(model, chat), messages })
        messages.push({ role: "assistant", content: text })
      }
      expect(await outline(memory)).toEqual([
        "user one",
        "assistant answer 0",
        "user two",
        "assistant answer 1",
        "user three",
        "assistant answer 2",
      ])
      expect(prompts.map((prompt) => prompt.length)).toEqual([1, 3, 5])
    })

    it("stores a conversation once that is sent again: without its answer, with more, and for another answer", async () => {
      await using memory = createMemory(plain)
      let fails = false
      const { model, prompts } = make((_prompt, request) => {
        if (fails) throw new Error("gone")
        return { text: `answer ${request}` }
      })
      const ask = async (...messages: ReadonlyArray<{ role: "user" | "assistant"; content: string }>) => {
        const chat = aiSdk(memory, { major }).session("chat")
        return (await generateText({ model: wrapped(model, chat), messages: [...messages], maxRetries: 0 }))
          .text
      }
      const user = (content: string) => ({ role: "user" as const, content })
      const before = [user("one"), { role: "assistant" as const, content: await ask(user("one")) }]
      fails = true
      await expect(ask(...before, user("two"))).rejects.toThrow("gone")
      await expect(ask(...before, user("two"))).rejects.toThrow("gone")
      fails = false
      await ask(...before, user("two"), user("more"))
      await ask(...before, user("two"), user("more"))
      expect(await outline(memory)).toEqual([
        "user one",
        "assistant answer 0",
        "user two",
        "user more",
        "assistant answer 4",
      ])
      expect(prompts[4]).toEqual(prompts[3])
      expect(await memory.branches("chat")).toHaveLength(2)
      await ask(...before, user("two"), user("more"), user("most"))
      expect((await outline(memory)).slice(-3)).toEqual(["user more", "user most", "assistant answer 5"])
    })

    it("does not take the examples of a call for a place to go back to", async () => {
      await using memory = createMemory(plain)
      const { model } = make((_prompt, request) => ({ text: `answer ${request}` }))
      const examples = [
        { role: "user" as const, content: "2 + 2" },
        { role: "assistant" as const, content: "four" },
      ]
      for (const content of ["1 + 1", "3 + 3", "1 + 1"]) {
        const chat = aiSdk(memory, { major }).session("chat")
        await generateText({
          model: wrapped(model, chat),
          messages: [...examples, { role: "user", content }],
        })
      }
      expect((await outline(memory)).filter((line) => line.startsWith("user"))).toEqual([
        "user 2 + 2",
        "user 1 + 1",
        "user 3 + 3",
        "user 1 + 1",
      ])
    })

    it("keeps two requests at once, each call with its result", async () => {
      await using memory = createMemory(plain)
      const answers = await Promise.all(
        ["a", "b"].map(async (id) => {
          const { model } = make((prompt) =>
            prompt.some(
              ({ role, content }) => role === "tool" && JSON.stringify(content).includes(`call-${id}`),
            )
              ? { text: `answer ${id}` }
              : { calls: [{ id: `call-${id}`, input: { query: id } }] },
          )
          const chat = aiSdk(memory, { major }).session("chat")
          return (await generateText({ model: wrapped(model, chat), tools, prompt: id, stopWhen: steps(3) }))
            .text
        }),
      )
      expect(answers).toEqual(["answer a", "answer b"])
      const lines = await outline(memory)
      expect(lines.toSorted()).toEqual([
        "assistant answer a",
        "assistant answer b",
        "assistant call-a",
        "assistant call-b",
        "tool call-a",
        "tool call-b",
        "user a",
        "user b",
      ])
      for (const id of ["a", "b"]) {
        expect(lines.indexOf(`tool call-${id}`)).toBe(lines.indexOf(`assistant call-${id}`) + 1)
      }
    })

    it("gives files and images to the model as its version takes them", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make(() => ({ text: "A picture." }))
      const image = new Uint8Array([137, 80, 78, 71])
      const first = aiSdk(memory, { major }).session("chat")
      await generateText({
        model: wrapped(model, first),
        messages: [
          {
            role: "user",
            content: [
              { type: "image", image },
              { type: "text", text: "What is it?" },
            ],
          },
        ],
      })
      await generateText({ model: wrapped(model, aiSdk(memory, { major }).session("chat")), prompt: "Sure?" })
      const sent = prompts.map((prompt) => (prompt[0]!.content as ReadonlyArray<object>)[0])
      expect(sent[1]).toEqual(sent[0])
      expect(sent[0]).toMatchObject({
        type: "file",
        data: major === 7 ? { type: "data", data: image } : image,
      })
    })
  })
}
