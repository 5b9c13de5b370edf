import { Message, type Policy, TokenCounter } from "@memfold/core"
import { Cost, Prices } from "@memfold/prices"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { startOfTime } from "@memfold/testing/arbitrary"
import { quarter } from "@memfold/testing/fakes"
import { runOf, decisions, oneByOne, rehearse } from "@memfold/testing"
import { BreakEven, type BreakEvenSettings } from "./index.js"

const minute = 60_000

/** A message of a number of characters, with its position in front. */
const long = (position: number, characters: number): string => `${position} `.padEnd(characters, "x")

/** A talk of user and assistant in turn; each message has `characters` characters and comes `every` ms after the last. */
const talk = (count: number, { characters = 400, every = 1_000, from = 0 } = {}) =>
  Array.from({ length: count }, (_, position) => {
    const at = { time: startOfTime + (from + position) * every }
    const text = long(from + position, characters)
    return (from + position) % 2 === 0 ? Message.user(text, at) : Message.assistant(text, at)
  })

const tokensOf = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, message) => sum + TokenCounter.ofMessage(quarter, message), 0)

/** With these, every compaction is worth it: only the size of a block counts. */
const free: Prices.Prices = {
  ...Prices.presets["claude-sonnet-5"],
  input: 0,
  output: 0,
  cacheWrite: 0,
  cached: 1,
}

const reasons = (
  settings: Partial<BreakEvenSettings>,
  messages: ReadonlyArray<Message.Message>,
  circumstances: Policy.Circumstances = {},
) => decisions(BreakEven(settings), oneByOne(messages), circumstances).map(({ reason }) => reason)

describe("the break-even point", () => {
  it("is reached when the backlog is worth its compaction, at the pace of the session", () => {
    const settings = { blockTokens: 1_000, keepTokens: 500, keepMessages: 4 }
    for (const characters of [400, 1_600]) {
      const messages = talk(400, { characters })
      const each = tokensOf(messages.slice(0, 1))
      const kept = Math.max(Math.floor(500 / each), 4) * each
      const point = Cost.breakEven(Prices.presets["claude-sonnet-5.5"], {
        perCall: 2 * each,
        summary: 120,
        kept,
        summarizerInput: 1_600,
        summarizerOutput: 120,
      })
      const found = decisions(BreakEven(settings), oneByOne(messages))
      expect(found.length).toBeGreaterThan(1)
      for (const { reason, from, to } of found) {
        expect(reason).toBe("break-even")
        const taken = tokensOf(messages.slice(from, to))
        // The pace is measured on the messages so far, and the newest question may not have its answer yet.
        expect(taken / point).toBeGreaterThan(0.97)
        expect(taken / point).toBeLessThan(1.1)
      }
    }
  })

  it("is later where the cache is cheaper", () => {
    const first = (prices: BreakEvenSettings["prices"]) =>
      decisions(BreakEven({ prices, blockTokens: 100 }), oneByOne(talk(400)))[0]!.to
    expect(first("claude-sonnet-5")).toBeLessThan(first("claude-sonnet-5.5"))
  })

  it("is never below the size of a block", () => {
    const messages = talk(300)
    const found = decisions(BreakEven({ prices: free, blockTokens: 3_000 }), oneByOne(messages))
    expect(found.length).toBeGreaterThan(1)
    for (const { from, to } of found) expect(tokensOf(messages.slice(from, to))).toBeGreaterThanOrEqual(3_000)
  })
})

describe("an expired cache", () => {
  /** A talk with a pause after `after` messages. */
  const withPause = (after: number, pause: number) => [
    ...talk(after),
    ...talk(6, { from: after }).map((message) => ({ ...message, time: (message.time ?? 0) + pause })),
  ]

  it("is when to compact, before the next answer", () => {
    const [first, ...others] = decisions(BreakEven(), oneByOne(withPause(60, 6 * minute)))
    expect(first).toMatchObject({ reason: "cold-cache", from: 0, total: 61 })
    expect(others).toEqual([])
  })

  it("names the time at which it expires, so a memory need not wait for a message", () => {
    const { moments } = rehearse(BreakEven(), oneByOne(talk(60)))
    const { dueTime, state } = moments.at(-1)!
    expect(dueTime).toBe(state.lastModelCallTime! + 5 * minute + 1)
    expect(rehearse(BreakEven(), oneByOne(talk(10))).moments.at(-1)?.dueTime).toBeNull()
  })

  it("is none while the provider keeps it, nor is a small backlog worth a block", () => {
    expect(reasons({}, withPause(60, 4 * minute))).toEqual([])
    expect(reasons({ prices: "claude-sonnet-5.5-1h" }, withPause(60, 6 * minute))).toEqual([])
    expect(reasons({ coldBlockTokens: 6_000 }, withPause(60, 6 * minute))).toEqual([])
  })
})

describe("a summarizer that asks in context", () => {
  const settings = { blockTokens: 100, keepTokens: 500, keepMessages: 2, summaryShare: 0.12 }

  it("makes a compaction worth it sooner", () => {
    const dear = { ...Prices.presets["claude-sonnet-5.5"], input: 40 }
    const first = (asksInContext: boolean) =>
      decisions(BreakEven({ ...settings, blockTokens: 1_000, prices: dear }), oneByOne(talk(900)), {
        asksInContext,
      })[0]!.to
    expect(first(true)).toBeLessThan(0.7 * first(false))
  })

  it("is asked half a minute before the cache expires, and after that as any other", () => {
    const { moments } = rehearse(BreakEven(), oneByOne(talk(60)), { circumstances: { asksInContext: true } })
    const { dueTime, state } = moments.at(-1)!
    expect(dueTime).toBe(state.lastModelCallTime! + 4.5 * minute + 1)
    const later = (pause: number) => [
      ...talk(60),
      ...talk(2, { from: 60 }).map((message) => ({ ...message, time: message.time! + pause })),
    ]
    expect(reasons({}, later(4.4 * minute), { asksInContext: true })).toEqual([])
    expect(reasons({}, later(4.7 * minute), { asksInContext: true })).toEqual(["expiring-cache"])
    expect(reasons({}, later(6 * minute), { asksInContext: true })).toEqual(["cold-cache"])
  })
})

describe("the window", () => {
  it("bounds the context, whatever a compaction costs", () => {
    const dear = { ...Prices.presets["gpt-6.2-sol"], output: 1e9 }
    const contextLimit = 4_000
    const { decided, moments } = rehearse(
      BreakEven({ prices: dear, contextLimit, keepTokens: 200 }),
      oneByOne(talk(400)),
    )
    expect(new Set(decided.map(({ reason }) => reason))).toEqual(new Set(["window+backlog"]))
    for (const { context } of moments) expect(context.tokens).toBeLessThanOrEqual(contextLimit)
  })

  it("is not asked for at every message, even if pinned messages fill it", () => {
    const pinned = Message.user(long(0, 12_000), { pinned: true, time: startOfTime })
    const found = reasons({ contextLimit: 4_000 }, [pinned, ...talk(200, { from: 1 })])
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThan(200 / 2)
  })
})

describe("what stays", () => {
  const tailOf = (characters: number, settings: Partial<BreakEvenSettings> = {}) => {
    const { total, tailFrom } = decisions(BreakEven(settings), oneByOne(talk(600, { characters })))[0]!
    return total - tailFrom
  }

  it("is the newest tokens, or the newest messages if they are more", () => {
    expect(tailOf(400)).toBe(Math.floor(2_000 / tokensOf(talk(1))))
    expect(tailOf(4_000)).toBe(12)
  })

  it("is at most a quarter of the window, but always the newest message", () => {
    const contextLimit = 20_000
    expect(tailOf(8_000, { contextLimit })).toBe(Math.floor((20_000 * 0.7) / 4 / 2_004))
    expect(tailOf(8_000, { contextLimit: 4_000 })).toBe(1)
  })
})

describe("its summaries", () => {
  it("are messages of their own, which stay as they are when others come, and name the files", async () => {
    const id = "1"
    const reads = [
      Message.call([{ id, name: "read_file", arguments: '{"path":"src/money.ts"}' }]),
      Message.result({ id, output: "export const one = 1" }),
    ]
    const contexts = []
    for (const count of [40, 80]) {
      const messages = [Message.user("read it"), ...reads, Message.assistant("done"), ...talk(count)]
      const settings = { prices: free, blockTokens: 500, keepTokens: 500, keepMessages: 2 }
      const { state, moments } = await runOf(BreakEven(settings), oneByOne(messages))
      const { context } = moments.at(-1)!
      expect(state.summary?.segments.every(({ kind }) => kind === "block")).toBe(true)
      const blocks = context.messages.slice(0, state.summary?.segments.length)
      expect(Message.text(context.messages[blocks.length]!)).toContain("src/money.ts")
      contexts.push(blocks)
    }
    const [few = [], more = []] = contexts
    expect(few.length).toBeGreaterThan(0)
    expect(more.length).toBeGreaterThan(few.length)
    expect(more.slice(0, few.length)).toEqual(few)
  })

  it("are merged once they have outgrown their room", () => {
    // In a rehearsal, each summary takes five tokens.
    const { decided } = rehearse(
      BreakEven({ prices: free, summaryTokens: 4, blockTokens: 500 }),
      oneByOne(talk(200)),
    )
    const kinds = decided.map(({ parts }) => parts[0]?.kind)
    expect(kinds.slice(0, 4)).toEqual(["block", "block", "history", "block"])
  })
})

describe("its settings", () => {
  it("name prices by a preset, or are prices", () => {
    const own = { ...Prices.presets["gpt-6.2-sol"], model: "mine" }
    expect(Either.isRight(BreakEven.decode({ prices: own }))).toBe(true)
    expect(Either.isRight(BreakEven.decode({ prices: "gpt-6.2-sol", context_limit: 272_000 }))).toBe(true)
  })

  it.each([
    [{ prices: "gpt-3" }, "prices"],
    [{ prices: { ...Prices.presets["gpt-6.2-sol"], cached: -1 } }, "prices"],
    [{ keepTokens: 0 }, "keepTokens"],
    [{ compactionThreshold: 1.5 }, "compactionThreshold"],
    [{ summaryShare: 0 }, "summaryShare"],
    [{ budget: 3 }, "budget"],
  ])("are refused by name: %o", (settings, name) => {
    const refused = Either.getLeft(BreakEven.decode(settings))
    expect(refused).toMatchObject({ value: { strategy: "break-even" } })
    expect(JSON.stringify(refused)).toContain(name)
  })
})
