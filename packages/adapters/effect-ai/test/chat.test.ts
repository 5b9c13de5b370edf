/** What becomes of a session when calls fail, are interrupted or tried again; with the real providers. */
import { Chat, Prompt } from "@effect/ai"
import { breaking, breaks, faults } from "@memfold/harness/brokenStreams"
import { Memory, Message } from "@memfold/core"
import { type Answer, type ProviderServer, scripted, type ServerOptions } from "@memfold/strict-providers"
import { Deferred, Effect, Layer, Ref, Schedule, Schema, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { decodePrompt, MemfoldChat } from "../src/index.js"
import { handlers, memoryOf, models, served, toolkit } from "./models.js"

const call: Answer = { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: "a", depth: 1 } }] }

/** Runs a program against a local server that answers so, and returns the server. */
const run = <A, E>(
  options: ServerOptions,
  program: (
    server: ProviderServer,
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof environment>>>,
  provider: keyof typeof models = "anthropic",
) =>
  Effect.gen(function* () {
    const server = yield* served(options)
    yield* program(server).pipe(Effect.provide(environment(server, provider)))
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  }).pipe(Effect.scoped, Effect.runPromise)

const environment = (server: ProviderServer, provider: keyof typeof models) =>
  Layer.mergeAll(memoryOf({ compaction: { mode: "off" } }), models[provider](server), handlers)

const outline = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  const { messages } = yield* memory.messages("chat", { limit: 500 })
  return messages.map(({ role, parts }) =>
    [role, ...parts.map((part) => (part.type === "text" ? part.text : part.type))].join(" "),
  )
})

describe("a call that fails", () => {
  it("is tried again with its prompt stored once", () =>
    run(
      { answer: scripted([{ text: "lost", cut: 0 }, { text: "lost", cut: 0 }, { text: "Fine." }]) },
      (server) =>
        Effect.gen(function* () {
          const chat = yield* MemfoldChat.open("chat")
          const { text } = yield* chat
            .generateText({ prompt: "How are you?" })
            .pipe(Effect.retry(Schedule.recurs(5)))
          expect(text).toBe("Fine.")
          expect(server.received.length).toBeGreaterThan(1)
          expect(yield* outline).toEqual(["user How are you?", "assistant Fine."])
          // The same words after an answer are said again.
          yield* chat.generateText({ prompt: "How are you?" })
          expect(yield* outline).toHaveLength(4)
        }),
    ))

  it("leaves its prompt to a later call, without a new one", () =>
    run({ answer: scripted([{ text: "lost", cut: 0 }, { text: "Fine." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        yield* Effect.flip(chat.generateText({ prompt: "How are you?" }))
        const later = yield* MemfoldChat.open("chat")
        yield* later.generateText({ prompt: [] }).pipe(Effect.retry(Schedule.recurs(5)))
        expect(yield* outline).toEqual(["user How are you?", "assistant Fine."])
      }),
    ))

  it("in another chat stores its prompt once if the request has a name", () =>
    run({ answer: scripted([{ text: "lost", cut: 0 }, { text: "Fine." }]) }, () =>
      Effect.gen(function* () {
        const ask = (request: string) =>
          MemfoldChat.open("chat").pipe(
            Effect.flatMap((chat) => chat.generateText({ prompt: "How are you?" })),
            Effect.provideService(MemfoldChat.RequestId, request),
          )
        yield* ask("request-1").pipe(Effect.retry(Schedule.recurs(5)))
        expect(yield* outline).toEqual(["user How are you?", "assistant Fine."])
        yield* ask("request-2")
        expect(yield* outline).toHaveLength(4)
      }),
    ))

  it("because the provider's package refuses the prompt, takes it back", () =>
    run(
      { answer: scripted([{ text: "Fine." }]) },
      () =>
        Effect.gen(function* () {
          const chat = yield* MemfoldChat.open("chat")
          yield* chat.generateText({ prompt: "How are you?" })
          const document = Prompt.makePart("file", {
            mediaType: "application/msword",
            data: new Uint8Array([1, 2, 3]),
          })
          const prompt = Prompt.fromMessages([Prompt.makeMessage("user", { content: [document] })])
          const refused = yield* Effect.flip(chat.generateText({ prompt }))
          expect(refused._tag).toBe("MalformedInput")
          const streamed = yield* Effect.flip(Stream.runDrain(chat.streamText({ prompt })))
          expect(streamed._tag).toBe("MalformedInput")
          yield* chat.generateText({ prompt: "And now?" })
          expect(yield* outline).toEqual([
            "user How are you?",
            "assistant Fine.",
            "user And now?",
            "assistant Fine.",
          ])
        }),
      "openai",
    ))

  it("because the store fails, is an error of Effect AI with its cause", () =>
    run({}, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("")
        const error = yield* Effect.flip(chat.generateText({ prompt: "How are you?" }))
        expect(error._tag).toBe("UnknownError")
        expect((error.cause as Error).message).toMatch(/session id is required/)
      }),
    ))
})

describe("a stream", () => {
  it("that breaks after a tool has run keeps the call and its result, and goes on", () =>
    run({ answer: scripted([{ ...call, cut: 11 }, { text: "It is known." }]) }, (server) =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const ask = Stream.runDrain(chat.streamText({ prompt: "What?", toolkit }))
        yield* Effect.ignore(ask)
        expect(yield* outline).toEqual(["user What?", "assistant reasoning tool-call", "tool tool-result"])
        yield* ask
        expect(server.received).toHaveLength(2)
        expect((yield* outline).slice(3)).toEqual(["assistant It is known."])
      }),
    ))

  it("that breaks in its text is asked again, with nothing stored twice", () =>
    run({ answer: scripted([{ text: "This is a long answer.", cut: 4 }, { text: "Short." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const ask = Stream.runDrain(chat.streamText({ prompt: "What?" }))
        yield* Effect.flip(ask)
        expect(yield* outline).toEqual(["user What?"])
        yield* ask
        expect(yield* outline).toEqual(["user What?", "assistant Short."])
      }),
    ))

  for (const provider of ["anthropic", "openai"] as const) {
    it(`that breaks at any event, or is read to any of its parts, leaves a session that goes on (${provider})`, async () => {
      const places = [...breaks, ...Array.from({ length: 12 }, (_, before) => ({ parts: before + 1 }))]
      for (const at of places) {
        await run(
          { answer: breaking("of" in at ? at : null, "lookUp") },
          () =>
            Effect.gen(function* () {
              const memory = yield* Memory.Memory
              const stored = Effect.map(memory.messages("chat"), ({ messages }) => messages)
              const chat = yield* MemfoldChat.open("chat")
              const ask = (prompt: Prompt.RawInput) => chat.streamText({ prompt, toolkit })
              const goOn = Effect.gen(function* () {
                for (let calls = 0; calls < 4; calls++) {
                  const last = (yield* stored).at(-1)
                  if (last?.role === "assistant" && Message.text(last) !== "") return
                  yield* Effect.ignore(Stream.runDrain(ask([])))
                }
              })
              const first = "parts" in at ? Stream.take(ask("How many?"), at.parts) : ask("How many?")
              yield* Effect.ignore(Stream.runDrain(first))
              yield* goOn
              yield* Stream.runDrain(ask("And now?"))
              yield* goOn
              expect([at, faults(yield* stored, ["How many?", "And now?"])]).toEqual([at, []])
            }),
          provider,
        )
      }
    })
  }

  it("that is not read to its end leaves a session that goes on", () =>
    run({ answer: scripted([{ text: "This is a long answer." }, { text: "Short." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const [first] = yield* Stream.runCollect(Stream.take(chat.streamText({ prompt: "What?" }), 1))
        expect(first?.type).toBe("response-metadata")
        yield* chat.generateText({ prompt: "And this?" })
        expect(yield* outline).toEqual(["user What?", "user And this?", "assistant Short."])
      }),
    ))

  it("that is interrupted ends its turn", () =>
    run({ answer: scripted([call, { text: "Fine." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const running = yield* Deferred.make<void>()
        const fiber = yield* chat.streamText({ prompt: "What?" }).pipe(
          Stream.tap(() => Effect.zipRight(Deferred.succeed(running, undefined), Effect.never)),
          Stream.runDrain,
          Effect.fork,
        )
        yield* Deferred.await(running)
        yield* fiber.interruptAsFork(fiber.id())
        yield* chat.generateText({ prompt: "And this?" })
        expect((yield* outline).at(-1)).toBe("assistant Fine.")
      }),
    ))

  it("has its answer stored before the consumer sees its end", () =>
    run({ answer: scripted([{ thinking: "Hm.", text: "Fine." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const seen = yield* Ref.make<ReadonlyArray<string>>([])
        yield* chat
          .streamText({ prompt: "What?" })
          .pipe(
            Stream.concat(Stream.execute(Effect.flatMap(outline, (now) => Ref.set(seen, now)))),
            Stream.runDrain,
          )
        expect(yield* seen).toEqual(["user What?", "assistant reasoning Fine."])
      }),
    ))
})

describe("an open call", () => {
  const unresolved = { prompt: "What?", toolkit, disableToolCallResolution: true } as const

  it("is answered by a message of the application", () =>
    run({ answer: scripted([call, { text: "It is known." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const { toolCalls } = yield* chat.generateText(unresolved)
        const result = Prompt.makePart("tool-result", {
          id: toolCalls[0]!.id,
          name: "lookUp",
          isFailure: false,
          result: { found: 1 },
          providerExecuted: false,
        })
        const prompt = Prompt.fromMessages([Prompt.makeMessage("tool", { content: [result] })])
        expect((yield* chat.generateText({ prompt, toolkit })).text).toBe("It is known.")
      }),
    ))

  it("is closed by the next message of the user", () =>
    run({ answer: scripted([call, { text: "Never mind." }]) }, (server) =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        yield* chat.generateText(unresolved)
        expect((yield* chat.context).layout.map(({ section }) => section)).toContain("open")
        yield* chat.generateText({ prompt: "Something else.", toolkit })
        expect(JSON.stringify(server.received[1]?.body["messages"])).toContain("tool_use")
      }),
    ))

  const resultOf = (id: string) =>
    Prompt.makeMessage("tool", {
      content: [
        Prompt.makePart("tool-result", {
          id,
          name: "lookUp",
          isFailure: false,
          result: { found: "late" },
          providerExecuted: false,
        }),
      ],
    })

  it.each(["in the history", "with the next question"])(
    "is answered although the user has gone on: %s",
    (way) =>
      run({ answer: scripted([call, { text: "I wait." }, { text: "It is known." }]) }, (server) =>
        Effect.gen(function* () {
          const chat = yield* MemfoldChat.open("chat")
          const { toolCalls } = yield* chat.generateText(unresolved)
          const late = resultOf(toolCalls[0]!.id)
          yield* chat.generateText({ prompt: "Be quick.", toolkit })
          const question = Prompt.makeMessage("user", {
            content: [Prompt.makePart("text", { text: "Well?" })],
          })
          if (way === "in the history") {
            yield* Ref.update(chat.history, ({ content }) => Prompt.fromMessages([...content, late]))
            yield* chat.generateText({ prompt: "Well?", toolkit })
          } else yield* chat.generateText({ prompt: Prompt.fromMessages([late, question]), toolkit })
          const sent = JSON.stringify(server.received.at(-1)?.body)
          expect(sent).toContain("late")
          expect(sent).not.toContain("interrupted")
          expect(yield* outline).toEqual([
            "user What?",
            "assistant reasoning tool-call",
            "tool tool-result",
            "user Be quick.",
            "assistant I wait.",
            "user Well?",
            "assistant It is known.",
          ])
        }),
      ),
  )
})

describe("two requests at once", () => {
  it("of two chats are ordered, and neither is lost", () =>
    run({ answer: scripted([{ text: "one" }, { text: "two" }, { text: "three" }]) }, () =>
      Effect.gen(function* () {
        const [one, two] = yield* Effect.all([MemfoldChat.open("chat"), MemfoldChat.open("chat")])
        yield* Effect.all(
          [
            one.generateText({ prompt: "first" }),
            Stream.runDrain(two.streamText({ prompt: "second" })),
            one.generateText({ prompt: "third" }),
          ],
          { concurrency: "unbounded" },
        )
        const lines = yield* outline
        expect(lines.map((line) => line.split(" ")[0]).join(" ")).toBe(
          "user assistant user assistant user assistant",
        )
        for (const line of ["user first", "user second", "user third"]) expect(lines).toContain(line)
      }),
    ))

  it("of two memories, as in two processes, keep a call and its result together", () =>
    run({ answer: scripted([call, call, { text: "Known." }]) }, () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const chats = yield* Effect.all([memory, { ...memory }].map((own) => MemfoldChat.make(own, "chat")))
        yield* Effect.forEach(chats, (chat, at) => chat.generateText({ prompt: `from ${at}`, toolkit }), {
          concurrency: "unbounded",
        })
        yield* chats[0]!.generateText({ prompt: "And?", toolkit })
        const roles = (yield* outline).map((line) => line.split(" ")[0])
        expect(roles.filter((role) => role === "user")).toHaveLength(3)
        expect(roles.join(" ").split("assistant tool")).toHaveLength(3)
      }),
    ))
})

describe("a request that is sent again once it has its answer", () => {
  const asking = (request: string, prompt: string) =>
    MemfoldChat.open("chat").pipe(
      Effect.flatMap((chat) =>
        Effect.gen(function* () {
          let asked: string | [] = prompt
          for (;;) {
            const { toolCalls } = yield* chat.generateText({ prompt: asked, toolkit })
            if (toolCalls.length === 0) return
            asked = []
          }
        }),
      ),
      Effect.provideService(MemfoldChat.RequestId, request),
    )

  for (const provider of ["anthropic", "openai"] as const) {
    it(`gets another answer, and only that one stays (${provider})`, () =>
      run(
        { answer: scripted([{ text: "one" }, call, { text: "two" }, { text: "three" }, { text: "four" }]) },
        (server) =>
          Effect.gen(function* () {
            yield* asking("request-1", "First?")
            yield* asking("request-2", "Second?")
            const first = ["user First?", "assistant one"]
            expect((yield* outline).at(-1)).toBe("assistant two")
            yield* asking("request-2", "Second?")
            expect(yield* outline).toEqual([...first, "user Second?", "assistant three"])
            expect(JSON.stringify(server.received.at(-1)?.body)).not.toContain("two")
            const memory = yield* Memory.Memory
            const [, left] = yield* memory.branches("chat")
            yield* memory.checkout("chat", left!.id)
            expect((yield* outline).at(-1)).toBe("assistant two")
            // Not where the user has gone on: nothing is taken back by a request that comes late.
            const before = yield* outline
            yield* memory.append("chat", Message.user("Third?"))
            yield* asking("request-2", "Second?")
            expect(yield* outline).toEqual([...before, "user Third?", "assistant four"])
          }),
        provider,
      ))
  }
})

describe("the history", () => {
  it("is the whole conversation, and what is written to it is stored", () =>
    run({ answer: scripted([{ thinking: "Hm.", text: "one" }, { text: "two" }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        const { content } = yield* chat.generateText({ prompt: "What?" })
        const before = yield* chat.history
        expect(before.content.map(({ role }) => role)).toEqual(["user", "assistant"])
        const [thought] = before.content[1]!.content as ReadonlyArray<Prompt.ReasoningPart>
        expect(thought?.options.anthropic).toEqual(
          content.find(({ type }) => type === "reasoning")?.metadata["anthropic"],
        )
        yield* Ref.update(chat.history, Prompt.merge("And this?"))
        const memory = yield* Memory.Memory
        // Appended: nothing was left.
        expect(yield* memory.branches("chat")).toHaveLength(1)
        expect((yield* memory.messages("chat")).messages[1]?.usage).toBeDefined()
        yield* chat.generateText({ prompt: [] })
        expect(yield* outline).toEqual([
          "user What?",
          "assistant reasoning one",
          "user And this?",
          "assistant two",
        ])
        yield* Ref.set(chat.history, Prompt.make("From anew."))
        expect(yield* outline).toEqual(["user From anew."])
      }),
    ))

  it("is exported as Effect AI does it", () =>
    run({ answer: scripted([call, { text: "Known." }]) }, () =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.open("chat")
        yield* chat.generateText({ prompt: "What?", toolkit })
        yield* chat.generateText({ prompt: [], toolkit })
        const history = yield* chat.history
        const copies = yield* Effect.all([
          Effect.flatMap(chat.export, Chat.fromExport),
          Effect.flatMap(chat.exportJson, Chat.fromJson),
        ])
        for (const copy of copies) expect((yield* copy.history).content).toEqual(history.content)
      }),
    ))
})

describe("a chat", () => {
  it("generates objects", () =>
    run(
      { answer: scripted([{ text: '{"city":"Graz"}' }]) },
      () =>
        Effect.gen(function* () {
          const chat = yield* MemfoldChat.open("chat")
          const schema = Schema.Struct({ city: Schema.String })
          expect((yield* chat.generateObject({ prompt: "Where?", schema })).value).toEqual({ city: "Graz" })
          expect(yield* outline).toEqual(["user Where?", 'assistant {"city":"Graz"}'])
        }),
      "openai",
    ))

  it("goes on with another provider, and leaves out what the first one ran itself", async () => {
    const search = (type: "tool-call" | "tool-result") => ({
      type,
      id: "ws_1",
      name: "OpenAiWebSearch",
      providerExecuted: true,
      ...(type === "tool-call" ? { params: {} } : { isFailure: false, result: { status: "completed" } }),
    })
    const given = decodePrompt([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is new?" },
      {
        role: "assistant",
        content: [search("tool-call"), search("tool-result"), { type: "text", text: "Nothing." }] as never,
      },
    ])
    await run({ answer: scripted([{ text: "Still nothing." }]) }, (server) =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("chat", given)
        yield* memory.append("chat", Message.user("", { pinned: true }))
        const chat = yield* MemfoldChat.open("chat")
        yield* chat.generateText({
          prompt: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "And now?" },
          ],
        })
        const unsupported = (yield* chat.context).layout.filter(({ section }) => section === "unsupported")
        expect(unsupported.map(({ parts }) => parts)).toEqual([["opaque"], ["text"]])
        const system = server.received[0]?.body["system"] as ReadonlyArray<{ readonly text: string }>
        expect(system.map(({ text }) => text)).toEqual(["Be brief.", "Be kind."])
      }),
    )
  })

  it("has a memory of createMemory, too", () =>
    run({ answer: scripted([call, { text: "Known." }]) }, () =>
      Effect.gen(function* () {
        const memory = createMemory({ store: "memory:", format: "anthropic", compaction: { mode: "off" } })
        const chat = yield* MemfoldChat.make(memory, "chat")
        yield* chat.generateText({ prompt: "What?", toolkit })
        expect((yield* chat.generateText({ prompt: [], toolkit })).text).toBe("Known.")
        const { messages } = yield* Effect.promise(() => memory.context("chat"))
        expect(messages.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
        yield* Effect.promise(() => memory.close())
      }),
    ))
})
