import { defaultStrategy, strategyNamed } from "@memfold/catalog"
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
const options = {
  strategy: Effect.runSync(strategyNamed(defaultStrategy, {})),
  summarizer: ExtractiveSummarizer.make(),
  onFile: () => {},
  onReplayed: () => {},
}
const opened = (...operands: ReadonlyArray<string>) => run(Effect.scoped(openInput(operands, options)))

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

  it("says how far a file is replayed, and tells the conversations of a file apart", async () => {
    const path = folder()
    const file = join(path, "several.json")
    const said = [
      { from: "human", value: "My order is KX-4471." },
      { from: "gpt", value: "Thank you." },
    ]
    writeFileSync(file, JSON.stringify([{ conversations: said }, { conversations: said.slice(0, 1) }]))
    const told: Array<unknown> = []
    const onReplayed = (...progress: ReadonlyArray<unknown>) => void told.push(progress)
    const input = await run(Effect.scoped(openInput([file], { ...options, onReplayed })))
    expect(input.sessions.map(({ title }) => title)).toEqual([
      "ShareGPT: several.json, 1 of 2",
      "ShareGPT: several.json, 2 of 2",
    ])
    expect(told).toEqual([
      [file, 1, 2],
      [file, 2, 2],
      [file, 1, 1],
    ])
  })

  it("is one session with its branches, where the user went back", async () => {
    const path = folder()
    const said = (id: string, parentUuid: string | null, minute: number) => ({
      type: minute % 2 === 0 ? "user" : "assistant",
      uuid: id,
      parentUuid,
      timestamp: `2026-03-24T10:${String(minute).padStart(2, "0")}:00.000Z`,
      message: { role: minute % 2 === 0 ? "user" : "assistant", content: `This is ${id}.` },
    })
    const lines = [
      said("a", null, 0),
      said("b", "a", 1),
      said("c", "b", 2),
      said("d", "c", 3),
      // Back to the start, and then to where the first branch was.
      said("e", "a", 11),
      said("f", "c", 21),
      said("g", "f", 22),
    ]
    const write = (name: string, entries: ReadonlyArray<object>) =>
      writeFileSync(join(path, name), entries.map((one) => JSON.stringify(one)).join("\n"))
    write("back.jsonl", lines)
    // The summary of another program is imported, and its branches are sessions.
    const summary = { ...said("s", "b", 2), isCompactSummary: true }
    write("compacted.jsonl", [...lines.slice(0, 2), summary, said("x", "s", 3), said("y", "s", 5)])
    const input = await opened(path)
    expect(input.sessions).toMatchObject([
      { session: "back", title: "Claude Code: back.jsonl", messages: 5 },
      { session: "compacted", messages: 3 },
      { session: "compacted-2", title: "Claude Code: compacted.jsonl (a branch that was left)" },
    ])
    const texts = (branch?: number) =>
      asking(input, (memory) => memory.messages("back", branch === undefined ? {} : { branch })).then(
        ({ messages }) => messages.map(Message.text).map((text) => text.slice(8, -1)),
      )
    expect(await texts()).toEqual(["a", "b", "c", "f", "g"])
    const branches = await asking(input, (memory) => memory.branches("back"))
    const left = branches.filter(({ leftAt }) => leftAt !== null)
    expect(await Promise.all(left.map(({ id }) => texts(id)))).toEqual(
      expect.arrayContaining([
        ["a", "b", "c", "d"],
        ["a", "e"],
      ]),
    )
    expect(left).toHaveLength(2)
    // The user left both when the newest message was that of 10:11.
    const times = left.map(({ leftAt }) => new Date(leftAt!).toISOString().slice(11, 16))
    expect(times).toEqual(["10:11", "10:11"])
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
