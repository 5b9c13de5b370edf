/** A session in turn through several formats, and the memory of programs with Effect. */
import { Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { withMemory } from "@memfold/harness/engine"
import { generateText } from "ai"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { search, versions } from "@memfold/harness/aiSdkVersions"
import { aiSdk } from "./index.js"

const [, , seven] = versions

const talk = async (memory: Memory.AnyMemory, text: string) => {
  const chat = aiSdk(memory).session("chat")
  const { model } = seven!.model((prompt) =>
    prompt.at(-1)?.role === "tool"
      ? { text: `found for ${text}` }
      : { reasoning: "Hm.", calls: [{ id: `call-${text}`, input: { query: text } }] },
  )
  const result = await generateText({
    model,
    tools: { search },
    ...(await chat.messages(text)),
    prepareStep: chat.prepareStep,
    stopWhen: seven!.steps(3),
  })
  await chat.onEnd(result)
  return result
}

describe("an append of what a call produced", () => {
  it("is written once if the answer of the store is lost, behind the prefix of its step", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const { neutral } = memory
    const prefixes: Array<number | undefined> = []
    let lost = 2
    const unreliable: Memory.AnyMemory = {
      neutral: {
        ...neutral,
        append: async (session, messages, options) => {
          const appended = await neutral.append(session, messages, options)
          const produced = options?.idempotencyKey?.startsWith("ai-sdk/produced") === true
          if (produced) prefixes.push(options.prefix?.total)
          if (produced && prefixes.length === lost) throw new Error("the connection is lost")
          return appended
        },
      },
    }
    const chat = aiSdk(unreliable).session("chat")
    const { model } = seven!.model((prompt) =>
      prompt.at(-1)?.role === "tool" ? { text: "done" } : { calls: [{ id: "c1", input: { query: "q" } }] },
    )
    const result = await generateText({
      model,
      tools: { search },
      ...(await chat.messages("one")),
      prepareStep: chat.prepareStep,
      stopWhen: seven!.steps(3),
    })
    await expect(chat.onEnd(result)).rejects.toThrow("the connection is lost")
    lost = 0
    await chat.onEnd(result)
    expect((await memory.state("chat")).total).toBe(4)
    // The first step was produced behind the question, the second one behind the result of the tool as well.
    expect(prefixes).toEqual([1, 3, 3])
  })
})

describe("a session", () => {
  it("goes from Chat Completions to the AI SDK and on to Anthropic", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    await memory.append("chat", [
      { role: "system", content: "Be brief." },
      { role: "user", content: "one" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "search", arguments: '{"query":"one"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "found" },
      { role: "assistant", content: "Yes." },
    ])
    const result = await talk(memory, "two")
    expect(result.text).toBe("found for two")
    await memory.append("chat", { role: "user", content: "three" })
    const { messages } = await memory.context("chat")
    expect(messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ])
    const call = messages[6] as { readonly tool_calls?: ReadonlyArray<object> }
    expect(call.tool_calls).toEqual([
      { id: "call-two", type: "function", function: { name: "search", arguments: '{"query":"two"}' } },
    ])
    const { layout } = await aiSdk(memory).session("chat").context()
    expect(layout.filter(({ section }) => section === "unsupported")).toEqual([])
  })

  it("is one of a memory with Effect, too", async () => {
    const strategy = Strategy.make({
      name: "short",
      when: Trigger.backlog({ messages: 100 }),
      keep: Keep.lastMessages(3),
      summaryMode: SummaryMode.rolling,
    })
    const live = withMemory({ strategy })
    const program = Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* Effect.promise(() => talk(memory, "one"))
      yield* Effect.promise(() => talk(memory, "two"))
      return yield* memory.state("chat")
    })
    expect((await Effect.runPromise(program.pipe(Effect.provide(live)))).total).toBe(8)
  })
})
