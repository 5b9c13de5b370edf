/** A history that is changed: what the application has is what the model gets, and the log keeps the rest. */
import { Chat, Prompt } from "@effect/ai"
import { EventLog, Memory, Verify } from "@memfold/core"
import { echoing } from "@memfold/harness/engine"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { scripted } from "@memfold/strict-providers"
import { Effect, Layer, Ref } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { MemfoldChat } from "../src/index.js"
import { type LocalModel, models, rounds, served } from "./models.js"

it("the history of a chat is edited and cut: it goes on behind what stays, live and after a reload", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-effect-ai-"))
  const opened = () =>
    Memory.layer({ strategy: rounds, compaction: { mode: "inline" } }).pipe(
      Layer.provideMerge(SqliteEventLog.layer({ filename: join(folder, "chats.db") })),
      Layer.provide(echoing),
    )
  const answers = Array.from({ length: 30 }, (_, n) => ({ thinking: "Hm.", text: `answer ${n}` }))
  await Effect.gen(function* () {
    const server = yield* served({ answer: scripted(answers) })
    const process = <A, E>(
      program: (
        chat: MemfoldChat.Service,
        memory: Memory.Service,
      ) => Effect.Effect<A, E, EventLog.EventLog | Layer.Layer.Success<LocalModel>>,
    ) =>
      Effect.gen(function* () {
        return yield* program(yield* MemfoldChat.open("chat"), yield* Memory.Memory)
      }).pipe(Effect.provide(Layer.mergeAll(opened(), models.anthropic(server))), Effect.scoped)
    const texts = (chat: MemfoldChat.Service) =>
      Effect.map(chat.history, ({ content }) =>
        content.map((message) =>
          typeof message.content === "string"
            ? message.content
            : message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
        ),
      )
    const before = yield* process((chat, memory) =>
      Effect.gen(function* () {
        for (let n = 0; n < 9; n++) yield* chat.generateText({ prompt: `question ${n}` })
        const { usage } = (yield* memory.messages("chat")).messages[1]!
        expect(usage).toBeDefined()
        const whole = yield* texts(chat)
        // The history as a page has it: read, written down, and read again.
        const json = yield* chat.exportJson
        const copy = yield* Effect.flatMap(Chat.fromJson(json), ({ history }) => history)
        yield* Ref.set(chat.history, Prompt.fromMessages(copy.content.slice(0, 12)))
        expect(yield* texts(chat)).toEqual(whole.slice(0, 12))
        expect((yield* memory.messages("chat")).messages[1]!.usage).toEqual(usage)
        const [, left] = yield* memory.branches("chat")
        expect([left!.from, left!.total]).toEqual([0, 18])
        return whole
      }),
    )
    yield* process((chat, memory) =>
      Effect.gen(function* () {
        yield* chat.generateText({ prompt: "another question" })
        const now = [...before.slice(0, 12), "another question", "answer 9"]
        expect(yield* texts(chat)).toEqual(now)
        const sent = JSON.stringify(server.received.at(-1)?.body["messages"])
        expect([sent.includes("another question"), sent.includes("question 6")]).toEqual([true, false])
        expect((yield* memory.branches("chat")).length).toBe(2)
        const [, left] = yield* memory.branches("chat")
        yield* memory.checkout("chat", left!.id)
      }),
    )
    yield* process((chat) =>
      Effect.gen(function* () {
        yield* chat.generateText({ prompt: "at last" })
        expect(yield* texts(chat)).toEqual([...before, "at last", "answer 10"])
        expect(yield* Verify.session(yield* EventLog.EventLog, "chat")).toEqual([])
      }),
    )
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  }).pipe(Effect.scoped, Effect.runPromise)
  rmSync(folder, { recursive: true, force: true })
})
