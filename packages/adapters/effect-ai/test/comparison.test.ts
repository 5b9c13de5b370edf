/** Failures of Effect AI's own `Chat` and `Chat.Persistence`, as the same script with them and with memfold. */
import { Chat, Prompt } from "@effect/ai"
import { BackingPersistence, layerMemory } from "@effect/experimental/Persistence"
import { Memory, Message } from "@memfold/core"
import { type Answer, scripted } from "@memfold/strict-providers"
import { Effect, Layer, Ref } from "effect"
import { describe, expect, it } from "vitest"
import { MemfoldChat } from "../src/index.js"
import { handlers, memoryOf, models, served, toolkit } from "./models.js"

const call: Answer = { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: "a", depth: 1 } }] }

const text = (history: Prompt.Prompt): ReadonlyArray<string> =>
  history.content.map(({ role, content }) =>
    [
      role,
      ...(typeof content === "string"
        ? [content]
        : content.map((one) => ("text" in one ? one.text : one.type))),
    ].join(" "),
  )

/** How many characters each save wrote. */
const counted = (sizes: Array<number>) =>
  Layer.effect(
    BackingPersistence,
    Effect.map(BackingPersistence, (backing) => ({
      ...backing,
      make: (id: string) =>
        Effect.map(backing.make(id), (store) => ({
          ...store,
          set: (...[key, value, ttl]: Parameters<typeof store.set>) => {
            sizes.push(String(value).length)
            return store.set(key, value, ttl)
          },
        })),
    })),
  ).pipe(Layer.provide(layerMemory))

/** A fresh `Persisted` or a fresh chat of memfold, as each request of a server opens one. */
type Open = Effect.Effect<Chat.Service, unknown, Chat.Persistence | Memory.Memory>
const theirs: Open = Effect.flatMap(Chat.Persistence, ({ getOrCreate }) => getOrCreate("chat"))
const ours: Open = MemfoldChat.open("chat")

const run = <A>(
  answers: ReadonlyArray<Answer>,
  program: Effect.Effect<A, unknown, Layer.Layer.Success<ReturnType<typeof environment>>>,
  sizes: Array<number> = [],
) =>
  Effect.gen(function* () {
    const server = yield* served({ answer: scripted(answers) })
    const value = yield* Effect.provide(program, environment(server, sizes))
    return { value, server }
  }).pipe(Effect.scoped, Effect.runPromise)

const environment = (server: Parameters<typeof models.anthropic>[0], sizes: Array<number>) =>
  Layer.mergeAll(
    memoryOf({ compaction: { mode: "inline" } }),
    models.anthropic(server),
    handlers,
    Chat.layerPersisted({ storeId: "chats" }).pipe(Layer.provide(counted(sizes))),
  )

describe("two requests that opened the same chat", () => {
  const both = (open: Open) =>
    Effect.gen(function* () {
      const [one, two] = yield* Effect.all([open, open])
      yield* one.generateText({ prompt: "My order is KX-4471." })
      yield* two.generateText({ prompt: "I live in Graz." })
      return text(yield* (yield* open).history)
    })
  const answers = [{ text: "one" }, { text: "two" }]

  it("lose the first one's turn with Chat.Persistence, and none with memfold", async () => {
    expect((await run(answers, both(theirs))).value).toEqual(["user I live in Graz.", "assistant two"])
    expect((await run(answers, both(ours))).value).toEqual([
      "user My order is KX-4471.",
      "assistant one",
      "user I live in Graz.",
      "assistant two",
    ])
  })
})

describe("signed reasoning", () => {
  const loop = (open: Open) =>
    Effect.gen(function* () {
      const chat = yield* open
      yield* chat.generateText({ prompt: "What?", toolkit })
      yield* chat.generateText({ prompt: [], toolkit })
    })
  const answers = [call, { text: "Known." }]

  it("is lost by Chat, and sent back by memfold", async () => {
    const sent = async (open: Open) =>
      JSON.stringify((await run(answers, loop(open))).server.received[1]?.body["messages"])
    expect(await sent(theirs)).not.toContain('"signature"')
    expect(await sent(ours)).toContain('"signature"')
  })
})

describe("a file", () => {
  const given = Prompt.fromMessages([
    Prompt.makeMessage("user", {
      content: [Prompt.makePart("file", { mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71]) })],
    }),
  ])
  const kept = (open: Open) =>
    Effect.gen(function* () {
      yield* (yield* open).generateText({ prompt: given })
      return yield* (yield* open).history
    })

  it("cannot be loaded again by Chat.Persistence, and comes back from memfold", async () => {
    await expect(run([{ text: "A picture." }], kept(theirs))).rejects.toThrow("parseJson <-> Prompt")
    const { value } = await run([{ text: "A picture." }], kept(ours))
    expect(value.content[0]).toEqual(given.content[0])
  })
})

describe("a long chat", () => {
  const turns = 40
  const talk = (open: Open) =>
    Effect.gen(function* () {
      for (let turn = 0; turn < turns; turn++) {
        yield* (yield* open).generateText({ prompt: `Question ${turn}: ${"what became of it? ".repeat(20)}` })
      }
    })
  const answers = [{ text: "It is on its way. ".repeat(20) }]

  it("is written as a whole each time, and sent as a whole; memfold does neither", async () => {
    const sizes: Array<number> = []
    const longest = (server: { readonly received: ReadonlyArray<{ readonly body: object }> }) =>
      Math.max(...server.received.map(({ body }) => JSON.stringify(body).length))
    const whole = await run(answers, talk(theirs), sizes)
    expect(sizes.at(-1)).toBeGreaterThan(turns * 500)
    const folded = await run(
      answers,
      Effect.gen(function* () {
        yield* talk(ours)
        const memory = yield* Memory.Memory
        return { total: (yield* memory.state("chat")).total, summaries: yield* memory.summaries("chat") }
      }),
    )
    expect(folded.value.total).toBe(2 * turns)
    expect(folded.value.summaries.length).toBeGreaterThan(3)
    expect(longest(folded.server)).toBeLessThan(longest(whole.server) / 2)
  })
})

describe("a failed call", () => {
  it("loses what the user said with Chat, and keeps it with memfold", async () => {
    const asked = (open: Open) =>
      Effect.gen(function* () {
        yield* Effect.ignore((yield* open).generateText({ prompt: "My order is KX-4471." }))
        return text(yield* Ref.get((yield* open).history))
      })
    const answers = [{ text: "lost", cut: 0 }]
    expect((await run(answers, asked(theirs))).value).toEqual([])
    expect((await run(answers, asked(ours))).value).toEqual([
      `user ${Message.text(Message.user("My order is KX-4471."))}`,
    ])
  })
})
