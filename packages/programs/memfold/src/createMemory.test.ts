import { Message } from "@memfold/core"
import { dropFullTextIndex } from "@memfold/store-sqlite"
import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, vi } from "vitest"
import * as memfold from "./index.js"
import {
  createMemory,
  type CreateOptions,
  type LogEntry,
  type MetricUpdate,
  SlidingWindow,
  RollingBuffer,
  Rounds,
  Strategy,
  Trigger,
  Keep,
  SummaryMode,
  UnknownName,
} from "./index.js"

/** The driver, which has no types here. */
const { prototype: driver } = createRequire(import.meta.url)("better-sqlite3") as {
  readonly prototype: { readonly prepare: (sql: string) => unknown }
}

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
    const first = createMemory({
      store,
      strategy: RollingBuffer(),
      summarizer: "echo",
      compaction: { mode: "inline" },
    })
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

  it("asks a model through a function, and survives a function that throws", async () => {
    const asked: Array<string> = []
    const memory = createMemory({
      store: "memory:",
      strategy: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }),
      summarizer: async ({ user }) => {
        asked.push(user)
        if (asked.length === 1) throw new Error("overloaded")
        return "they talked"
      },
      compaction: { summarizerRetries: 0, backOff: "0 millis", mode: "manual" },
    })
    for (let turn = 0; turn < 3; turn++) {
      await memory.append("c", [
        { role: "user", content: `question ${turn} with some more words in it` },
        { role: "assistant", content: `answer ${turn} with some more words in it` },
      ])
    }
    const outcomes = [
      ...(await memory.compact("c", { which: "due" })),
      ...(await memory.compact("c", { which: "due" })),
    ]
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

  it("shows no password of a URL that it does not know", () => {
    for (const store of [
      "mongodb://me:SECRET@host/db",
      "mongodb:me:SECRET@host/db",
      "mysql://host/db?user=me&password=SECRET",
      "mysql://host/db;password=SECRET",
      "me:SECRET@host",
      "amqp:/me:SECRET@host#SECRET",
    ]) {
      const open = () => createMemory({ store: store as "memory:" })
      expect(open).toThrow(/there is no store/)
      expect(open).not.toThrow(/SECRET/)
    }
  })

  it("shows no password of a URL of PostgreSQL that it cannot read", async () => {
    for (const store of [
      "postgres:me:SECRET@host/db",
      "postgres://me:SECRET@host:port/db",
      "postgres://SECRET@",
    ]) {
      const opened = async () => {
        const memory = createMemory({ store: store as "memory:" })
        await memory.state("s")
      }
      await expect(opened()).rejects.not.toThrow(/SECRET/)
    }
  })

  it.each([
    ["", "full"],
    ["?synchronous=full", "full"],
    ["?synchronous=normal", "normal"],
  ])("opens a file as durable as its URL says: %j", async (parameter, durability) => {
    const file = join(folder, `durable${parameter.length}.db`)
    const prepared = vi.spyOn(driver, "prepare")
    try {
      const memory = createMemory({ store: `sqlite:${file}${parameter}` })
      await memory.append("c", { role: "user", content: "Hello" })
      await memory.close()
      const asked = prepared.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("synchronous ="))
      expect(new Set(asked)).toEqual(new Set([`PRAGMA synchronous = ${durability}`]))
      expect(existsSync(file)).toBe(true)
    } finally {
      prepared.mockRestore()
    }
  })

  it("makes no root anew beside keys that another one has wrapped", async () => {
    const keys = join(folder, "rooted")
    const store = `sealed:${keys},sqlite:${join(folder, "rooted.db")}`
    const used = async () => {
      await using memory = createMemory({ store })
      return await memory.append("c", { role: "user", content: "Hello" })
    }
    await used()
    renameSync(join(keys, "root.key"), join(keys, "kept.key"))
    await expect(used()).rejects.toMatchObject({
      _tag: "LogError",
      message: expect.stringMatching(/root\.key is missing, .*: put it back from a backup/),
    })
    renameSync(join(keys, "kept.key"), join(keys, "root.key"))
    expect(await used()).toMatchObject({ from: 1 })
  })

  it("rejects with typed errors", async () => {
    // @ts-expect-error -- a text that a program has in it is checked by its compiler, too
    expect(() => createMemory({ store: "floppy:a" })).toThrow(UnknownName)
    // Not the name of a file: whoever writes this means a parameter.
    expect(() => createMemory({ store: "sqlite:/tmp/a.db?mode=ro" })).toThrow("without other parameters")
    expect(() => createMemory({ store: "sqlite:/tmp/a.db?synchronous=off" })).toThrow(
      "sqlite:PATH?synchronous=normal",
    )
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
      [{ store: "memory:", format: "xx" }, "openai, openai-responses, anthropic, memfold"],
      [{ store: "memory:", strategy: "best" }, "sliding-window, rounds, split-turn, rolling-buffer"],
      [{ store: "memory:", strategy: {} }, "a strategy, or the name of one"],
      [{ store: "memory:", compaction: { mode: "later" } }, "background, dispatch, inline, manual, or off"],
      [{ store: "memory:", compaction: { mode: "dispatch" } }, '"queue" must be given'],
      [{ store: "memory:", queue: "redis://h" }, 'compaction: { mode: "dispatch" }'],
      [{ store: "memory:", queue: 5, compaction: { mode: "dispatch" } }, "redis://HOST, postgres://"],
      [
        { store: "memory:", queue: "amqp://me:SECRET@h", compaction: { mode: "dispatch" } },
        "there is no queue",
      ],
      [{ store: "memory:", compaction: "inline" }, 'an object like { mode: "inline" }'],
      [{ store: "memory:", compaction: { lease: -1 } }, "more than 0"],
      [{ store: "memory:", compaction: { timeout: 5 } }, "one of the options: mode, hooks"],
      [{ store: "memory:", recall: { index: "store" } }, "embedder, reranker, vectorIndex, fullTextIndex"],
      [{ store: "memory:", recall: true }, "an object"],
      [{ store: "memory:", layers: { extract: 5 } }, "one of the options: extractor"],
      [{ store: "memory:", layers: { mostUser: -1 } }, '"layers.mostUser"'],
      [{ store: "memory:", boundReasoning: "drop" }, "leave-out or keep"],
      [{ store: "memory:", recall: { fullTextIndex: true } }, "store, searches, or process"],
      [{ store: "memory:", compaction: { lease: "2 parsecs" } }, "a duration"],
      [{ store: "memory:", settings: { tail_keep_sise: 20 } }, '"settings.tail_keep_sise" must be left out'],
      [
        { store: "memory:", settings: { agent: { contextWindow: { fullContextTurn: 3 } } } },
        '"settings.fullContextTurn"',
      ],
      [{ store: "memory:", environmentPrefix: 5 }, "CHAT_"],
      [
        { store: "memory:", recall: { embedder: "text-embedding-3" } },
        "a name, the number of dimensions, and a function embed",
      ],
      [
        { store: "memory:", recall: { embedder: { name: "mine", dimensions: 0, embed: () => [] } } },
        "dimensions",
      ],
      [
        {
          store: "memory:",
          recall: { embedder: { name: "mine", dimensions: 8, minSimilarity: 2, embed: () => [] } },
        },
        "from -1 to 1",
      ],
      [{ store: "memory:", recall: { vectorIndex: "vectors.db" } }, "@memfold/sqlite-vec"],
      [
        {
          store: "memory:",
          recall: { embedder: { name: "mine", dimensions: 8, timeout: "soon", embed: () => [] } },
        },
        "timeout is a duration",
      ],
    ]
    for (const [options, allowed] of wrong) expect(() => createMemory(options as never)).toThrow(allowed)
  })

  it("sends signed reasoning back behind the prefix of its request only (L17)", async () => {
    const thinking = { type: "thinking", thinking: "Two cities.", signature: "c2ln" } as const
    for (const [boundReasoning, left] of [
      ["leave-out", 0],
      ["keep", 1],
    ] as const) {
      const memory = createMemory({
        store: "memory:",
        format: "anthropic",
        compaction: { mode: "manual" },
        strategy: "rounds",
        settings: { fullContextTurns: 1, cachedContextTurns: 1 },
        boundReasoning,
      })
      const shown = async () => JSON.stringify((await memory.context("c")).messages).split("c2ln").length - 1
      for (let turn = 0; turn < 3; turn++) {
        await memory.append("c", { role: "user", content: `question ${turn} of some ordinary length` })
        const { prefix } = await memory.context("c")
        await memory.append(
          "c",
          {
            role: "assistant",
            content: [thinking, { type: "text", text: `answer ${turn} to the question` }],
          },
          { prefix },
        )
      }
      expect(await shown()).toBe(3)
      expect(await memory.compact("c", { which: "due" })).not.toEqual([])
      expect(await shown()).toBe(left)
      await memory.close()
    }
  })

  it("takes a strategy by its name", async () => {
    // Such states are imported with `--from rolling`.
    for (const strategy of ["rolling-buffer", "rolling"]) {
      const memory = createMemory({ store: "memory:", strategy, compaction: { mode: "inline" } })
      for (let turn = 0; turn < 9; turn++) {
        await memory.append("c", {
          role: "user",
          content: `turn ${turn}: my order ${turn} has not arrived yet`,
        })
      }
      expect((await memory.state("c")).coveredTo).toBe(5)
      await memory.close()
    }
  })

  it("takes settings that another strategy knows: a request may use that one", async () => {
    const settings = { tail_keep_size: 20, fullContextTurns: 1, cachedContextTurns: 1 }
    const memory = createMemory({
      store: "memory:",
      settings,
      compaction: { mode: "inline" },
      summarizer: "echo",
    })
    const turns = Array.from({ length: 8 }, (_, at) => ({
      role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `message ${at} with some more words in it`,
    }))
    await memory.append("c", turns, { strategy: "rounds" })
    expect((await memory.state("c")).compressedThroughRound).toBe(3)
    await memory.close()
  })

  it("takes a settings file of another program or of an earlier version, with a warning of what no strategy knows", async () => {
    const entries: Array<LogEntry> = []
    const memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: {
        theme: "dark",
        agent: { name: "a", contextWindow: { fullContextTurns: 1, cachedContextTurns: 1, turns: 3 } },
      },
      compaction: { mode: "inline" },
      summarizer: "echo",
      logger: (entry) => void entries.push(entry),
    })
    for (let turn = 0; turn < 4; turn++)
      await memory.append("c", [
        { role: "user", content: `question ${turn} with some more words in it` },
        { role: "assistant", content: `answer ${turn} with some more words in it` },
      ])
    expect((await memory.state("c")).compressedThroughRound).toBe(3)
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      ["warning", 'settings: no strategy has a setting "turns"; ignored'],
    ])
    await memory.close()
  })

  it("takes a strategy of one's own", async () => {
    const strategy = Strategy.make({
      name: "mine",
      when: Trigger.uncovered({ messages: 3 }),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.drop,
    })
    const memory = createMemory({ store: "memory:", strategy, compaction: { mode: "inline" } })
    for (const content of ["one", "two", "three"]) await memory.append("c", { role: "user", content })
    expect((await memory.context("c")).messages).toEqual([{ role: "user", content: "three" }])
    await memory[Symbol.asyncDispose]()
  })

  it("prints nothing, and gives its log and its metrics to functions", async () => {
    const printed: Array<unknown> = []
    const spies = (["log", "error", "warn", "info"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...parts) => void printed.push(parts)),
    )
    try {
      const entries: Array<LogEntry> = []
      const updates: Array<MetricUpdate> = []
      const failing = async () => {
        throw new Error("no")
      }
      const options = {
        store: "memory:",
        strategy: RollingBuffer({ bufferSize: 4 }),
        summarizer: failing,
        compaction: { summarizerRetries: 0, mode: "inline" },
      } as const
      const long = Array.from({ length: 20 }, (_, at) => ({
        role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: "word ".repeat(20),
      }))
      for (const others of [
        {},
        { logger: (entry: LogEntry) => void entries.push(entry) },
        {
          logger: () => {
            throw new Error("a logger that throws")
          },
        },
        { metrics: (update: MetricUpdate) => void updates.push(update) },
      ]) {
        const memory = createMemory({ ...options, ...others })
        await memory.append("s", long)
        await memory.close()
      }
      expect(printed).toEqual([])
      expect(entries).toContainEqual(
        expect.objectContaining({
          level: "warning",
          message: "a compaction failed",
          data: expect.objectContaining({ session: "s" }),
        }),
      )
      expect(updates).toContainEqual({ name: "memfold_messages_appended", value: 20, labels: {} })
      expect(updates).toContainEqual({
        name: "memfold_summarizer_failures",
        value: 1,
        labels: { reason: "unavailable" },
      })
      const memory = createMemory({ ...options, logger: "warning" })
      await memory.append("s", long)
      await memory.close()
      expect(String(printed)).toContain("a compaction failed")
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  })

  it("refuses a strategy that was not called", async () => {
    for (const options of [{ strategy: SlidingWindow }, { shadow: Rounds }]) {
      expect(() => createMemory({ store: "memory:", ...options } as never)).toThrow(/call the function/)
    }
    const memory = createMemory({ store: "memory:" })
    await expect(memory.context("s", { strategy: SlidingWindow } as never)).rejects.toThrow(
      /call the function/,
    )
    await memory.close()
  })

  it("opens sqlite://NAME next to you, never at the root", async () => {
    const before = process.cwd()
    process.chdir(folder)
    try {
      const memory = createMemory({ store: "sqlite://beside.db" })
      await memory.append("s", { role: "user", content: "x" })
      await memory.close()
      expect(existsSync(join(folder, "beside.db"))).toBe(true)
      expect(existsSync("/beside.db")).toBe(false)
    } finally {
      process.chdir(before)
    }
  })

  it("keeps the index of recall in the file, unless told otherwise", async () => {
    const text = Array.from({ length: 40 }, (_, at) => ({ role: "user" as const, content: `apples ${at}` }))
    for (const [name, recall, sessions] of [
      ["in", {}, 1],
      ["in-too", { fullTextIndex: "store" }, 1],
      ["out", { fullTextIndex: "process" }, 0],
    ] as const) {
      const filename = join(folder, `index-${name}.db`)
      const memory = createMemory({ store: `sqlite:${filename}`, recall })
      await memory.append("s", text)
      expect((await memory.recall("s", "apples")).messages.length).toBe(40)
      await memory.close()
      expect([name, await Effect.runPromise(dropFullTextIndex({ filename }))]).toEqual([name, { sessions }])
    }
    const odd = createMemory({ store: `sqlite:${join(folder, "why?.db")}` })
    await odd.append("s", { role: "user", content: "x" })
    await odd.close()
    expect(existsSync(join(folder, "why?.db"))).toBe(true)
  })

  it("gives the conversation as it was said, in its format, page by page", async () => {
    const memory = createMemory({
      store: "memory:",
      strategy: RollingBuffer({ bufferSize: 4 }),
      compaction: { mode: "inline" },
    })
    for (let at = 0; at < 30; at++) {
      await memory.append("s", { role: at % 2 === 0 ? "user" : "assistant", content: `message number ${at}` })
    }
    const newest = await memory.messages("s", { limit: 20 })
    const rest = await memory.messages("s", { limit: 20, before: newest.before! })
    expect([...rest.messages, ...newest.messages].map(({ content }) => content)).toEqual(
      Array.from({ length: 30 }, (_, at) => `message number ${at}`),
    )
    expect(rest.before).toBeNull()
    await memory.close()
  })

  it("exports every error that a user meets, named like its class", async () => {
    const classes = Object.entries(memfold).filter(
      ([, value]) => typeof value === "function" && value.prototype instanceof Error,
    )
    expect(classes.map(([name]) => name).toSorted()).toEqual([
      "AnthropicDecodeError",
      "CannotFork",
      "CannotRedact",
      "Closed",
      "ConsumerFailed",
      "DamagedEvent",
      "DispatchError",
      "GuardRefused",
      "Held",
      "IdempotencyKeyReused",
      "InvalidInput",
      "InvalidOption",
      "LayersError",
      "LogError",
      "MissingPackage",
      "NotSealed",
      "OpenAIDecodeError",
      "Overloaded",
      "OwnerMismatch",
      "SettingsError",
      "SummarizerError",
      "UnknownBranch",
      "UnknownMessage",
      "UnknownName",
      "UnknownSummary",
      "VectorIndexError",
      "VersionMismatch",
    ])
    const memory = createMemory({ store: "memory:" })
    const error = await memory.append("", { role: "user", content: "x" }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(memfold.InvalidInput)
    expect((error as Error).name).toBe("InvalidInput")
    await memory.close()
    const closed = await memory.context("s").catch((thrown: unknown) => thrown)
    expect(closed).toBeInstanceOf(memfold.Closed)
    expect((closed as Error).name).toBe("Closed")
  })

  it("suggests names to an editor, and still takes any text", () => {
    expectTypeOf<"rounds">().toExtend<CreateOptions["strategy"]>()
    expectTypeOf<string>().toExtend<CreateOptions["strategy"]>()
    expectTypeOf<Extract<CreateOptions["strategy"], "rounds">>().toEqualTypeOf<"rounds">()
    expectTypeOf<Extract<CreateOptions["summarizer"], "echo">>().toEqualTypeOf<"echo">()
    expectTypeOf<Extract<CreateOptions["store"], "memory:">>().toEqualTypeOf<"memory:">()
    expectTypeOf<string>().toExtend<CreateOptions["store"]>()
  })
})
