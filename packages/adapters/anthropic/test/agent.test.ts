/**
 * An agent with signed thinking and tools whose conversation Anthropic compacts itself, against a server that refuses
 * thinking behind a changed prefix: zero refusals (law L17), and the thinking of kept turns stays.
 */
import Anthropic from "@anthropic-ai/sdk"
import {
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  SummaryMode,
  Trigger,
  type Render,
  Summarizer,
} from "@memfold/core"
import { Effect, Either, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { compactionBeta, decodeMessage, encodeMessages, nativeCompaction } from "../src/index.js"
import { CompactionServer } from "@memfold/harness/CompactionServer"

const model = "claude-sonnet-5-5"
const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" as const } }]

const strategies = [
  ["whole turns", Keep.lastTurns(2)],
  ["messages", Keep.lastMessages(3)],
] as const

const blocks = (messages: ReadonlyArray<{ readonly content: unknown }>, type: string): number =>
  messages
    .flatMap(({ content }) => (Array.isArray(content) ? (content as ReadonlyArray<{ type: string }>) : []))
    .filter((block) => block.type === type).length

describe("an agent with signed thinking", () => {
  it.each(strategies)("is never refused over 60 turns: a tail of %s", async (name, keep) => {
    const strategy = Strategy.make({ name, when: Trigger.never, keep, summaryMode: SummaryMode.rolling })
    const server = new CompactionServer()
    const client = new Anthropic({ apiKey: "k", baseURL: await server.listen(), maxRetries: 0 })
    const layer = Memory.layer({ strategy, compaction: { mode: "manual" } }).pipe(
      Layer.provide(InMemoryEventLog.layer),
      Layer.provide(
        Layer.succeed(Summarizer.Summarizer, nativeCompaction({ client, model, request: { tools } })),
      ),
    )
    const compacted: Array<string> = []
    let thoughtsBehindBlock = 0
    const program = Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const compact = Effect.map(memory.compact("s"), ({ _tag }) => compacted.push(_tag))
      const ask = ({ messages }: Render.Context) =>
        Effect.promise(() => {
          const conversation = encodeMessages(messages, { model })
          const kept = conversation.messages.slice(1)
          if (blocks(conversation.messages.slice(0, 1), "compaction") === 1)
            thoughtsBehindBlock += blocks(kept, "thinking")
          return client.beta.messages.create({
            ...conversation,
            model,
            max_tokens: 1_000,
            tools,
            betas: [compactionBeta],
          })
        })
      const answer = (context: Render.Context) =>
        Effect.gen(function* () {
          const response = yield* ask(context)
          const decoded = Either.getOrThrow(decodeMessage(response))
          yield* memory.append("s", decoded, { prefix: context.prefix })
          return decoded.flatMap(Message.calls)
        })
      yield* memory.append("s", Message.system("Be kind."))
      for (let turn = 0; turn < 60; turn++) {
        yield* memory.append("s", Message.user(`${turn}: ${turn % 4 === 1 ? "look it up" : "go on"}`))
        const calls = yield* answer(yield* memory.context("s"))
        for (const { id } of calls) {
          yield* memory.append("s", Message.result({ id, output: "a page of text" }))
          const context = yield* memory.context("s")
          if (turn % 3 === 0) yield* compact
          yield* answer(turn % 6 === 0 ? yield* memory.context("s") : context)
        }
        if (turn % 5 === 4) yield* compact
        if (turn % 7 === 6) {
          // The answer comes while the summary is written: it was produced behind the whole history.
          yield* memory.append("s", Message.user(`${turn}: and then?`))
          const context = yield* memory.context("s")
          yield* compact
          yield* answer(context)
        }
      }
      return yield* memory.state("s")
    })
    const state = await Effect.runPromise(program.pipe(Effect.provide(layer)))
    await server.close()
    expect(compacted.filter((tag) => tag === "Committed").length).toBeGreaterThan(15)
    expect(compacted).not.toContain("Failed")
    expect(state.coveredTo).toBeGreaterThan(100)
    expect(state.prefix.changedAt).toBe(0)
    expect(thoughtsBehindBlock).toBeGreaterThan(100)
    const requests = server.requests.filter(({ body }) => body.compaction === undefined)
    expect(requests.every(({ body }) => body.system === "Be kind.")).toBe(true)
  })
})
