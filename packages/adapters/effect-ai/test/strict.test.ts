/** Chats with the real providers of Effect AI, against a server that is as strict as their APIs (law L17). */
import { Memory, Message } from "@memfold/core"
import { seeded } from "@memfold/strict-providers"
import { Chunk, Effect, Layer, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import { MemfoldChat } from "../src/index.js"
import { createMemory } from "memfold"
import { handlers, memoryOf, models, served, toolkit } from "./models.js"

/** Asks, and goes on as long as the model calls tools. */
const turn = (chat: MemfoldChat.Service, text: string, streams: boolean) =>
  Effect.gen(function* () {
    let prompt: string | [] = text
    for (;;) {
      const parts = streams
        ? Chunk.toReadonlyArray(yield* Stream.runCollect(chat.streamText({ prompt, toolkit })))
        : (yield* chat.generateText({ prompt, toolkit })).content
      if (!parts.some(({ type }) => type === "tool-call")) return parts
      prompt = []
    }
  })

/** Questions to an agent: enough for several compactions, two reverts and a redaction. */
const turns = often(20, 40)

describe.each(["anthropic", "openai"] as const)("an agent on one session, with %s", (provider) => {
  for (const streams of [false, true]) {
    // A quick run has each mode of compaction with one way of asking.
    const modes = deep ? (["inline", "background"] as const) : ([streams ? "background" : "inline"] as const)
    for (const compaction of modes) {
      it(`is never refused: ${streams ? "streams" : "whole answers"}, compaction ${compaction}`, () =>
        Effect.gen(function* () {
          const server = yield* served({ answer: seeded(7) })
          const program = Effect.gen(function* () {
            const memory = yield* Memory.Memory
            for (let question = 1; question <= turns; question++) {
              const chat = yield* MemfoldChat.open("chat", { instructions: "Be brief." })
              yield* turn(chat, `Question ${question}?`, streams)
              if (question % 9 === 0) yield* memory.revert("chat", { pauseFor: 4 })
              if (question === 13) yield* memory.redact("chat", 3)
            }
            return {
              summaries: yield* memory.summaries("chat"),
              state: yield* memory.state("chat"),
              messages: yield* memory.messages("chat", { limit: 500 }),
            }
          })
          const { summaries, messages } = yield* program.pipe(
            Effect.provide(
              Layer.mergeAll(
                memoryOf({ compaction: { mode: compaction } }),
                models[provider](server),
                handlers,
              ),
            ),
          )
          expect(server.refused.map(({ violations }) => violations)).toEqual([])
          expect(summaries.length).toBeGreaterThan(3)
          const sent = server.received.map(({ body }) => JSON.stringify(body))
          expect(sent.at(-1)).toContain("Be brief.")
          // What was thought was sent back, in the turns that were not compacted.
          const thought = provider === "anthropic" ? '"signature"' : '"type":"reasoning"'
          expect(sent.filter((body) => body.includes(thought)).length).toBeGreaterThan(10)
          const asked = messages.messages.filter(({ role }) => role === "user")
          expect(asked).toHaveLength(turns)
          const answers = messages.messages.filter(({ role }) => role === "assistant")
          expect(answers).toHaveLength(server.received.length)
        }).pipe(Effect.scoped, Effect.runPromise))
    }
  }
})

describe.each(["anthropic", "openai"] as const)(
  "generated loops of tools, compacted at every step, with %s",
  (provider) => {
    it("are never refused, whatever the model says and calls", () =>
      expectNothingRefused(
        ({ server, memory, text, output }) =>
          Effect.gen(function* () {
            const chat = yield* MemfoldChat.make(memory, "chat")
            // A call that the library cannot decode is an error of the turn; the conversation goes on.
            yield* Effect.either(turn(chat, text, false))
          }).pipe(
            Effect.provide(models[provider](server)),
            Effect.provide(toolkit.toLayer({ lookUp: () => Effect.sync(output) })),
            Effect.runPromise,
          ),
        { drops: "wrong calls" },
      ))
  },
)

/** What the library sends nothing of to one provider or the other. */
const unsent: Readonly<Record<string, Message.Part>> = {
  reasoning: { type: "reasoning", text: "Hm." },
  "a file": { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" },
}

describe.each(["anthropic", "openai"] as const)("an answer that is nothing else, with %s", (provider) => {
  it.each(Object.keys(unsent))("leaves no message without content: %s", (kind) =>
    Effect.gen(function* () {
      const server = yield* served({ answer: () => ({ text: "Done." }) })
      const memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
      yield* Effect.addFinalizer(() => Effect.promise(() => memory.close()))
      for (const message of [
        Message.user("Where is it?"),
        { role: "assistant" as const, parts: [unsent[kind]!] },
      ])
        yield* Effect.promise(() => memory.neutral.append("chat", message))
      const asked = Effect.flatMap(MemfoldChat.make(memory, "chat"), (chat) => turn(chat, "And?", false))
      yield* asked.pipe(Effect.provide(Layer.mergeAll(models[provider](server), handlers)))
      expect(server.refused.map(({ violations }) => violations)).toEqual([])
    }).pipe(Effect.scoped, Effect.runPromise),
  )
})
