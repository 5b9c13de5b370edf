/** Summaries asked for in the context of a chat: what a provider's prompt cache has of the questions. */
import { InMemoryEventLog, Memory } from "@memfold/core"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { conversing, missesOf, ownPrompts } from "@memfold/harness/inContext"
import { MemfoldChat, summarizerLayer } from "../src/index.js"
import { handlers, models, rounds, served, toolkit } from "./models.js"

const instructions = "Be brief."

describe("a summarizer that asks in context", () => {
  it.each(["anthropic", "openai"] as const)("begins with all that the call before it sent: %s", (provider) =>
    Effect.gen(function* () {
      const server = yield* served({ answer: conversing(7) })
      const model = models[provider](server)
      const memory = Memory.layer({ strategy: rounds, compaction: { mode: "inline" } }).pipe(
        Layer.provide(InMemoryEventLog.layer),
        Layer.provide(
          summarizerLayer({ askInContext: { instructions, toolkit } }).pipe(Layer.provide(model)),
        ),
      )
      const summaries = yield* Effect.gen(function* () {
        for (let question = 1; question <= 20; question++) {
          const chat = yield* MemfoldChat.open("chat", { instructions })
          let { toolCalls } = yield* chat.generateText({ prompt: `Question ${question}?`, toolkit })
          while (toolCalls.length > 0) ({ toolCalls } = yield* chat.generateText({ prompt: [], toolkit }))
        }
        return yield* (yield* Memory.Memory).summaries("chat")
      }).pipe(Effect.provide(Layer.mergeAll(memory, model, handlers)))
      expect(server.refused.map(({ violations }) => violations)).toEqual([])
      const misses = missesOf(server)
      expect(misses.length).toBeGreaterThan(3)
      expect(misses.filter((miss) => miss !== null)).toEqual([])
      expect(ownPrompts(server)).toEqual([])
      expect(summaries).toHaveLength(misses.length)
    }).pipe(Effect.scoped, Effect.runPromise),
  )
})
