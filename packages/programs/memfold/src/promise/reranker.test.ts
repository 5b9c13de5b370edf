import { expect, it } from "vitest"
import { createMemory } from "../index.js"

const texts = ["The parcel is blue.", "The parcel is in Graz.", "The parcel is late."]
const question = "Where is the parcel?"

it("a reranker with Promises puts what is found in order, and one that throws changes nothing", async () => {
  const ranks = async (
    rerank?: (query: string, given: ReadonlyArray<string>) => Promise<ReadonlyArray<number>>,
  ) => {
    const recall = rerank === undefined ? {} : { reranker: { name: "mine", rerank } }
    const memory = createMemory({ store: "memory:", recall })
    try {
      await memory.append(
        "s",
        texts.map((content) => ({ role: "user" as const, content })),
      )
      const { messages } = await memory.recall("s", question, { tokens: 500 })
      return messages.toSorted((one, other) => one.rank! - other.rank!).map(({ index }) => index)
    } finally {
      await memory.close()
    }
  }
  const plain = await ranks()
  expect(
    await ranks(async (query, given) => {
      expect(query).toBe(question)
      return given.map((text) => (text.includes("late") ? 2 : text.includes("Graz") ? 1 : 0))
    }),
  ).toEqual([2, 1, 0])
  expect(await ranks(() => Promise.reject(new Error("no key")))).toEqual(plain)
})
