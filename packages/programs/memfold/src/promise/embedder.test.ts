import { type Embedder, Recall, VectorIndex } from "@memfold/core"
import { Effect, Layer, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { type AsyncEmbedder, createMemory, type CreateOptions, type LogEntry } from "../index.js"

/** Knows two meanings: going by car, and everything else. */
const vectorOf = (text: string) => (/car|vehicle/.test(text) ? [1, 0] : [0, 1])
const mine = (embed: AsyncEmbedder["embed"]): AsyncEmbedder => ({ name: "mine-1", dimensions: 2, embed })

const search = async (embedder: AsyncEmbedder | Embedder.Service, options: Partial<CreateOptions> = {}) => {
  await using memory = createMemory({
    store: "memory:",
    recall: { embedder: { timeout: "1 hour", ...embedder } },
    ...options,
  })
  await memory.append("s", [
    { role: "user", content: "I bought a car." },
    { role: "assistant", content: "Congratulations." },
  ])
  return (await memory.recall("s", "vehicle")).messages.map(({ text }) => text)
}

describe("an embedder with Promises", () => {
  it("finds what means the same", async () => {
    const kinds: Array<string> = []
    const embedder = mine(async (texts, { kind }) => {
      kinds.push(kind)
      return texts.map(vectorOf)
    })
    expect(await search(embedder)).toEqual(["I bought a car."])
    expect(kinds).toEqual(["query", "message"])
  })

  it("may be a service of Effect", async () => {
    const service: Embedder.Service = {
      name: "mine-1",
      dimensions: 2,
      embed: (texts) => Effect.succeed(texts.map(vectorOf)),
    }
    expect(await search(service)).toEqual(["I bought a car."])
  })

  it("that throws leaves the search to words, and its message is in no log", async () => {
    const entries: Array<LogEntry> = []
    const embedder = mine(() => Promise.reject(new RangeError("the key is SECRET")))
    expect(await search(embedder, { logger: (entry) => entries.push(entry) })).toEqual([])
    expect(JSON.stringify(entries)).toContain("the function embed threw RangeError")
    expect(JSON.stringify(entries)).not.toContain("SECRET")
  })

  it("that never answers leaves the search to words, and is aborted when the memory is closed", async () => {
    const aborted: Array<boolean> = []
    const embedder = mine(async (texts, { kind, signal }) => {
      if (kind === "query") return texts.map(vectorOf)
      return await new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(true)
          reject(new Error("aborted"))
        })
      })
    })
    expect(await search({ ...embedder, timeout: 10 })).toEqual([])
    expect(aborted).toEqual([true])
  })
})

describe("a vector index", () => {
  it("is given as a layer, and forgets what is redacted or deleted", async () => {
    const vectors = Recall.vectorsInProcess()
    const vectorIndex = Layer.succeed(VectorIndex.VectorIndex, vectors)
    const embedder = mine(async (texts) => texts.map(vectorOf))
    const memory = createMemory({ store: "memory:", recall: { embedder, vectorIndex } })
    await memory.append("s", [{ role: "user", content: "I bought a car." }])
    await memory.recall("s", "vehicle")
    await memory.redact("s", 0)
    expect((await Effect.runPromise(vectors.load("s")))?.entries).toEqual([])
    await memory.delete("s")
    expect([...(await Effect.runPromise(Stream.runCollect(vectors.sessions)))]).toEqual([])
    await memory.close()
  })
})
