/** A message that is larger than the window of the summarizer: it is divided, and no prompt is refused. */
import { describe, expect, it } from "vitest"
import { type AskModel, BreakEven, createMemory, type GivenSummarizer, SplitTurn } from "../src/index.js"

/** Some 355,000 tokens, each line another. */
const large = Array.from(
  { length: 30_000 },
  (_, n) => `${n}: GET /orders/${n * 7919} 200 in ${n % 97} ms`,
).join("\n")
const user = (content: string) => ({ role: "user" as const, content })
const assistant = (content: string) => ({ role: "assistant" as const, content })

/** The size of a prompt as every tokenizer has it at the least: no token has more than four characters on average here. */
const tokensOf = (prompt: { readonly system: string; readonly user: string }) =>
  (prompt.system.length + prompt.user.length) / 4

const compacted = async (
  strategy: ReturnType<typeof BreakEven>,
  summarizer: (ask: AskModel) => GivenSummarizer,
) => {
  const prompts: Array<number> = []
  const read = new Set<string>()
  const ask: AskModel = async (prompt) => {
    prompts.push(tokensOf(prompt))
    for (const [line] of prompt.user.matchAll(/^\d+: GET \/orders\/\d+ 200/gm)) read.add(line)
    return `Orders were fetched, up to prompt ${prompts.length}.`
  }
  await using memory = createMemory({
    store: "memory:",
    strategy,
    summarizer: summarizer(ask),
    compaction: { mode: "inline" },
  })
  await memory.append("s", [user(large), assistant("I see.")])
  for (let turn = 0; turn < 12; turn++)
    await memory.append("s", [user(`Question ${turn}?`), assistant(`Answer ${turn}.`)])
  const { tokens } = await memory.context("s")
  return { prompts, read: read.size, tokens }
}

describe("a message larger than the summarizer's window", () => {
  it("is divided by the strategy's limit, where the summarizer states none", async () => {
    for (const strategy of [BreakEven, SplitTurn]) {
      const { prompts, read, tokens } = await compacted(strategy({ contextLimit: 32_000 }), (ask) => ask)
      expect(prompts.length).toBeGreaterThan(10)
      expect(Math.max(...prompts)).toBeLessThan(32_000)
      // A line may be cut where the message is divided.
      expect(read).toBeGreaterThan(29_900)
      expect(tokens).toBeLessThan(32_000)
    }
  })

  it("is divided by the window that is stated", async () => {
    const { prompts, tokens } = await compacted(BreakEven(), (ask) => ({ ask, maxInputTokens: 100_000 }))
    expect(prompts.length).toBeGreaterThan(3)
    expect(prompts.length).toBeLessThan(12)
    expect(Math.max(...prompts)).toBeLessThan(100_000)
    expect(tokens).toBeLessThan(10_000)
  })

  it("is one prompt for a model without a window", async () => {
    const infinite = { maxInputTokens: Number.POSITIVE_INFINITY }
    const { prompts } = await compacted(BreakEven({ contextLimit: 32_000 }), (ask) => ({ ask, ...infinite }))
    expect(Math.max(...prompts)).toBeGreaterThan(300_000)
  })

  it("needs a window that is a number, and a function", () => {
    const refused = (summarizer: unknown) => () =>
      createMemory({ store: "memory:", summarizer: summarizer as never })
    expect(refused({ ask: async () => "…", maxInputTokens: 0 })).toThrow("maxInputTokens is a number")
    expect(refused({ ask: "model" })).toThrow("ask is a function")
    expect(refused([{ ask: async () => "…", name: "" }])).toThrow("name is a text")
  })
})
