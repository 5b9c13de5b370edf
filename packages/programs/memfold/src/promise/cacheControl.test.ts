/** Where contexts set Anthropic's prompt cache. */
import { anthropicViolations } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { createMemory, SlidingWindow } from "../index.js"

const strategy = SlidingWindow({ tailKeepSize: 4, compressionWindowSize: 4 })
const text = (role: "user" | "assistant", content: string) => ({ role, content })
const talk = [
  text("user", "My order is KX-4471, and it goes to Graz."),
  text("assistant", "I noted that down."),
  ...Array.from({ length: 30 }, (_, at) =>
    text(at % 2 === 0 ? "user" : "assistant", `Small talk number ${at}`),
  ),
]
const cacheControl = { type: "ephemeral" }

/** The texts of blocks with a mark, in the order of the request. */
const marked = (request: {
  readonly system?: unknown
  readonly messages: ReadonlyArray<{ readonly content: unknown }>
}) =>
  [request.system, ...request.messages.map(({ content }) => content)]
    .flat()
    .filter((block) => typeof block === "object" && block !== null && "cache_control" in block)
    .map((block) => ("text" in block ? block.text : undefined))

describe("the prompt cache", () => {
  it("is set behind the summary, behind what stays in the next turn, and behind everything", async () => {
    await using memory = createMemory({
      store: "memory:",
      format: "anthropic",
      strategy,
      compaction: { mode: "inline" },
    })
    await memory.append("s", talk)
    await memory.append("s", text("user", "Where does order KX-4471 go?"))
    const { messages, layout } = await memory.context("s", { recall: { tokens: 200 }, cacheControl: true })
    expect(layout.map(({ section }) => section)).toEqual(["summary", "uncovered", "recalled", "current"])
    const [summary, stays, all, ...others] = marked(messages)
    expect(others).toEqual([])
    expect(summary).toContain("[Conversation Summary]")
    expect(stays).toBe("Small talk number 29")
    expect(all).toBe("Where does order KX-4471 go?")
    expect(anthropicViolations({ model: "m", max_tokens: 100, ...messages })).toEqual([])

    const hour = await memory.context("s", { cacheControl: "1h" })
    expect(JSON.stringify(hour.messages)).toContain(JSON.stringify({ ...cacheControl, ttl: "1h" }))
    expect(hour).not.toHaveProperty("cacheMarks")
    // What is before the marks is the same with and without.
    const plain = await memory.context("s")
    expect(marked(plain.messages)).toEqual([])
    expect(hour.prefix).toEqual(plain.prefix)
  })

  it("is set behind the end alone where there is nothing else", async () => {
    await using memory = createMemory({ store: "memory:", format: "anthropic", strategy })
    await memory.append("s", text("user", "Hello"))
    expect(marked((await memory.context("s", { cacheControl: true })).messages)).toEqual(["Hello"])
    expect(marked((await memory.context("nobody", { cacheControl: true })).messages)).toEqual([])
  })

  it("is no option of other formats, and takes no other values", async () => {
    await using memory = createMemory({ store: "memory:", strategy })
    await memory.append("s", text("user", "Hello"))
    const { messages } = await memory.context("s", { cacheControl: true })
    expect(messages).toEqual([text("user", "Hello")])
    await expect(memory.context("s", { cacheControl: "2h" as never })).rejects.toMatchObject({
      _tag: "InvalidInput",
      message: expect.stringContaining("cacheControl") as string,
    })
  })
})
