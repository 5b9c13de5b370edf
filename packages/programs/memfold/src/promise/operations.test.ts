/** What a memory with Promises can do besides append and context. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createMemory, Pin, Rounds, Strategy, Trigger, Keep, SummaryMode } from "../index.js"

const turn = (index: number) => [
  { role: "user", content: `question ${index} about something of interest` } as const,
  { role: "assistant", content: `answer ${index} to the question that was asked` } as const,
]

const options = {
  store: "memory:",
  summarizer: "echo",
  strategy: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }),
  compaction: { mode: "manual" },
} as const

const texts = (messages: ReadonlyArray<{ readonly content?: unknown }>) =>
  messages.map(({ content }) => content)

describe("time", () => {
  it("lists summaries, takes them back, forks, recompacts and forgets", async () => {
    await using memory = createMemory(options)
    for (const index of [0, 1, 2]) {
      await memory.append("s", turn(index))
      await memory.compact("s", { which: "due" })
    }
    const summaries = await memory.summaries("s")
    expect(summaries.map(({ status, text }) => [status, text])).toEqual([
      ["superseded", "[0,2)"],
      ["active", "[0,2)\n\n[2,4)"],
    ])
    await memory.fork("s", "copy")
    expect(await memory.revert("s", { toSummary: summaries[0]!.id })).toBe(1)
    expect((await memory.state("s")).coveredTo).toBe(2)
    expect((await memory.state("copy")).coveredTo).toBe(4)

    const rolling = Strategy.make({
      name: "all",
      when: Trigger.backlog({ messages: 1 }),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.rolling,
    })
    await memory.compact("copy", { which: "all", strategy: rolling })
    expect((await memory.context("copy")).messages[0]?.content).toBe("[Conversation Summary]\n[0,5)")

    expect(await memory.redact("s", 0)).toEqual({ invalidated: 1 })
    expect(texts((await memory.context("s")).messages)[0]).toBe("[redacted]")
    await expect(memory.redact("s", 99)).rejects.toMatchObject({ _tag: "UnknownMessage" })
    await expect(memory.fork("s", "copy")).rejects.toMatchObject({ _tag: "CannotFork" })
    await expect(memory.revert("s", { toSummary: "nobody" })).rejects.toMatchObject({
      _tag: "UnknownSummary",
    })
  })
})

describe("one request", () => {
  it("may have settings of its own, before the file's, and the session does not remember them", async () => {
    const file = { agent: { contextWindow: { fullContextTurns: 2, cachedContextTurns: 2 } } }
    await using memory = createMemory({
      ...options,
      strategy: "rounds",
      settings: file,
      compaction: { mode: "inline" },
    })
    await memory.append("s", [...turn(0), ...turn(1)])
    await memory.append("s", turn(2))
    expect((await memory.state("s")).compressedThroughRound).toBe(0)
    await memory.append("s", [], { settings: { fullContextTurns: 1 } })
    expect((await memory.state("s")).compressedThroughRound).toBe(2)
    await memory.append("s", turn(3))
    await memory.append("s", turn(4))
    expect((await memory.state("s")).compressedThroughRound).toBe(2)
    await memory.append("s", turn(5))
    expect((await memory.state("s")).compressedThroughRound).toBe(4)
    await expect(memory.context("s", { settings: { full_turns: 3 } })).rejects.toMatchObject({
      _tag: "SettingsError",
    })
  })

  it("cannot give settings to a strategy that has no name to it", async () => {
    await using memory = createMemory(options)
    await expect(
      memory.compact("s", { which: "due", settings: { fullContextTurns: 3 } }),
    ).rejects.toMatchObject({
      _tag: "InvalidOption",
      option: "settings",
    })
    expect(() => createMemory({ ...options, settings: { fullContextTurns: 3 } })).toThrow("settings")
  })
})

describe("the wording of summaries", () => {
  it("is a preset's, by its name, whatever the strategy's own is", async () => {
    for (const [wording, heading] of [
      ["conversation-summary", "[Conversation Summary]\n"],
      ["earlier-conversation", "Summary of earlier conversation: "],
      ["session-memory", "[Session Memory]\n"],
    ] as const) {
      await using memory = createMemory({ ...options, wording })
      await memory.append("s", [...turn(0), ...turn(1)])
      await memory.compact("s", { which: "due" })
      expect((await memory.context("s")).messages[0]).toEqual({ role: "system", content: `${heading}[0,2)` })
    }
    expect(() => createMemory({ ...options, wording: "loud" as "session-memory" })).toThrow("wording")
  })
})

describe("what others have a say in", () => {
  it("hooks veto, instruct and are told; a chain of summarizers ends where one answers", async () => {
    const ended: Array<string> = []
    const asked: Array<string> = []
    let veto = true
    await using memory = createMemory({
      ...options,
      compaction: {
        ...options.compaction,
        summarizerRetries: 0,
        hooks: {
          beforeCompaction: async () => (veto ? { veto: true } : { instructions: "mind the numbers" }),
          afterCompaction: ({ outcome }) => {
            ended.push(outcome._tag)
          },
        },
      },
      summarizer: [
        async ({ system }) => {
          asked.push(system)
          throw new Error("overloaded")
        },
        "echo",
      ],
    })
    await memory.append("s", [...turn(0), ...turn(1)])
    expect(await memory.compact("s", { which: "due" })).toEqual([])
    veto = false
    expect(await memory.compact("s", { which: "due" })).toMatchObject([
      { _tag: "Committed", committed: { summarizer: "echo" } },
    ])
    expect(asked[0]).toContain("mind the numbers")
    expect(ended).toEqual(["Committed"])
  })

  it("a subscription goes on until it is broken off", async () => {
    await using memory = createMemory(options)
    await memory.append("s", turn(0))
    const seen: Array<number> = []
    for await (const { version } of memory.subscribe("s")) {
      seen.push(version)
      if (version === 2) await memory.append("s", turn(1))
      if (version === 4) break
    }
    expect(seen).toEqual([1, 2, 3, 4])
  })

  it("a subscription ends when the memory is closed, on any store", async () => {
    const folder = mkdtempSync(join(tmpdir(), "memfold-subscribe-"))
    try {
      for (const store of ["memory:", `sqlite:${join(folder, "s.db")}`]) {
        const memory = createMemory({ ...options, store })
        await memory.append("s", turn(0))
        const seen: Array<number> = []
        for await (const { version } of memory.subscribe("s")) {
          seen.push(version)
          if (version === 2) void memory.close()
        }
        expect(seen).toEqual([1, 2])
        await memory.close()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("wrong options throw at once, and say what they can be", async () => {
    const wrong = (given: object) => () => createMemory({ ...options, ...given })
    expect(wrong({ strat: 1 })).toThrow('"strat"')
    expect(wrong({ summarizer: [] })).toThrow('"summarizer"')
    expect(wrong({ layers: "yes" })).toThrow('"layers"')
    expect(wrong({ budget: { tokens: -1 } })).toThrow('"budget"')
    expect(wrong({ budget: { tokens: 10, timeout: "soonish" } })).toThrow('"budget"')
    expect(wrong({ compaction: { shutdown: "nonsense" } })).toThrow('"compaction.shutdown"')
    expect(() => createMemory(undefined as never)).toThrow('"options"')
    await using memory = createMemory({ ...options, compaction: { mode: "off" } })
    await memory.append("s", [...turn(0), ...turn(1)])
    expect(await memory.compact("s")).toEqual({ _tag: "Idle", reason: "off" })
    await expect(memory.context("s", { atVersion: -1 })).rejects.toMatchObject({ _tag: "InvalidInput" })
    await expect(memory.context("s", { atVersion: "1" as never })).rejects.toMatchObject({
      _tag: "InvalidInput",
    })
    await expect(memory.revert("s", { pauseFor: 0.5 })).rejects.toMatchObject({ _tag: "InvalidInput" })
  })

  it("memory layers learn and recall, and facts can be removed", async () => {
    await using memory = createMemory({ ...options, layers: true, compaction: { mode: "inline" } })
    await memory.append("s", [
      { role: "user", content: "My name is Ada and I live in Graz." },
      { role: "assistant", content: "Nice to meet you, Ada." },
    ])
    await memory.append("s", { role: "user", content: "What is my name?" })
    const facts = await memory.facts("s")
    const name = facts.find(({ text }) => text.includes("Ada"))
    expect(name).toMatchObject({ layer: "user", kind: "profile" })
    const { messages, layout } = await memory.context("s")
    expect(layout.map(({ section }) => section)).toEqual(["uncovered", "user-memory", "current"])
    expect(messages.at(-2)?.content).toContain("Name: Ada")
    expect(await memory.removeFact("s", name!.id)).toBe(true)
    expect((await memory.facts("s")).map(({ id }) => id)).not.toContain(name!.id)
    expect(await memory.removeFact("s", "nothing")).toBe(false)
  })

  it("a strategy of one's own may pin what comes first", async () => {
    const strategy = Strategy.make({
      name: "pinning",
      when: Trigger.backlog({ messages: 2 }),
      keep: Keep.lastMessages(2),
      summaryMode: SummaryMode.rolling,
      pin: Pin.firstUserMessage,
    })
    await using memory = createMemory({ ...options, strategy })
    await memory.append("s", [...turn(0), ...turn(1), ...turn(2)])
    await memory.compact("s", { which: "due" })
    expect((await memory.context("s")).messages[0]).toEqual(turn(0)[0])
  })
})
