import { Message } from "@memfold/core"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMemory, RollingBuffer, Rounds, Strategy, Trigger, Keep, Fold, UnknownName } from "./index.js"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "memfold-promise-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const gather = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

describe("createMemory", () => {
  it("takes and gives OpenAI messages, and remembers over a restart", async () => {
    const store = `sqlite:${join(folder, "chats.db")}`
    const first = createMemory({ store, strategy: RollingBuffer(), summarizer: "echo", compaction: "inline" })
    for (let turn = 0; turn < 10; turn++) {
      await first.append("c", { role: "user", content: `question ${turn} about something of interest` })
      await first.append("c", { role: "assistant", content: `answer ${turn} to the question that was asked` })
    }
    const before = await first.context("c")
    expect(before.messages[0]).toEqual({ role: "system", content: "Summary of earlier conversation: [0,15)" })
    expect(before.messages.at(-1)).toEqual({
      role: "assistant",
      content: "answer 9 to the question that was asked",
    })
    await first.close()

    const again = createMemory({ store, summarizer: "echo" })
    expect(await again.context("c")).toEqual(before)
    expect((await gather(again.sessions())).map(({ session }) => session)).toEqual(["c"])
    const events = await gather(again.events("c"))
    expect(events.filter(({ event }) => event._tag === "MessageAppended")).toHaveLength(20)
    expect((await again.context("c", { atVersion: 3 })).messages).toHaveLength(3)
    expect(await again.delete("c")).toBe(true)
    await again.close()
  })

  it("asks a model through a function, and lives with one that throws", async () => {
    const asked: Array<string> = []
    const memory = createMemory({
      store: "memory:",
      strategy: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }),
      summarizer: async ({ user }) => {
        asked.push(user)
        if (asked.length === 1) throw new Error("overloaded")
        return "they talked"
      },
      summarizerRetries: 0,
      backOff: "0 millis",
      compaction: "manual",
    })
    for (let turn = 0; turn < 3; turn++) {
      await memory.append("c", [
        { role: "user", content: `question ${turn} with some more words in it` },
        { role: "assistant", content: `answer ${turn} with some more words in it` },
      ])
    }
    const outcomes = [...(await memory.compactDue("c")), ...(await memory.compactDue("c"))]
    expect(outcomes.map(({ _tag }) => _tag)).toEqual(["Failed", "Committed", "Committed"])
    expect(outcomes[0]).toMatchObject({ error: { detail: "the function that asks the model threw Error" } })
    expect(asked[1]).toContain("question 0 with some more words in it")
    expect((await memory.context("c")).messages[0]).toEqual({
      role: "system",
      content: "[Session Memory]\nthey talked\n\nthey talked",
    })
    await memory.close()
  })

  it("speaks Anthropic and plain memfold messages", async () => {
    const anthropic = createMemory({ store: "memory:", format: "anthropic" })
    await anthropic.append("c", { role: "user", content: "Hello" })
    expect(await anthropic.context("c")).toMatchObject({ messages: { messages: [{ role: "user" }] } })
    await anthropic.close()

    const plain = createMemory({ store: "memory:", format: "memfold" })
    await plain.append("c", [Message.system("Be kind."), Message.user("Hello")])
    expect((await plain.context("c")).messages).toEqual([Message.system("Be kind."), Message.user("Hello")])
    await plain.close()
  })

  it("rejects with typed errors", async () => {
    expect(() => createMemory({ store: "floppy:a" })).toThrow(UnknownName)
    expect(() => createMemory({ store: "memory:", summarizer: "magic" })).toThrow("extractive, echo")
    const memory = createMemory({ store: "memory:" })
    await expect(memory.append("", { role: "user", content: "x" })).rejects.toMatchObject({
      _tag: "InvalidInput",
    })
    await expect(memory.append("c", { role: "robot" } as never)).rejects.toThrow(/role/)
    await memory.close()
    await expect(memory.context("c")).rejects.toMatchObject({ _tag: "Closed" })
    const missing = createMemory({ store: `sqlite:${join(folder, "later/folder.db")}` })
    await expect(missing.context("c")).rejects.toMatchObject({ _tag: "LogError", operation: "open" })
    mkdirSync(join(folder, "later"))
    expect((await missing.context("c")).messages).toEqual([])
    await missing.close()
  })

  it("refuses options that cannot be meant, and says what can", () => {
    const wrong: ReadonlyArray<readonly [options: object, allowed: string]> = [
      [{}, "sqlite:PATH"],
      [{ store: "memory:", format: "xx" }, "openai, anthropic, memfold"],
      [{ store: "memory:", strategy: "best" }, "sliding-window, rounds, split-turn, rolling-buffer"],
      [{ store: "memory:", strategy: {} }, "a strategy, or the name of one"],
      [{ store: "memory:", compaction: "later" }, "background, inline, manual, or off"],
      [{ store: "memory:", lease: "2 parsecs" }, "a duration"],
    ]
    for (const [options, allowed] of wrong) expect(() => createMemory(options as never)).toThrow(allowed)
  })

  it("takes a strategy by its name", async () => {
    const memory = createMemory({ store: "memory:", strategy: "rolling-buffer", compaction: "inline" })
    for (let turn = 0; turn < 9; turn++) {
      await memory.append("c", {
        role: "user",
        content: `turn ${turn}: my order ${turn} has not arrived yet`,
      })
    }
    expect((await memory.state("c")).coveredTo).toBe(5)
    await memory.close()
  })

  it("takes a strategy of one's own", async () => {
    const strategy = Strategy.make({
      name: "mine",
      when: Trigger.uncovered({ messages: 3 }),
      keep: Keep.lastMessages(1),
      summaryMode: Fold.drop,
    })
    const memory = createMemory({ store: "memory:", strategy, compaction: "inline" })
    for (const content of ["one", "two", "three"]) await memory.append("c", { role: "user", content })
    expect((await memory.context("c")).messages).toEqual([{ role: "user", content: "three" }])
    await memory[Symbol.asyncDispose]()
  })
})
