/** Parts of the application that throw, or answer with something else: no error of theirs is uncaught, and nothing is lost. */
import { afterAll, describe, expect, it, vi } from "vitest"
import { createMemory, type CreateOptions } from "../index.js"

const uncaught: Array<unknown> = []
const listen = (error: unknown) => void uncaught.push(error)
process.on("unhandledRejection", listen)
process.on("uncaughtException", listen)

afterAll(() => {
  process.off("unhandledRejection", listen)
  process.off("uncaughtException", listen)
})

const messages = Array.from({ length: 30 }, (_, at) => ({
  role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
  content: `message ${at} `.repeat(50),
}))

const throws = () => {
  throw new Error("SECRET")
}
const rejects = () => Promise.reject(new Error("SECRET"))

/** How the compaction ends with each part; `Committed` where the part is not asked, or replaced by the default. */
const parts: ReadonlyArray<readonly [name: string, outcome: string, options: object]> = [
  ["a summarizer that throws", "Failed", { summarizer: throws }],
  ["a summarizer that rejects", "Failed", { summarizer: rejects }],
  ["a summarizer of a number", "Failed", { summarizer: async () => 5 }],
  ["a summarizer of null", "Failed", { summarizer: async () => null }],
  ["a summarizer of nothing", "Failed", { summarizer: async () => undefined }],
  ["a summarizer without a text", "Failed", { summarizer: async () => ({ text: 5 }) }],
  ["a service that throws", "Failed", { summarizer: { name: "x", summarize: throws } }],
  ["a service of a text", "Failed", { summarizer: { name: "x", summarize: () => "text" } }],
  ["a service of a promise", "Failed", { summarizer: { name: "x", summarize: async () => "text" } }],
  ["a counter that throws", "Committed", { tokenCounter: { name: "x", count: throws } }],
  ["a counter of NaN", "Committed", { tokenCounter: { name: "x", count: () => Number.NaN } }],
  ["a counter of texts", "Committed", { tokenCounter: { name: "x", count: () => "5" } }],
  ["a counter of promises", "Committed", { tokenCounter: { name: "x", count: async () => 5 } }],
  ["a counter below zero", "Committed", { tokenCounter: { name: "x", count: () => -5 } }],
  ["a hook that throws", "Committed", { compaction: { hooks: { beforeCompaction: throws } } }],
  ["a hook that rejects", "Committed", { compaction: { hooks: { beforeCompaction: rejects } } }],
  ["a hook of a number", "Committed", { compaction: { hooks: { beforeCompaction: () => 5 } } }],
  ["a hook of null", "Committed", { compaction: { hooks: { beforeCompaction: () => null } } }],
  [
    "a hook with a veto that is a text",
    "Committed",
    { compaction: { hooks: { beforeCompaction: () => ({ veto: "no" }) } } },
  ],
  [
    "a hook with instructions that are a number",
    "Committed",
    { compaction: { hooks: { beforeCompaction: () => ({ instructions: 5 }) } } },
  ],
  ["a hook that throws afterwards", "Committed", { compaction: { hooks: { afterCompaction: rejects } } }],
  ["a logger that throws", "Committed", { logger: throws }],
  ["metrics that throw", "Committed", { metrics: throws }],
  [
    "an embedder of a number",
    "Committed",
    { recall: { embedder: { name: "x", dimensions: 2, embed: () => 5 } } },
  ],
  [
    "an embedder that throws",
    "Committed",
    { recall: { embedder: { name: "x", dimensions: 2, embed: throws } } },
  ],
  ["a reranker of a number", "Committed", { recall: { reranker: { name: "x", rerank: () => 5 } } }],
  ["a reranker of texts", "Committed", { recall: { reranker: { name: "x", rerank: async () => ["1"] } } }],
  ["a reranker that throws", "Committed", { recall: { reranker: { name: "x", rerank: throws } } }],
  ["a reranker that rejects", "Committed", { recall: { reranker: { name: "x", rerank: rejects } } }],
]

describe.each(["inline", "background"] as const)("in a memory that compacts %s,", (mode) => {
  it.each(parts)("%s: %s", async (_, expected, options) => {
    const given = options as Partial<CreateOptions>
    const memory = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      settings: { tailKeepSize: 4, contextSize: 8 },
      ...given,
      compaction: {
        mode,
        summarizerRetries: 0,
        ...given.compaction,
      },
    })
    await memory.append("s", messages)
    // What the background has begun by then is not this call's: its end is waited for.
    await vi.waitFor(async () => {
      await memory.compact("s", { which: "due" })
      const { summary, total } = await memory.state("s")
      expect(total).toBe(30)
      expect(summary === null ? "Failed" : "Committed").toBe(expected)
    }, 60_000)
    expect((await memory.context("s")).messages.length).toBe(expected === "Failed" ? 30 : 5)
    expect((await memory.recall("s", "message 3")).messages.length).toBeGreaterThan(0)
    const texts = JSON.stringify((await memory.messages("s", { limit: 30 })).messages)
    for (const { content } of messages) expect(texts).toContain(content)
    await memory.close()
    // What is uncaught is reported once the event loop goes on.
    await new Promise((resolve) => setImmediate(resolve))
    expect(uncaught).toEqual([])
  })
})
