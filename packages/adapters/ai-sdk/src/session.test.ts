/** Sessions with the real AI SDK 5, 6 and 7. */
import { Message } from "@memfold/core"
import type { UIMessage } from "ai"
import { createMemory, type Strategy, Keep, Strategy as S, SummaryMode, Trigger } from "memfold"
import { describe, expect, it } from "vitest"
import { type Answer, search, versions } from "@memfold/harness/aiSdkVersions"
import { aiSdk, type AiSdkSession } from "./index.js"

/** Compacts inline, after a few messages. */
const strategy: Strategy.Strategy = S.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(3),
  summaryMode: SummaryMode.rolling,
})
const settings = { store: "memory:", summarizer: "echo", strategy, compaction: { mode: "inline" } } as const
const plain = { store: "memory:", compaction: { mode: "off" } } as const

/** Calls the tool `calls` times, then says something. */
const agent =
  (calls: number, name = "c") =>
  (_prompt: unknown, request: number): Answer =>
    request % (calls + 1) < calls
      ? { calls: [{ id: `${name}${request}`, input: { query: `q${request}` } }] }
      : { text: `answer ${request}` }

const log = async (memory: { readonly neutral: { readonly messages: Function } }, session = "chat") =>
  (await memory.neutral.messages(session, { limit: 500 })).messages as ReadonlyArray<Message.Message>

const outline = (messages: ReadonlyArray<Message.Message>) =>
  messages.map(({ role, parts }) =>
    [
      role,
      ...parts.map((part) => ("id" in part ? part.id : part.type === "text" ? part.text : part.type)),
    ].join(" "),
  )

const tools = { search }

const page = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] })

for (const { name, sdk, model: make, steps, major } of versions) {
  const { generateText, streamText } = sdk

  describe(name, () => {
    it("stores a tool loop of generateText step by step, once", async () => {
      await using memory = createMemory(plain)
      const chat = aiSdk(memory, { major }).session("chat")
      const { model, prompts } = make(agent(2))
      const result = await generateText({
        model,
        tools,
        ...(await chat.messages("Find it.")),
        prepareStep: chat.prepareStep,
        stopWhen: steps(5),
      })
      await chat.onFinish(result)
      await chat.onFinish(result)
      expect(outline(await log(memory))).toEqual([
        "user Find it.",
        "assistant c0",
        "tool c0",
        "assistant c1",
        "tool c1",
        "assistant answer 2",
      ])
      expect((await log(memory)).at(-1)?.usage).toEqual({ input: 40, output: 7 })
      expect(prompts.map((prompt) => prompt.length)).toEqual([1, 3, 5])
    })

    it("stores a stream at its end, and goes on in a new session object", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make(agent(1))
      for (const text of ["one", "two"]) {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = streamText({
          model,
          tools,
          ...(await chat.messages(text)),
          prepareStep: chat.prepareStep,
          stopWhen: steps(5),
          onFinish: chat.onFinish,
          onAbort: chat.onAbort,
        })
        await result.consumeStream()
      }
      expect(outline(await log(memory))).toEqual([
        "user one",
        "assistant c0",
        "tool c0",
        "assistant answer 1",
        "user two",
        "assistant c2",
        "tool c2",
        "assistant answer 3",
      ])
      expect(prompts.at(-1)?.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
      ])
    })

    it("stores an answer before what is said next, however soon that comes", async () => {
      await using memory = createMemory(plain)
      for (const text of ["one", "two", "three", "four"]) {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = streamText({
          model: make(() => ({ text: `answer to ${text}` })).model,
          ...(await chat.messages(text)),
          prepareStep: chat.prepareStep,
          onFinish: chat.onFinish,
        })
        await result.text
      }
      await aiSdk(memory, { major }).session("chat").messages("five")
      expect(outline(await log(memory)).map((line) => line.split(" ").at(-1))).toEqual([
        "one",
        "one",
        "two",
        "two",
        "three",
        "three",
        "four",
        "four",
        "five",
      ])
    })

    it("goes on from a message that was edited on the page, and stores it once", async () => {
      await using memory = createMemory(plain)
      const chat = aiSdk(memory, { major }).session("chat")
      await chat.messages(page("m1", "one"))
      await chat.messages([page("m1", "one")])
      await chat.messages([page("m1", "won")])
      await chat.messages(page("m1", "won"))
      expect(outline(await log(memory))).toEqual(["user won"])
      expect(await memory.branches("chat")).toHaveLength(2)
    })

    it("takes an answer back for another one, by what the request says or by what the page shows", async () => {
      await using memory = createMemory(plain)
      const { model, prompts } = make(agent(1))
      const run = async (...[given, options]: Parameters<AiSdkSession["messages"]>) => {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = streamText({
          model,
          tools,
          ...(await chat.messages(given, options)),
          prepareStep: chat.prepareStep,
          stopWhen: steps(5),
          onFinish: chat.onFinish,
        })
        await result.consumeStream()
      }
      const trigger = "regenerate-message"
      await run(page("m1", "one"))
      await run(page("m2", "two"))
      await run(page("m2", "two"), { trigger })
      await run([page("m1", "one"), ...(await aiSdk(memory).session("chat").uiMessages()).slice(1, 3)])
      await run(undefined, { trigger })
      await run(undefined, { trigger, messageId: "m1" })
      expect(outline(await log(memory))).toEqual([
        "user one",
        "assistant c10",
        "tool c10",
        "assistant answer 11",
      ])
      expect(prompts.map((prompt) => prompt.length)).toEqual([1, 3, 5, 7, 5, 7, 5, 7, 5, 7, 1, 3])
    })

    it("compacts within a loop, with the summary in front, and stores everything", async () => {
      await using memory = createMemory(settings)
      const chat = aiSdk(memory, { major }).session("chat", { instructions: "Be brief." })
      const { model, prompts } = make(agent(12))
      const result = streamText({
        model,
        tools,
        ...(await chat.messages("Find it.")),
        prepareStep: chat.prepareStep,
        stopWhen: steps(20),
        onFinish: chat.onFinish,
      })
      await result.consumeStream()
      expect(await result.text).toBe("answer 12")
      expect(await log(memory)).toHaveLength(26)
      expect((await memory.summaries("chat")).length).toBeGreaterThan(3)
      const last = prompts.at(-1)!
      expect(last[0]?.content).toMatch(/^Be brief\.\n\n\[Conversation Summary\]/u)
      expect(last.filter(({ role }) => role === "system")).toHaveLength(1)
      expect(Math.max(...prompts.map((prompt) => prompt.length))).toBeLessThan(10)
    })

    it("keeps the finished steps of a stream that is aborted, and goes on", async () => {
      await using memory = createMemory(plain)
      const stop = new AbortController()
      const chat = aiSdk(memory, { major }).session("chat")
      const { model } = make((_prompt, request) => {
        if (request === 2) stop.abort()
        return { calls: [{ id: `c${request}`, input: { query: "q" } }] }
      })
      const result = streamText({
        model,
        tools,
        ...(await chat.messages("one")),
        prepareStep: chat.prepareStep,
        abortSignal: stop.signal,
        stopWhen: steps(9),
        onFinish: chat.onFinish,
        onAbort: chat.onAbort,
        onError: () => undefined,
      })
      await result.consumeStream({ onError: () => undefined })
      const before = ["user one", "assistant c0", "tool c0", "assistant c1", "tool c1"]
      expect(outline(await log(memory))).toEqual(before)

      const next = aiSdk(memory, { major }).session("chat")
      const answered = await generateText({
        model: make(() => ({ text: "two" })).model,
        ...(await next.messages("two?")),
      })
      await next.onFinish(answered)
      expect(outline(await log(memory))).toEqual([...before, "user two?", "assistant two"])
    })

    it("goes on after a model that failed: a retry stores nothing twice", async () => {
      await using memory = createMemory(plain)
      const question = page("m1", "one")
      const run = async (script: Parameters<typeof make>[0]) => {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = await generateText({
          model: make(script).model,
          tools,
          maxRetries: 0,
          ...(await chat.messages([question])),
          prepareStep: chat.prepareStep,
          stopWhen: steps(5),
        })
        await chat.onFinish(result)
      }
      await expect(
        run((_prompt, request) => {
          if (request === 1) throw new Error("overloaded")
          return { calls: [{ id: "c0", input: { query: "q" } }] }
        }),
      ).rejects.toThrow("overloaded")
      expect(outline(await log(memory))).toEqual(["user one", "assistant c0", "tool c0"])
      await run((prompt) => ({ text: `behind ${prompt.length}` }))
      expect(outline(await log(memory))).toEqual([
        "user one",
        "assistant c0",
        "tool c0",
        "assistant behind 3",
      ])
    })

    it("orders two requests for a session at once, and loses neither", async () => {
      await using memory = createMemory(plain)
      const requests = ["one", "two"].map(async (text) => {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = streamText({
          model: make(agent(2, text)).model,
          tools,
          ...(await chat.messages(text)),
          prepareStep: chat.prepareStep,
          stopWhen: steps(5),
          onFinish: chat.onFinish,
        })
        await result.consumeStream()
      })
      await Promise.all(requests)
      const stored = await log(memory)
      expect(stored).toHaveLength(12)
      for (const [position, message] of stored.entries()) {
        const [call] = Message.calls(message)
        if (call !== undefined) expect(Message.results(stored[position + 1]!)[0]?.id).toBe(call.id)
      }
      // On the page, each answer is one message, with its own calls only.
      const shown = await aiSdk(memory, { major }).session("chat").uiMessages()
      const callsOf = ({ parts }: UIMessage) =>
        parts.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))
      expect(shown.map(({ role }) => role).toSorted()).toEqual(["assistant", "assistant", "user", "user"])
      expect(
        shown
          .map(callsOf)
          .filter(({ length }) => length > 0)
          .toSorted(),
      ).toEqual([
        ["one0", "one1"],
        ["two0", "two1"],
      ])
    })

    it("gives the page its messages back: its own as they were, answers with the id of the stream", async () => {
      await using memory = createMemory(plain)
      const chat = aiSdk(memory, { major }).session("chat")
      const question: UIMessage = { ...page("m1", "one"), metadata: { sent: 1 } }
      const result = streamText({
        model: make(agent(1)).model,
        tools,
        ...(await chat.messages([question])),
        prepareStep: chat.prepareStep,
        stopWhen: steps(5),
        onFinish: chat.onFinish,
      })
      let streamed: UIMessage | undefined
      const stream = result.toUIMessageStream({
        originalMessages: [question],
        generateMessageId: chat.generateMessageId,
        onFinish: ({ responseMessage }) => {
          streamed = responseMessage
        },
      })
      const reader = stream.getReader()
      while (!(await reader.read()).done);
      const [first, second, ...others] = await chat.uiMessages()
      expect(first).toEqual(question)
      expect(others).toEqual([])
      expect(second?.id).toBe(streamed?.id)
      const essence = (message: UIMessage | undefined) =>
        message?.parts.map((part) => ({
          ...part,
          state: part.type === "text" ? undefined : (part as { state?: string }).state,
          title: undefined,
          callProviderMetadata: undefined,
        }))
      expect(essence(second)).toEqual(essence(streamed))
    })

    it("stores the whole message of a page with its data parts, once", async () => {
      await using memory = createMemory(plain)
      const chat = aiSdk(memory, { major }).session("chat")
      const question = page("m1", "one")
      const result = streamText({
        model: make(agent(1)).model,
        tools,
        ...(await chat.messages(question)),
        stopWhen: steps(5),
      })
      const stream = result.toUIMessageStream({
        originalMessages: [question],
        generateMessageId: chat.generateMessageId,
        messageMetadata: () => ({ cost: 3 }),
        onFinish: chat.onFinish,
      })
      const reader = stream.getReader()
      while (!(await reader.read()).done);
      const stored = await chat.uiMessages()
      expect(stored.map(({ metadata }) => metadata)).toEqual([undefined, { cost: 3 }])
      expect(outline(await log(memory))).toEqual([
        "user one",
        "assistant c0",
        "tool c0",
        "assistant answer 1",
      ])
      // The page sends all it has with the next message.
      const next = aiSdk(memory, { major }).session("chat")
      await next.messages([...stored, page("m3", "two")])
      await next.messages([...stored, page("m3", "two")])
      expect(outline(await log(memory))).toHaveLength(5)
    })

    it("takes results of tools that run on the page", async () => {
      await using memory = createMemory(plain)
      const { execute: _execute, ...onPage } = search
      const script = make((prompt) =>
        prompt.at(-1)?.role === "tool" ? { text: "done" } : { calls: [{ id: "c0", input: { query: "q" } }] },
      )
      const run = async (given: ReadonlyArray<UIMessage>) => {
        const chat = aiSdk(memory, { major }).session("chat")
        const result = streamText({
          model: script.model,
          tools: { search: onPage },
          ...(await chat.messages(given)),
          prepareStep: chat.prepareStep,
          stopWhen: steps(5),
          onFinish: chat.onFinish,
        })
        await result.consumeStream()
        return chat.uiMessages()
      }
      const shown = await run([page("m1", "one")])
      expect(shown[1]?.parts.at(-1)).toMatchObject({ state: "input-available", toolCallId: "c0" })
      const answered = shown.map((message) => ({
        ...message,
        parts: message.parts.map((part) =>
          "toolCallId" in part
            ? ({ ...part, state: "output-available", output: { seen: 7 } } as typeof part)
            : part,
        ),
      }))
      const after = await run(answered)
      await aiSdk(memory, { major }).session("chat").messages(answered)
      expect(outline(await log(memory))).toEqual(["user one", "assistant c0", "tool c0", "assistant done"])
      expect(after).toHaveLength(2)
      expect(after[1]?.parts.find((part) => "toolCallId" in part)).toMatchObject({
        state: "output-available",
        output: { seen: 7 },
      })
    })
  })
}

for (const { name, sdk, model: make, steps, major } of versions.slice(1)) {
  describe(`${name}, approvals`, () => {
    for (const approved of [true, false]) {
      it(`a call that is ${approved ? "approved" : "denied"} on the page`, async () => {
        await using memory = createMemory(plain)
        const script = make((prompt) =>
          prompt.at(-1)?.role === "tool"
            ? { text: "done" }
            : { calls: [{ id: "c0", input: { query: "q" } }] },
        )
        const run = async (given: ReadonlyArray<UIMessage>) => {
          const chat = aiSdk(memory, { major }).session("chat")
          const result = sdk.streamText({
            model: script.model,
            tools: { search: { ...search, needsApproval: true } },
            ...(await chat.messages(given)),
            prepareStep: chat.prepareStep,
            stopWhen: steps(5),
            onFinish: chat.onFinish,
          })
          await result.consumeStream()
          return chat.uiMessages()
        }
        const shown = await run([page("m1", "one")])
        const asked = shown[1]?.parts.at(-1)
        expect(asked).toMatchObject({ state: "approval-requested", toolCallId: "c0" })
        const answered = shown.map((message) => ({
          ...message,
          parts: message.parts.map((part) =>
            part === asked && "approval" in part
              ? ({
                  ...part,
                  state: "approval-responded",
                  approval: { ...part.approval, approved, reason: "as I say" },
                } as typeof part)
              : part,
          ),
        }))
        const after = await run(answered)
        expect(outline(await log(memory))).toEqual([
          "user one",
          "assistant c0 opaque",
          "tool opaque",
          "tool c0",
          "assistant done",
        ])
        expect(after[1]?.parts[1]).toMatchObject(
          approved
            ? { state: "output-available", output: { found: "about q" }, approval: { approved } }
            : { state: "output-denied", approval: { approved, reason: "as I say" } },
        )
        expect(script.prompts.at(-1)?.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
      })
    }
  })
}
