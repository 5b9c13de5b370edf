/** What the policies of `docs/compose.md` do, and that the page shows them as they are. */
import {
  EchoSummarizer,
  InMemoryEventLog,
  Memory,
  Message,
  type Strategy,
  TokenCounter,
  Summarizer,
} from "@memfold/core"
import { Effect, Layer, TestClock, TestContext } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { betweenCalls } from "./betweenCalls.js"
import { masking } from "./masking.js"
import { consolidate, nightly } from "./nightly.js"
import { originalRequest } from "./originalRequest.js"

const { assistant, call, result, user } = Message

/** A memory with a strategy, on a clock of its own; four characters are a token. */
const using = <A, E>(
  strategy: Strategy.Strategy,
  program: (memory: Memory.Service) => Effect.Effect<A, E, Memory.Memory>,
) =>
  Effect.flatMap(Memory.Memory, program).pipe(
    Effect.provide(Memory.layer({ strategy, compaction: { mode: "inline" } })),
    Effect.provide(InMemoryEventLog.layer),
    Effect.provide(Layer.succeed(Summarizer.Summarizer, EchoSummarizer.make())),
    Effect.provide(
      Layer.succeed(TokenCounter.TokenCounter, {
        name: "quarter",
        count: (text) => Math.ceil(text.length / 4),
      }),
    ),
    Effect.provide(TestContext.TestContext),
    Effect.runPromise,
  )

const turn = (index: number, length = 40) => [
  user(`question ${index} `.padEnd(length, "q")),
  assistant(`answer ${index} `.padEnd(length, "a")),
]
const turns = (count: number) => Array.from({ length: count }, (_, index) => turn(index)).flat()

describe("the page", () => {
  const page = readFileSync(new URL("../docs/compose.md", import.meta.url), "utf8")
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1])
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => /^\w+\.ts$/.test(name))

  it("shows each policy as it is, and each is shown", () => {
    expect(files).toHaveLength(4)
    for (const file of files) {
      const code = readFileSync(new URL(`./${file}`, import.meta.url), "utf8")
      expect(blocks).toContain(code)
      expect(code.split("\n").length).toBeLessThan(20)
    }
  })
})

describe("nightly", () => {
  it("leaves a conversation alone while it goes on, and folds it once it has been quiet for six hours", async () => {
    await using(nightly, (memory) =>
      Effect.gen(function* () {
        yield* memory.append("chat", turns(5))
        yield* TestClock.adjust("5 hours")
        yield* consolidate
        expect((yield* memory.state("chat")).summary).toBeNull()
        yield* TestClock.adjust("1 hour")
        yield* consolidate
        expect(yield* memory.state("chat")).toMatchObject({ coveredTo: 8, total: 10 })
        yield* consolidate
        expect(yield* memory.summaries("chat")).toHaveLength(1)
      }),
    )
  })
})

describe("betweenCalls", () => {
  it("compacts above 70 %, but not before the open call has its result", async () => {
    await using(betweenCalls(400), (memory) =>
      Effect.gen(function* () {
        yield* memory.append("chat", turns(6))
        expect((yield* memory.state("chat")).summary).toBeNull()
        yield* memory.append("chat", user("look at it ".repeat(60)))
        yield* memory.append("chat", call([{ id: "c1", name: "look", arguments: "{}" }]))
        expect((yield* memory.state("chat")).coveredTo).toBe(12)

        yield* memory.append("chat", user("and once more ".repeat(10)))
        yield* memory.append("other", [...turns(6), call([{ id: "c1", name: "look", arguments: "{}" }])])
        yield* memory.append("other", result({ id: "c0", output: "x".repeat(900) }))
        expect((yield* memory.state("other")).summary).toBeNull()
        yield* memory.append("other", result({ id: "c1", output: "done" }))
        expect((yield* memory.state("other")).summary).not.toBeNull()
      }),
    )
  })
})

describe("originalRequest", () => {
  it("shows the first thing the user said, also when it is covered", async () => {
    await using(originalRequest, (memory) =>
      Effect.gen(function* () {
        yield* memory.append("chat", turns(25))
        const { messages, layout } = yield* memory.context("chat")
        expect((yield* memory.state("chat")).coveredTo).toBe(30)
        expect(layout[0]).toMatchObject({ section: "pinned", from: 0, to: 1 })
        expect(Message.text(messages[0]!)).toBe("question 0 ".padEnd(40, "q"))
        expect(layout.filter(({ section }) => section === "pinned")).toHaveLength(1)
      }),
    )
  })
})

describe("masking", () => {
  const step = (index: number) => [
    call([{ id: `c${index}`, name: "read", arguments: `{"path":"${index}.ts"}` }]),
    result({ id: `c${index}`, output: `${index}: ${"x".repeat(1_000)}` }),
  ]

  it("puts a note in place of old outputs above its size, keeps the calls, and asks no summarizer", async () => {
    await using(masking(3_000), (memory) =>
      Effect.gen(function* () {
        yield* memory.append("chat", [user("go"), ...Array.from({ length: 14 }, (_, i) => step(i)).flat()])
        const { messages, tokens } = yield* memory.context("chat")
        expect(tokens).toBeLessThan(3_000)
        const outputs = messages.flatMap(Message.results).map(({ output }) => output)
        expect(outputs.slice(0, 9)).toEqual(
          Array.from(
            { length: 9 },
            (_, i) => `[Old tool output cleared: ${`${i}: `.length + 1_000} characters]`,
          ),
        )
        expect(outputs.slice(9).every((output) => output.length > 1_000)).toBe(true)
        expect(messages.flatMap(Message.calls)).toHaveLength(14)
        expect(yield* memory.summaries("chat")).toEqual([])
        expect((yield* memory.state("chat")).coveredTo).toBe(0)
      }),
    )
  })
})
