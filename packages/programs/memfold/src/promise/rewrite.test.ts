import { describe, expect, it } from "vitest"
import { createMemory } from "../index.js"

/** A conversation with a tool call, in each format; `answer` is its last message. */
const conversations = {
  openai: {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Where is KX-4471?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "in Graz" },
      { role: "assistant", content: "In Graz." },
    ],
    answer: { role: "assistant", content: "In Vienna." },
  },
  "openai-responses": {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Where is KX-4471?" },
      { type: "function_call", call_id: "c1", name: "look_up", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "in Graz" },
      { role: "assistant", content: "In Graz." },
    ],
    answer: { role: "assistant", content: "In Vienna." },
  },
  anthropic: {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Where is KX-4471?" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look_up", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "in Graz" }] },
      { role: "assistant", content: "In Graz." },
    ],
    answer: { role: "assistant", content: "In Vienna." },
  },
  memfold: {
    messages: [
      { role: "system", parts: [{ type: "text", text: "Be brief." }] },
      { role: "user", parts: [{ type: "text", text: "Where is KX-4471?" }] },
      { role: "assistant", parts: [{ type: "tool-call", id: "c1", name: "look_up", arguments: "{}" }] },
      { role: "tool", parts: [{ type: "tool-result", id: "c1", name: "look_up", output: "in Graz" }] },
      { role: "assistant", parts: [{ type: "text", text: "In Graz." }] },
    ],
    answer: { role: "assistant", parts: [{ type: "text", text: "In Vienna." }] },
  },
} as const

describe.each(Object.keys(conversations) as Array<keyof typeof conversations>)(
  "rewriting in %s",
  (format) => {
    const { messages, answer } = conversations[format]
    const opened = async () => {
      const memory = createMemory({ store: "memory:", format })
      await memory.append("s", messages as never)
      return memory
    }
    const textOf = async (memory: Awaited<ReturnType<typeof opened>>) =>
      JSON.stringify((await memory.messages("s")).messages)

    it("replaces an answer, and what stands before it stays", async () => {
      await using memory = await opened()
      const { total } = await memory.state("s")
      const before = await memory.messages("s")
      const rewritten = await memory.rewrite("s", (given) => [...given.slice(0, -1), answer as never])
      expect(rewritten).toEqual({ applied: true, duplicate: false, kept: total - 1, total })
      const text = await textOf(memory)
      expect(text).toContain("In Vienna.")
      expect(text).not.toContain("In Graz.")
      await memory.rewrite("s", (given) => [...given.slice(0, -1), messages.at(-1) as never])
      expect((await memory.messages("s")).messages).toEqual(before.messages)
    })

    it("changes nothing for `null`, and only appends what comes behind", async () => {
      await using memory = await opened()
      const { version, total } = await memory.state("s")
      expect(await memory.rewrite("s", () => null)).toMatchObject({ applied: false })
      expect((await memory.state("s")).version).toBe(version)
      expect(await memory.rewrite("s", (given) => [...given, answer as never])).toMatchObject({ kept: total })
      expect((await memory.state("s")).version).toBe(version + 1)
    })

    it("refuses what is no message of the format, and changes nothing", async () => {
      await using memory = await opened()
      const { version } = await memory.state("s")
      await expect(memory.rewrite("s", (given) => [...given, { role: "robot" } as never])).rejects.toThrow(
        /role/,
      )
      expect((await memory.state("s")).version).toBe(version)
    })

    it("is applied once with a key", async () => {
      await using memory = await opened()
      const take = () =>
        memory.rewrite("s", (given) => given.slice(0, -1), { idempotencyKey: "regenerate-1" })
      expect(await take()).toMatchObject({ applied: true, duplicate: false })
      expect(await take()).toMatchObject({ duplicate: true })
    })
  },
)
