/** The blocks of Rounds within a budget: what the summary shows, and what stands before the question that needs it. */
import { describe, expect, it } from "vitest"
import { createMemory } from "../index.js"

const topics = ["parser", "garden", "invoice", "train", "coffee", "violin"]

const turn = (topic: string, number: number) => [
  { role: "user" as const, content: `${topic} question ${number}` },
  { role: "assistant" as const, content: `the ${topic} is answered in full ${number}` },
]

const open = (sessionMemoryTokens: number | null = 40) =>
  createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 2, cachedContextTurns: 3, sessionMemoryTokens },
    summarizer: async ({ user }) =>
      `all about the ${/(\w+) question/.exec(user)?.[1]}, as it was asked and answered in full in these turns`,
    compaction: { mode: "inline" },
  })

type Memory = ReturnType<typeof open>

const contents = ({ messages }: Awaited<ReturnType<Memory["context"]>>) =>
  messages.map(({ content }) => String(content))

/** Eighteen turns: each topic fills a block, the last one stays uncovered in part. */
const filled = async (memory: Memory) => {
  for (const [at, topic] of topics.entries())
    for (let one = 0; one < 3; one++) await memory.append("s", turn(topic, 3 * at + one))
}

describe("the blocks of a session within a budget", () => {
  it("are in the context of the question that needs them, and stay where they are (L13)", async () => {
    await using memory = open()
    await filled(memory)
    const before = contents(await memory.context("s"))
    expect(before[0]).not.toContain("garden")
    await memory.append("s", { role: "user", content: "What was that about the garden?" })
    const context = await memory.context("s")
    const asked = contents(context)
    expect(asked.slice(0, before.length)).toEqual(before)
    expect(asked.slice(before.length)).toEqual([
      expect.stringMatching(/^\[Session Memory\]\n\(.+\)\nall about the garden, .+$/),
      "What was that about the garden?",
    ])
    expect(context.layout.find(({ section }) => section === "session-memory")).toMatchObject({
      from: 6,
      to: 12,
    })
    expect(context.tokens).toBe(context.layout.reduce((sum, { tokens }) => sum + tokens, 0))
    await memory.append("s", [
      { role: "assistant", content: "It was watered." },
      { role: "user", content: "And the garden again?" },
    ])
    const again = contents(await memory.context("s"))
    expect(again.slice(0, asked.length)).toEqual(asked)
    expect(again.filter((content) => content.includes("all about the garden"))).toHaveLength(1)
  })

  it("are not added where no block fits, or where the summary shows it", async () => {
    await using memory = open()
    await filled(memory)
    const before = contents(await memory.context("s"))
    const shown = /.*all about the (\w+)/s.exec(before[0]!)?.[1]
    expect(shown).toBeDefined()
    for (const content of ["Are you there?", `What about the ${shown}?`, "What was all that about?"]) {
      await memory.fork("s", content)
      await memory.append(content, { role: "user", content })
      expect(contents(await memory.context(content))).toEqual([...before, content])
    }
  })

  it("leave all at once where they would take more tokens than the setting says", async () => {
    await using memory = open(25)
    await filled(memory)
    for (const topic of ["garden", "parser"]) {
      await memory.append("s", { role: "user", content: `What was that about the ${topic}?` })
      const { layout } = await memory.context("s")
      const blocks = layout.filter(({ section }) => section === "session-memory")
      expect(blocks).toMatchObject([{ from: 6 * topics.indexOf(topic) }])
    }
  })

  it("follow the settings of a request", async () => {
    await using memory = open(null)
    await filled(memory)
    await memory.append("s", { role: "user", content: "What was that about the garden?" })
    const own = contents(await memory.context("s"))
    for (const topic of topics.slice(0, 5)) expect(own[0]).toContain(topic)
    const bounded = await memory.context("s", { settings: { sessionMemoryTokens: 40 } })
    const [front] = contents(bounded)
    expect(front).not.toContain("garden")
    expect(front).toContain("coffee")
    expect(contents(bounded).at(-2)).toContain("all about the garden")
    expect(bounded.tokens).toBe(bounded.layout.reduce((sum, { tokens }) => sum + tokens, 0))
    // Reasoning that was produced behind other blocks is not valid here.
    expect(bounded.prefix).not.toEqual((await memory.context("s")).prefix)
    expect(contents(await memory.context("s"))).toEqual(own)
  })
})
