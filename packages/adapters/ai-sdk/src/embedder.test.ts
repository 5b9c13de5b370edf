import { APICallError } from "ai"
import { MockEmbeddingModelV4 } from "ai/test"
import { MockEmbeddingModelV2 } from "ai5/test"
import { MockEmbeddingModelV3 } from "ai6/test"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { embedder, type EmbedderOptions } from "./index.js"

/** A model that knows two meanings: going by car, and everything else. */
const vectorOf = (text: string) => (/car|vehicle/.test(text) ? [1, 0] : [0, 1])
const doEmbed = ({ values }: { readonly values: ReadonlyArray<string> }) =>
  Promise.resolve({ embeddings: values.map(vectorOf), warnings: [] })

describe("an embedder from a model", () => {
  for (const [name, model] of [
    ["ai 5", new MockEmbeddingModelV2<string>({ modelId: "mock-model-id", doEmbed })],
    ["ai 6", new MockEmbeddingModelV3({ modelId: "mock-model-id", doEmbed })],
    ["ai 7", new MockEmbeddingModelV4({ modelId: "mock-model-id", doEmbed })],
  ] as ReadonlyArray<readonly [string, EmbedderOptions["model"]]>) {
    it(`lets a memory find what means the same: ${name}`, async () => {
      const mine = embedder({ model, dimensions: 2 })
      expect(mine.name).toBe("mock-model-id")
      await using memory = createMemory({ store: "memory:", recall: { embedder: mine } })
      await memory.append("s", [
        { role: "user", content: "I bought a car." },
        { role: "assistant", content: "Congratulations." },
      ])
      const { messages } = await memory.recall("s", "vehicle")
      expect(messages.map(({ text }) => text)).toEqual(["I bought a car."])
    })
  }

  it("fails without the words of the error, which may quote the conversation", async () => {
    const model = new MockEmbeddingModelV4({
      doEmbed: () => {
        throw new APICallError({
          message: "KX-4471 is not allowed",
          url: "https://example.org",
          requestBodyValues: {},
          statusCode: 429,
        })
      },
    })
    const { embed } = embedder({ model, dimensions: 2, name: "mine" })
    const failed = await Effect.runPromise(Effect.either(embed(["KX-4471"], { kind: "message" })))
    expect(failed).toMatchObject({ left: { reason: "unavailable", embedder: "mine" } })
    expect(String(Either.getLeft(failed))).not.toContain("KX-4471")
    expect(Either.isLeft(failed) && failed.left.detail).toContain("HTTP 429")
  })
})
