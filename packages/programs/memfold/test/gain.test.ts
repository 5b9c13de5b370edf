/** Compactions that cannot bring the context below their limit wait until there is something to gain, and say so. */
import { describe, expect, it } from "vitest"
import { createMemory, type CreateOptions, SplitTurn } from "../src/index.js"

const outside = 150_000
const long = (n: number) => `${n} `.padEnd(1_200, "lorem ipsum ")

const talk = async (given: Partial<CreateOptions<"openai">>, turns: number) => {
  const warnings: Array<string> = []
  await using memory = createMemory({
    store: "memory:",
    strategy: SplitTurn({ contextLimit: 200_000, compactionThreshold: 0.75, keepRecentShare: 0.07 }),
    compaction: { mode: "inline" },
    logger: ({ level, message }) => {
      if (level === "warning") warnings.push(message)
    },
    ...given,
  })
  const gained: Array<number> = []
  for (let turn = 0; turn < turns; turn++) {
    await memory.append("s", { role: "user", content: long(turn) })
    const { tokens } = await memory.context("s")
    await memory.append("s", {
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: long(turn) } }],
      usage: { prompt_tokens: outside + tokens, completion_tokens: 300 },
    } as never)
  }
  for await (const { event } of memory.events("s"))
    if (event._tag === "SummaryCommitted") gained.push(event.tokensBefore - event.tokensAfter)
  return { gained, warnings: warnings.filter((one) => one.includes("a compaction waits")) }
}

describe("a context whose tools and instructions take the room", () => {
  it("is compacted where there is something to gain, and not in every turn", async () => {
    const { gained, warnings } = await talk({}, 160)
    expect(gained.length).toBeGreaterThan(2)
    expect(gained.length).toBeLessThan(12)
    for (const tokens of gained) expect(tokens).toBeGreaterThan(5_000)
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.length).toBeLessThanOrEqual(gained.length + 1)
  })
})
