/** A system prompt that is sent anew with each turn: its newest form counts, and no context has two. */
import { describe, expect, it } from "vitest"
import { createMemory, SlidingWindow } from "../src/index.js"

const strategy = SlidingWindow({ tailKeepSize: 6, compressionWindowSize: 6 })
const prompt = (day: number) => `You are a travel agent. Be brief, and name prices. Today is day ${day}.`
const turn = (n: number, system: string) => [
  { role: "system" as const, content: system },
  { role: "user" as const, content: `Question ${n}?` },
  { role: "assistant" as const, content: `Answer ${n}.` },
]

const contexts = async (systems: ReadonlyArray<string>) => {
  await using memory = createMemory({ store: "memory:", strategy, compaction: { mode: "inline" } })
  const found: Array<{
    readonly text: string
    readonly layout: ReadonlyArray<object>
    readonly covers: boolean
  }> = []
  for (const [n, system] of systems.entries()) {
    await memory.append("s", turn(n, system))
    const { messages, layout } = await memory.context("s")
    const covers = layout.some(({ section }) => section === "summary")
    found.push({ text: JSON.stringify(messages), layout, covers })
  }
  return found
}

describe("a system prompt that is sent anew with each turn", () => {
  it("is shown in its newest form, once a summary covers the earlier ones", async () => {
    const found = await contexts(Array.from({ length: 12 }, (_, day) => prompt(day)))
    const covered = found.flatMap(({ text, covers }, day) => (covers ? [{ text, day }] : []))
    expect(covered.length).toBeGreaterThan(5)
    for (const { text, day } of covered) {
      expect(text).not.toContain("day 0")
      expect(text).toContain(`day ${day}.`)
      // In front of the summary stands no other form.
      expect(text.slice(0, text.indexOf("[Conversation Summary]"))).not.toContain("day")
    }
    expect(found.at(-1)?.layout).toContainEqual(
      expect.objectContaining({ section: "left-out", parts: ["text"] }),
    )
  })

  it("stays in front where it is sent once, whatever else the system says", async () => {
    const found = await contexts([
      prompt(0),
      ...Array.from({ length: 11 }, (_, n) => `Note ${n}: ${"x".repeat(n)}`),
    ])
    expect(found.at(-1)?.covers).toBe(true)
    expect(found.at(-1)?.text).toContain("day 0")
  })

  it("is shown in the form that was covered last, where the newer messages have none", async () => {
    const found = await contexts([
      prompt(0),
      prompt(1),
      prompt(2),
      ...Array.from({ length: 8 }, (_, n) => `${n}`),
    ])
    expect(found.at(-1)?.text).toContain("day 2")
    expect(found.at(-1)?.text).not.toMatch(/day [01]/)
  })
})
