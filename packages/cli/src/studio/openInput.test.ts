import { type EventLog, Memory, Message } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Layer, Stream } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { createMemory } from "memfold"
import { type OpenedInput, openInput } from "./openInput.js"

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "memfold-studio-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const run = <A, E>(program: Effect.Effect<A, E, never>) => Effect.runPromise(program)
const opened = (...operands: ReadonlyArray<string>) => run(Effect.scoped(openInput(operands)))

/** Asks a memory over what was opened. */
const asking = <A, E>(
  { store }: OpenedInput,
  use: (memory: Memory.Service) => Effect.Effect<A, E>,
): Promise<A> => {
  if (typeof store === "string") throw new Error("a store in memory is expected")
  const live = Memory.layer({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
    Layer.provide(ExtractiveSummarizer.layer()),
    Layer.provide(store as Layer.Layer<EventLog.EventLog>),
  )
  return run(Effect.provide(Effect.flatMap(Memory.Memory, use), live))
}

const chat = [
  { role: "user", content: "My order is KX-4471." },
  { role: "assistant", content: "Thank you." },
]

describe("what a page opens", () => {
  it("is the shipped samples without a file, each compacted by the strategy that suits it", async () => {
    const input = await opened()
    expect(input.sessions).toMatchObject([
      { session: "coding-agent", messages: 196 },
      { session: "support-zh", title: "Chat Completions: support-zh.jsonl" },
    ])
    const summaries = await asking(input, (memory) => memory.summaries("coding-agent"))
    expect(summaries.length).toBeGreaterThan(1)
    // Its last activity is when its last message was said, and not when it was opened.
    const sessions = await asking(input, (memory) => Stream.runCollect(memory.sessions))
    const days = [...sessions].map(({ updatedTime }) => new Date(updatedTime).toISOString().slice(0, 10))
    expect(days.toSorted()).toEqual(["2026-03-24", "2026-04-18"])
  })

  it("is files and folders, each named by what it is, and a line for what cannot be read", async () => {
    const path = folder()
    mkdirSync(join(path, "more"))
    mkdirSync(join(path, ".hidden"))
    writeFileSync(join(path, "a.json"), JSON.stringify(chat))
    writeFileSync(join(path, "more", "a.json"), JSON.stringify(chat.slice(0, 1)))
    writeFileSync(join(path, "broken.jsonl"), '{"role": "user", "content": "Hello"}\n{"role": ')
    writeFileSync(join(path, ".hidden", "b.json"), JSON.stringify(chat))
    writeFileSync(join(path, "notes.txt"), "nothing")
    const input = await opened(path)
    expect(input.sessions).toMatchObject([
      { session: "a", title: "Chat Completions: a.json", format: "openai", messages: 2 },
      { session: "a-2", messages: 1 },
    ])
    expect(input.unread).toEqual([
      `${path}: 1 of its files are of other kinds, and left alone`,
      expect.stringContaining("broken.jsonl:2: not JSON"),
    ])
    for (const line of input.unread) expect(line).not.toContain("\n")
    const page = await asking(input, (memory) => memory.messages("a"))
    expect(page.messages.map(Message.text)).toEqual(chat.map(({ content }) => content))
  })

  it("is one store, by its URL or its file", async () => {
    const file = join(folder(), "chats.db")
    const memory = createMemory({ store: `sqlite:${file}` })
    await memory.append("s", chat as never)
    await memory.close()
    expect(await opened(file)).toEqual({ store: `sqlite:${file}`, sessions: [], unread: [] })
    expect(await opened(`sqlite:${file}`)).toMatchObject({ store: `sqlite:${file}` })
    await expect(opened(file, "chat.json")).rejects.toThrow("name it alone")
    await expect(opened("sqlite:/nowhere/else.db")).rejects.toThrow("/nowhere/else.db")
  })

  it("fails if nothing can be read, and says why", async () => {
    await expect(opened("/nowhere/chat.json")).rejects.toThrow("there is no such file")
    await expect(opened(folder())).rejects.toThrow("there is no transcript")
  })
})
