/** Reference design 1, the sliding window over messages, row by row; the rows are in docs/conformance.md. */
import { Memory } from "@memfold/core"
import { Deferred, Effect, Fiber, Layer, TestClock, TestContext } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { chat as said, startOfTime } from "@memfold/testing/arbitrary"
import { gated, withMemory } from "@memfold/harness/engine"
import { type Run, runOf } from "@memfold/testing"
import * as Import from "@memfold/cli/command/import"
import * as Replay from "@memfold/cli/command/replay"
import { createMemory, type CreateOptions, SlidingWindow } from "../src/index.js"
import {
  chat,
  commandLine,
  contentsOf,
  gather,
  held,
  inFolder,
  layoutOf,
  oneByOne,
  text,
  toolUse,
  until,
  watched,
} from "./talk.js"

const open = (options: Partial<CreateOptions> = {}) =>
  createMemory({
    store: "memory:",
    strategy: "sliding-window",
    summarizer: "echo",
    ...options,
    compaction: { mode: "inline", ...options.compaction },
  })

/** After how many messages something was compacted, when they come one by one; and up to where. */
const rhythm = async (messages: number, settings: object = {}) => {
  const memory = open({ settings })
  const found: Array<readonly [total: number, compressEnd: number]> = []
  let before = 0
  await oneByOne(memory, "s", chat(messages), async () => {
    const { total, coveredTo } = await memory.state("s")
    if (coveredTo !== before) found.push([total, coveredTo])
    before = coveredTo
  })
  return found
}

/** `count` messages that arrive together, some seconds after the beginning. */
const arriving = (count: number, seconds: number) =>
  said(count).map((message) => ({ ...message, time: startOfTime + seconds * 1_000 }))

/** Imports a state of the older program into session `s`, and goes on with it. */
const imported = <A>(state: object, use: (memory: ReturnType<typeof open>) => Promise<A>): Promise<A> =>
  inFolder(async (folder) => {
    const file = join(folder, "s.json")
    writeFileSync(file, JSON.stringify(state))
    const store = `sqlite:${join(folder, "chats.db")}`
    const options = ["--from", "sliding-window", "--summarizer", "echo", "--store", store]
    await commandLine(Import.command, ...options, file)
    const memory = open({ store })
    const answer = await use(memory)
    await memory.close()
    return answer
  })

/** What was compacted in a run. */
const compacted = ({ moments }: Run) =>
  moments.flatMap(({ state, outcomes }) =>
    outcomes.flatMap((outcome) =>
      outcome._tag === "Committed"
        ? [{ total: state.total, to: outcome.committed.coveredTo, reason: outcome.started.reason }]
        : [],
    ),
  )

describe("goal, terms and parameters", () => {
  it("1.1 goal: a long conversation is summarized in batches, not at almost every message", async () => {
    const { requests, summarizer } = watched()
    const memory = open({ summarizer })
    await oneByOne(memory, "s", chat(100), async () => {})
    expect(requests.length).toBe(5)
    expect(requests.every(({ messages }) => messages.length === 12)).toBe(true)
  })

  it("1.2 context_size: the model gets at most this many history messages", async () => {
    const memory = open({ compaction: { mode: "manual" }, settings: { context_size: 50 } })
    await memory.append("s", chat(80))
    const context = await memory.context("s")
    expect(contentsOf(context)).toEqual(chat(50, 30).map(({ content }) => content))
    expect(layoutOf(context)).toEqual(["gap [0,30)", "uncovered [30,80)"])
    await memory.compact("s", { which: "due" })
    expect((await memory.context("s")).messages.length).toBeLessThanOrEqual(50)

    // A group of tool calls that the border falls into is shown as a whole, as is the newest group.
    const small = open({ compaction: { mode: "manual" }, settings: { context_size: 3, tail_keep_size: 2 } })
    await small.append("s", [...chat(4), ...toolUse(3), ...chat(1)])
    expect(layoutOf(await small.context("s"))).toEqual(["gap [0,4)", "uncovered [4,8)", "current [8,9)"])
    await small.append("s", toolUse(3))
    expect(layoutOf(await small.context("s"))).toEqual(["gap [0,9)", "uncovered [9,13)"])
    // Where the window would come too late for the context size, a compaction comes in time: nothing is left out.
    const tight = open({ settings: { context_size: 45 } })
    const layouts = await oneByOne(tight, "s", chat(130), async () => layoutOf(await tight.context("s")))
    expect(layouts.flat().filter((section) => section.startsWith("gap"))).toEqual([])
    expect(layouts.at(-1)).toEqual(["summary [0,90)", "uncovered [90,130)"])
  })

  it("the context size holds where a summarizer fails for good", async () => {
    const said: Array<string> = []
    const memory = open({
      summarizer: async () => {
        throw new Error("no model today")
      },
      compaction: { summarizerRetries: 0, mode: "inline" },
      logger: ({ level, message }) => {
        if (level === "error") said.push(message)
      },
    })
    const sizes: Array<number> = []
    for (let from = 0; from < 1_000; from += 20) {
      await memory.append("s", chat(20, from))
      const context = await memory.context("s")
      sizes.push(context.messages.length)
      // Each message is in the context, or in the gap that the layout names.
      const gap = layoutOf(context).find((section) => section.startsWith("gap"))
      if (gap !== undefined) expect(gap).toBe(`gap [0,${from + 20 - 75})`)
    }
    expect(sizes.at(-1)).toBe(75)
    expect(Math.max(...sizes)).toBeLessThan(200)
    expect(said).toEqual([expect.stringContaining("compactions fail again and again")])
  })

  it("1.3 compression_window_size: every N compressible messages bring about one summary", async () => {
    expect(await rhythm(60, { tail_keep_size: 10, compression_window_size: 20 })).toEqual([
      [30, 20],
      [50, 40],
    ])
  })

  it("1.4 tail_keep_size: the newest messages are never compacted, not even on demand", async () => {
    const memory = open()
    const tails = await oneByOne(memory, "s", chat(130), async (position) => {
      await memory.compact("s")
      const contents = contentsOf(await memory.context("s"))
      return contents.slice(-Math.min(position + 1, 40))
    })
    tails.forEach((tail, position) => {
      const from = Math.max(position + 1 - 40, 0)
      expect(tail).toEqual(chat(position + 1 - from, from).map(({ content }) => content))
    })
  })

  it("1.5 tail_keep_size < context_size, or the settings are refused", () => {
    expect(() => open({ settings: { tail_keep_size: 75, context_size: 75 } })).toThrow(
      "tail_keep_size (75) has to be smaller than context_size (75)",
    )
    expect(() => open({ settings: { context_size: 40 } })).toThrow("tail_keep_size (40)")
    expect(() => open({ settings: { tail_keep_size: 74, context_size: 75 } })).not.toThrow()
  })

  it("1.6 compression_cooldown_sec: below the window, so much time brings a compaction about", async () => {
    const strategy = SlidingWindow({ compressionCooldownSec: 60 })
    const run = await runOf(strategy, [arriving(40, 0), arriving(1, 59), arriving(1, 60)])
    expect(compacted(run)).toEqual([{ total: 42, to: 2, reason: "cooldown" }])
  })

  it("1.7 compression_hard_limit: a backlog that large is compacted whatever the window says", async () => {
    const settings = { compression_window_size: 1_000, compression_hard_limit: 30 }
    expect(await rhythm(110, settings)).toEqual([
      [70, 30],
      [100, 60],
    ])
  })
})

describe("state variables", () => {
  it("1.8 last_consolidated: the index up to which is compacted, itself excluded", async () => {
    const memory = open()
    expect((await memory.state("s")).coveredTo).toBe(0)
    for (const message of chat(52)) await memory.append("s", message)
    expect((await memory.state("s")).coveredTo).toBe(12)
    expect(contentsOf(await memory.context("s")).slice(0, 2)).toEqual([
      "[Conversation Summary]\n[0,12)",
      text(12),
    ])
  })

  it("1.9 last_consolidated_at: when the last compaction ended", async () => {
    const run = await runOf(SlidingWindow(), [arriving(51, 0), arriving(1, 5), arriving(3, 9)])
    const times = run.moments.map(({ state }) => state.lastCompactionTime)
    const at = startOfTime + 5_000
    expect(times).toEqual([null, null, null, at, at, at])
  })

  it("1.10 is_consolidating: the lock of the compaction that runs, for other processes, too", () =>
    inFolder(async (folder) => {
      const store = `sqlite:${join(folder, "chats.db")}`
      const model = held()
      const memory = open({ store, summarizer: model.ask, compaction: { mode: "background" } })
      const other = open({ store, summarizer: model.ask, compaction: { mode: "manual" } })
      await memory.append("s", chat(52))
      await until(() => model.asked.length === 1)
      expect((await other.state("s")).running).toMatchObject({ from: 0, to: 12 })
      expect(await other.compact("s", { which: "due" })).toEqual([])
      expect(await other.compact("s")).toEqual({ _tag: "Idle", reason: "running" })
      expect(model.asked.length).toBe(1)
      model.letGo()
      await until(async () => (await memory.state("s")).running === null)
      expect((await other.state("s")).coveredTo).toBe(12)
      await Promise.all([memory.close(), other.close()])
    }))

  it("1.11 pending_consolidation: what came due while one ran is done when it ends", async () => {
    const model = held()
    const memory = open({ summarizer: model.ask, compaction: { mode: "background" } })
    await memory.append("s", chat(52))
    await until(() => model.asked.length === 1)
    await memory.append("s", chat(12, 52))
    model.letGo()
    await until(() => model.asked.length === 2)
    model.letGo()
    await until(async () => (await memory.state("s")).running === null)
    expect((await memory.state("s")).coveredTo).toBe(24)
    await memory.close()
  })
})

describe("when to compact", () => {
  it("1.12 every new message is looked at", async () => {
    const memory = open()
    const progress = await oneByOne(memory, "s", chat(76), async () => (await memory.state("s")).coveredTo)
    const expected = Array.from({ length: 76 }, (_, index) => {
      const total = index + 1
      if (total < 52) return 0
      if (total < 64) return 12
      return total < 76 ? 24 : 36
    })
    expect(progress).toEqual(expected)
  })

  it("1.13 total = len(session.messages), compacted ones included", async () => {
    const memory = open()
    const totals = await oneByOne(memory, "s", chat(60), async () => (await memory.state("s")).total)
    expect(totals).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect((await memory.state("s")).coveredTo).toBe(12)
  })

  it("1.14 compress_end = total - tail_keep_size", async () => {
    const memory = open({ compaction: { mode: "manual" }, settings: { tail_keep_size: 7 } })
    await memory.append("s", chat(100))
    expect(await memory.compact("s", { which: "due" })).toMatchObject([{ committed: { coveredTo: 93 } }])
    // Between the calls and their results there is no end: it moves back to before them, from 14 to 12.
    await memory.append("calls", [...chat(12), ...toolUse(3), ...chat(5)])
    expect(await memory.compact("calls", { which: "due" })).toMatchObject([{ committed: { coveredTo: 12 } }])
  })

  it("1.15 delta = compress_end - last_consolidated: what is compacted counts no more", async () => {
    expect(await rhythm(200)).toEqual(
      [12, 24, 36, 48, 60, 72, 84, 96, 108, 120, 132, 144, 156].map((end) => [end + 40, end]),
    )
  })

  it("1.16 early stop: nothing while compress_end <= last_consolidated, however long it takes", async () => {
    const days = 86_400
    const run = await runOf(SlidingWindow(), [
      arriving(1, 0),
      arriving(39, 10 * days),
      arriving(12, 20 * days),
    ])
    expect(compacted(run)).toEqual([{ total: 52, to: 12, reason: "window" }])
    expect(await run.reopened((memory) => memory.compact("s"))).toEqual({
      _tag: "Idle",
      reason: "nothing-to-take",
    })
  })

  it("1.17 condition: delta >= compression_window_size", async () => {
    const at = (delta: number) => runOf(SlidingWindow(), [arriving(40 + delta, 0)])
    expect(compacted(await at(11))).toEqual([])
    expect(compacted(await at(12))).toEqual([{ total: 52, to: 12, reason: "window" }])
    expect(compacted(await at(13))).toEqual([{ total: 53, to: 13, reason: "window" }])
  })

  it("1.18 condition: delta >= compression_hard_limit", async () => {
    const strategy = SlidingWindow({ compressionWindowSize: 100 })
    const at = (delta: number) => runOf(strategy, [arriving(40 + delta, 0)])
    expect(compacted(await at(29))).toEqual([])
    expect(compacted(await at(30))).toEqual([{ total: 70, to: 30, reason: "hard-limit" }])
    expect(compacted(await at(31))).toEqual([{ total: 71, to: 31, reason: "hard-limit" }])
  })

  it("1.19 condition: delta > 0 and now - last_consolidated_at >= compression_cooldown_sec", async () => {
    const run = await runOf(SlidingWindow(), [
      arriving(52, 0),
      arriving(1, 899),
      arriving(1, 900),
      arriving(1, 1_799),
      arriving(1, 1_800),
    ])
    expect(compacted(run)).toEqual([
      { total: 52, to: 12, reason: "window" },
      { total: 54, to: 14, reason: "cooldown" },
      { total: 56, to: 16, reason: "cooldown" },
    ])
  })

  it("1.20 any one of the three conditions is enough", async () => {
    const never = { compressionWindowSize: 500, compressionHardLimit: 500, compressionCooldownSec: 1_000_000 }
    const under = async (settings: object) => {
      const run = await runOf(SlidingWindow({ ...never, ...settings }), [arriving(1, 0), arriving(44, 10)])
      return compacted(run)
    }
    expect(await under({})).toEqual([])
    expect(await under({ compressionWindowSize: 5 })).toEqual([{ total: 45, to: 5, reason: "window" }])
    expect(await under({ compressionHardLimit: 5 })).toEqual([{ total: 45, to: 5, reason: "hard-limit" }])
    expect(await under({ compressionCooldownSec: 10 })).toEqual([{ total: 45, to: 5, reason: "cooldown" }])
  })

  it("1.21 while is_consolidating, a trigger starts no second task", async () => {
    const model = held()
    const memory = open({ summarizer: model.ask, compaction: { mode: "background" } })
    await memory.append("s", chat(52))
    await until(() => model.asked.length === 1)
    for (const message of chat(40, 52)) await memory.append("s", message)
    await memory.compact("s", { which: "due" })
    expect(model.asked.length).toBe(1)
    await memory.close()
  })

  it("1.22 when the task ends, pending is cleared and the conditions are looked at once more, at once", async () => {
    const model = held()
    const memory = open({ summarizer: model.ask, compaction: { mode: "background" } })
    await memory.append("s", chat(52))
    await until(() => model.asked.length === 1)
    for (const message of chat(30, 52)) await memory.append("s", message)
    model.letGo()
    await until(() => model.asked.length === 2)
    // All 30 go at once: the look is a new decision, not a replay of each trigger.
    expect((await memory.state("s")).running).toMatchObject({ from: 12, to: 42 })
    model.letGo()
    await until(async () => (await memory.state("s")).running === null)
    expect(await memory.compact("s", { which: "due" })).toEqual([])
    expect(model.asked.length).toBe(2)
    await memory.close()
  })
})

describe("what is compacted", () => {
  it("1.23 the summary's input is messages[last_consolidated : compress_end]", async () => {
    const { requests, summarizer } = watched()
    const memory = open({ summarizer })
    await oneByOne(memory, "s", chat(64), async () => {})
    const inputs = requests.map(({ messages }) => messages.map(({ parts }) => parts))
    const parts = (from: number, to: number) =>
      chat(to - from, from).map(({ content }) => [{ type: "text", text: content }])
    expect(inputs).toEqual([parts(0, 12), parts(12, 24)])
    // A system prompt is pinned: it stays in the context, and is in no input.
    await memory.append("pinned", [{ role: "system", content: "Be brief." }, ...chat(51)])
    expect(requests.slice(2)).toMatchObject([{ from: 0, to: 12 }])
    expect(requests[2]?.messages.map((message) => message.parts)).toEqual(parts(0, 11))
    expect(contentsOf(await memory.context("pinned"))[0]).toBe("Be brief.")
  })

  it("1.24 afterwards last_consolidated = compress_end", async () => {
    const memory = open()
    await memory.append("s", chat(53))
    expect((await memory.state("s")).coveredTo).toBe(13)
    await memory.append("s", chat(17, 53))
    expect((await memory.state("s")).coveredTo).toBe(30)
  })

  it("1.25 afterwards last_consolidated_at = now, the time it ended", async () => {
    const program = Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      const ended = yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const appending = yield* Effect.fork(memory.append("s", said(52)))
        yield* Deferred.await(entered)
        yield* TestClock.adjust("42 seconds")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(appending)
        return yield* memory.state("s")
      }).pipe(
        Effect.provide(withMemory({ strategy: SlidingWindow(), compaction: { mode: "inline" } }, summarizer)),
      )
      return [ended.lastMessageTime, ended.lastCompactionTime]
    })
    expect(await Effect.runPromise(Effect.provide(program, Layer.fresh(TestContext.TestContext)))).toEqual([
      0, 42_000,
    ])
  })
})

describe("the diagrams", () => {
  it("1.26 diagram 1: older messages, then the tail, and compress_end = total - tail_keep_size", async () => {
    const memory = open()
    await memory.append("s", chat(60))
    const { total, coveredTo, uncovered } = await memory.state("s")
    expect({ total, coveredTo, tail: uncovered.length }).toEqual({ total: 60, coveredTo: 20, tail: 40 })
    expect(layoutOf(await memory.context("s"))).toEqual(["summary [0,20)", "uncovered [20,60)"])
  })

  it("1.27 diagram 2: with 75, 40 and 12, trigger #1 at m12 and #2 twelve messages later", async () => {
    const settings = { context_size: 75, tail_keep_size: 40, compression_window_size: 12 }
    const memory = open({ settings })
    await memory.append("s", chat(40))
    const deltas = await oneByOne(memory, "s", chat(36, 40), async () => {
      const { total, coveredTo } = await memory.state("s")
      return total - 40 - coveredTo
    })
    const upTo11 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    expect(deltas).toEqual([...upTo11, 0, ...upTo11, 0, ...upTo11, 0])
  })

  it("1.28 diagram 3: not consolidating starts, pending reruns once, not pending exits", async () => {
    const model = held()
    const memory = open({ summarizer: model.ask, compaction: { mode: "background" } })
    const idle = () => until(async () => (await memory.state("s")).running === null)
    await memory.append("s", chat(52))
    await until(() => model.asked.length === 1)
    model.letGo()
    await idle()
    expect(model.asked.length).toBe(1)

    await memory.append("s", chat(12, 52))
    await until(() => model.asked.length === 2)
    for (const message of chat(15, 64)) await memory.append("s", message)
    model.letGo()
    await until(() => model.asked.length === 3)
    model.letGo()
    await idle()
    expect(await memory.compact("s", { which: "due" })).toEqual([])
    expect(model.asked.length).toBe(3)
    expect((await memory.state("s")).coveredTo).toBe(39)
    await memory.close()
  })
})

describe("defaults", () => {
  it("1.29 context_size = 75", async () => {
    const memory = open({ compaction: { mode: "manual" } })
    await memory.append("s", chat(80))
    expect((await memory.context("s")).messages.length).toBe(75)
  })

  it("1.30 tail_keep_size = 40", async () => {
    const memory = open({ compaction: { mode: "manual" } })
    await memory.append("s", chat(80))
    await memory.compact("s", { which: "due" })
    expect((await memory.state("s")).uncovered.length).toBe(40)
  })

  it("1.31 compression_window_size = 12", async () => {
    expect(await rhythm(64)).toEqual([
      [52, 12],
      [64, 24],
    ])
  })

  it("1.32 compression_cooldown_sec = 900", async () => {
    const waiting = (seconds: number) => runOf(SlidingWindow(), [arriving(1, 0), arriving(40, seconds)])
    expect(compacted(await waiting(899))).toEqual([])
    expect(compacted(await waiting(900))).toEqual([{ total: 41, to: 1, reason: "cooldown" }])
  })

  it("1.33 compression_hard_limit = 30", async () => {
    const reasons = async (delta: number) =>
      compacted(await runOf(SlidingWindow(), [arriving(40 + delta, 0)])).map(({ reason }) => reason)
    expect(await reasons(29)).toEqual(["window"])
    expect(await reasons(30)).toEqual(["hard-limit"])
  })
})

describe("compatibility and migration", () => {
  it("1.34 the field last_consolidated of older states is kept", () =>
    imported({ messages: chat(100), last_consolidated: 55 }, async (memory) => {
      expect(await memory.state("s")).toMatchObject({ total: 100, coveredTo: 55 })
      expect(layoutOf(await memory.context("s"))).toEqual(["summary [0,55)", "uncovered [55,100)"])
      for (const message of chat(6, 100)) await memory.append("s", message)
      expect((await memory.state("s")).coveredTo).toBe(55)
      await memory.append("s", chat(1, 106))
      expect((await memory.state("s")).coveredTo).toBe(67)
    }))

  it("1.35 last_consolidated_at is optional, an ISO datetime", async () => {
    const at = async (last_consolidated_at?: string) => {
      const state = { messages: chat(100), last_consolidated: 60, last_consolidated_at }
      return imported(state, async (memory) => {
        const { coveredTo, lastCompactionTime } = await memory.state("s")
        await memory.append("s", chat(1, 100))
        return { coveredTo, compactedAt: lastCompactionTime, after: (await memory.state("s")).coveredTo }
      })
    }
    // Long ago, so that the cooldown is over at the next message.
    expect(await at("2026-02-03T04:05:06+08:00")).toEqual({
      coveredTo: 60,
      compactedAt: Date.UTC(2026, 1, 2, 20, 5, 6),
      after: 61,
    })
    // Written without an offset, and with the digits of another language's clock.
    expect(await at("2026-02-03T04:05:06.789012")).toMatchObject({
      compactedAt: Date.UTC(2026, 1, 3, 4, 5, 6, 789),
    })
    const justNow = new Date().toISOString()
    expect(await at(justNow)).toEqual({ coveredTo: 60, compactedAt: Date.parse(justNow), after: 60 })
    expect(await at()).toMatchObject({ coveredTo: 60 })
  })

  it("1.36 pending_consolidation is not persisted, and nothing is lost for it", () =>
    inFolder(async (folder) => {
      const store = `sqlite:${join(folder, "chats.db")}`
      const model = held()
      const memory = open({ store, summarizer: model.ask, compaction: { mode: "background" } })
      await memory.append("s", chat(52))
      await until(() => model.asked.length === 1)
      await memory.append("s", chat(12, 52))
      await memory.close()

      const again = open({ store })
      const events = await gather(again.events("s", { fromVersion: 53 }))
      expect(events.map(({ event }) => event._tag)).toEqual([
        "CompactionStarted",
        ...Array.from({ length: 12 }, () => "MessageAppended"),
        "CompactionReleased",
      ])
      await again.append("s", chat(1, 64))
      expect((await again.state("s")).coveredTo).toBe(25)
      await again.close()
    }))

  it("1.37 parameters that are not set have their defaults; a configuration file of before still loads", async () => {
    expect(await rhythm(53, {})).toEqual([[52, 12]])
    expect(await rhythm(53, { tail_keep_size: null })).toEqual([[52, 12]])
    const before = { provider: "some-model", memory_window: 50, channels: { chat: { enabled: true } } }
    const replayed = (settings: object) =>
      inFolder(async (folder) => {
        const [path, transcript] = [join(folder, "config.json"), join(folder, "chat.json")]
        writeFileSync(path, JSON.stringify(settings))
        writeFileSync(transcript, JSON.stringify(chat(53)))
        const lines = await commandLine(Replay.command, transcript, "--settings", path, "--json")
        return lines
          .map((line) => JSON.parse(line) as { type: string; after: number; to: number })
          .flatMap(({ type, after, to }) => (type === "compaction" ? [[after + 1, to]] : []))
      })
    expect(await replayed(before)).toEqual([[52, 12]])
    expect(await replayed({ ...before, tail_keep_size: 39 })).toEqual([[51, 12]])
    expect(await replayed({ ...before, tail_keep_size: null })).toEqual([[52, 12]])
    // A program that makes a memory takes the file as the command line does, and both refuse a mistyped setting.
    expect(await rhythm(53, { ...before, tail_keep_size: 39 })).toEqual([[51, 12]])
    const mistyped = { ...before, tail_keep_sise: 39 }
    await expect(rhythm(53, mistyped)).rejects.toThrow('did you mean "tailKeepSize"?')
    await expect(replayed(mistyped)).rejects.toThrow('did you mean "tailKeepSize"?')
  })
})
