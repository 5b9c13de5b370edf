import { Message, type Render, Strategy } from "@memfold/core"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { chat, startOfTime } from "@memfold/testing/arbitrary"
import { decisions, oneByOne, rehearse, runOf } from "@memfold/testing"
import { SlidingWindow, type SlidingWindowSettings } from "./index.js"

/** A number of messages that arrive together, and when. */
interface Arrival {
  readonly count: number
  readonly time: number
}

interface Compaction {
  readonly total: number
  readonly from: number
  readonly to: number
  readonly reason: string
}

/** The reference's own words: its state variables, its formulas, its early stop, its three conditions. */
const reference = (
  settings: SlidingWindowSettings,
  arrivals: ReadonlyArray<Arrival>,
): ReadonlyArray<Compaction> => {
  const found: Array<Compaction> = []
  let total = 0
  let lastConsolidated = 0
  let lastConsolidatedAt = arrivals[0]?.time ?? 0
  for (const { count, time } of arrivals) {
    total += count
    const compressEnd = total - settings.tailKeepSize
    const delta = compressEnd - lastConsolidated
    if (compressEnd <= lastConsolidated) continue
    const reason =
      delta >= settings.compressionHardLimit
        ? "hard-limit"
        : delta >= settings.compressionWindowSize
          ? "window"
          : total - lastConsolidated >= settings.contextSize
            ? "context-size"
            : delta > 0 && time - lastConsolidatedAt >= settings.compressionCooldownSec * 1_000
              ? "cooldown"
              : null
    if (reason === null) continue
    found.push({ total, from: lastConsolidated, to: compressEnd, reason })
    lastConsolidated = compressEnd
    lastConsolidatedAt = time
  }
  return found
}

const ours = (
  settings: Partial<SlidingWindowSettings>,
  arrivals: ReadonlyArray<Arrival>,
): ReadonlyArray<Compaction> => {
  let from = 0
  const batches = arrivals.map(({ count, time }) => {
    const batch = chat(count, from).map((message) => ({ ...message, time }))
    from += count
    return batch
  })
  return decisions(SlidingWindow(settings), batches).map(({ total, from, to, reason }) => ({
    total,
    from,
    to,
    reason,
  }))
}

/** One message a second. */
const steady = (count: number): ReadonlyArray<Arrival> =>
  Array.from({ length: count }, (_, position) => ({ count: 1, time: startOfTime + position * 1_000 }))

/** All settings that are accepted, up to a size. */
const settings: fc.Arbitrary<SlidingWindowSettings> = fc
  .record({
    room: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(500)),
    tailKeepSize: fc.nat({ max: 60 }),
    compressionWindowSize: fc.integer({ min: 1, max: 40 }),
    compressionCooldownSec: fc.constantFrom(1, 10, 60, 900, 100_000),
    compressionHardLimit: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ room, ...others }) => ({ contextSize: others.tailKeepSize + room, ...others }))

/** One message, or several tool calls at once with their results: a group. */
const oneMessageOrToolUse: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom([Message.user("q")], [Message.assistant("a")]) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 9 }).map((count) => {
      const ids = Array.from({ length: count }, (_, position) => `${position}`)
      return [
        Message.call(ids.map((id) => ({ id, name: "t", arguments: "{}" }))),
        ...ids.map((id) => Message.result({ id, output: "x" })),
      ]
    }),
  },
)

describe("the reference's formulas", () => {
  it("hold for every total up to 300 with the defaults", () => {
    const found = ours({}, steady(300))
    expect(found).toEqual(reference(SlidingWindow.defaults, steady(300)))
    expect(found.slice(0, 3)).toEqual([
      { total: 52, from: 0, to: 12, reason: "window" },
      { total: 64, from: 12, to: 24, reason: "window" },
      { total: 76, from: 24, to: 36, reason: "window" },
    ])
    expect(found).toHaveLength(21)
  })

  it("hold for every total up to 300 with other settings", () => {
    fc.assert(
      fc.property(settings, (settings) => {
        expect(ours(settings, steady(300))).toEqual(reference(settings, steady(300)))
      }),
      { numRuns: often(10, 40) },
    )
  })

  it("hold whatever arrives together, and however long it takes", () => {
    const arrivals = fc
      .array(
        fc.record({
          count: fc.integer({ min: 1, max: 60 }),
          pause: fc.constantFrom(0, 1, 60, 899, 900, 5_000),
        }),
        {
          maxLength: 20,
        },
      )
      .map((list) => {
        let at = startOfTime
        return list.map(({ count, pause }) => ({ count, time: (at += pause * 1_000) }))
      })
    fc.assert(
      fc.property(settings, arrivals, (settings, arrivals) => {
        expect(ours(settings, arrivals)).toEqual(reference(settings, arrivals))
      }),
      { numRuns: often(50, 200) },
    )
  })
})

describe("the triggers", () => {
  const time = startOfTime

  it("the window: twelve messages before the tail", () => {
    expect(ours({}, [{ count: 51, time }])).toEqual([])
    expect(ours({}, [{ count: 52, time }])).toEqual([{ total: 52, from: 0, to: 12, reason: "window" }])
  })

  it("the hard limit, named apart, when many arrive at once; all of them go", () => {
    expect(ours({}, [{ count: 69, time }])).toEqual([{ total: 69, from: 0, to: 29, reason: "window" }])
    expect(ours({}, [{ count: 70, time }])).toEqual([{ total: 70, from: 0, to: 30, reason: "hard-limit" }])
    expect(ours({}, [{ count: 300, time }])).toEqual([{ total: 300, from: 0, to: 260, reason: "hard-limit" }])
  })

  it("the hard limit below the window", () => {
    const low = { compressionHardLimit: 5, compressionWindowSize: 12 }
    expect(ours(low, steady(50))).toEqual([
      { total: 45, from: 0, to: 5, reason: "hard-limit" },
      { total: 50, from: 5, to: 10, reason: "hard-limit" },
    ])
  })

  it("the cooldown, counted from the first message before there was a compaction, and from that one after", () => {
    const minutes = (count: number) => time + count * 60_000
    expect(
      ours({}, [
        { count: 1, time },
        { count: 40, time: minutes(15) - 1 },
      ]),
    ).toEqual([])
    expect(
      ours({}, [
        { count: 1, time },
        { count: 40, time: minutes(15) },
        { count: 1, time: minutes(29) },
        { count: 1, time: minutes(30) },
        { count: 1, time: minutes(31) },
      ]),
    ).toEqual([
      { total: 41, from: 0, to: 1, reason: "cooldown" },
      { total: 43, from: 1, to: 3, reason: "cooldown" },
    ])
  })

  it("nothing at all while everything is in the tail, however long it takes", () => {
    expect(
      ours({}, [
        { count: 1, time },
        { count: 39, time: time + 1e9 },
      ]),
    ).toEqual([])
  })
})

describe("groups", () => {
  it("stay whole: the tail is longer then, never shorter", () => {
    const tools = [
      Message.call([{ id: "1", name: "t", arguments: "{}" }]),
      Message.result({ id: "1", output: "x" }),
    ]
    const messages = [Message.user("q"), ...tools, ...tools, Message.assistant("a"), Message.user("q")]
    const strategy = SlidingWindow({ tailKeepSize: 3, compressionWindowSize: 1 })
    expect(decisions(strategy, [messages])).toMatchObject([{ from: 0, to: 3, tailFrom: 3 }])
  })
})

describe("the context", () => {
  const sizes = ({ layout }: Render.Context) =>
    layout.map(({ section, from, to }) => `${section} [${from},${to})`)

  it("is one summary and at least the tail, at most the context size", async () => {
    const { moments } = await runOf(SlidingWindow(), oneByOne(chat(130)))
    const settled = moments.filter(({ settled }) => settled)
    expect(sizes(settled[50]!.context)).toEqual(["uncovered [0,50)", "current [50,51)"])
    expect(sizes(settled[51]!.context)).toEqual(["summary [0,12)", "uncovered [12,52)"])
    expect(sizes(settled[129]!.context)).toEqual(["summary [0,84)", "uncovered [84,130)"])
    expect(settled[129]!.state.summary?.segments).toMatchObject([{ kind: "history", from: 0, to: 84 }])
    expect(settled[129]!.context.messages[0]).toEqual(Message.system("[Conversation Summary]\n[0,84)"))
    expect(Math.max(...moments.map(({ state }) => state.uncovered.length))).toBe(52)
  })

  it("leaves nothing out in normal operation, with any settings that are accepted", () => {
    const given = fc.tuple(settings, fc.array(oneMessageOrToolUse, { minLength: 40, maxLength: 90 }))
    fc.assert(
      fc.property(given, ([settings, pieces]) => {
        const { moments } = rehearse(SlidingWindow(settings), oneByOne(pieces.flat()))
        const gaps = moments.flatMap(({ context }) =>
          context.layout.filter(({ section }) => section === "gap"),
        )
        expect(gaps).toEqual([])
      }),
      { numRuns: often(25, 100) },
    )
  })

  it("leaves nothing out where the context is smaller than the tail and a window", async () => {
    const { moments } = await runOf(SlidingWindow({ contextSize: 45 }), oneByOne(chat(130)))
    expect(moments.flatMap(({ context }) => sizes(context).filter((size) => size.startsWith("gap")))).toEqual(
      [],
    )
    expect(moments.filter(({ outcomes }) => outcomes.length > 0).slice(0, 2)).toMatchObject([
      { state: { total: 45, coveredTo: 5 }, outcomes: [{ started: { reason: "context-size" } }] },
      { state: { total: 50, coveredTo: 10 }, outcomes: [{ started: { reason: "context-size" } }] },
    ])
  })

  it("shows the tail whole, even where a group of tool calls makes it longer than the context size", async () => {
    const ids = ["a", "b", "c", "d", "e"]
    const tools = [
      Message.call(ids.map((id) => ({ id, name: "t", arguments: "{}" }))),
      ...ids.map((id) => Message.result({ id, output: "x" })),
    ]
    const messages = [...chat(9), ...tools, ...chat(3, 9)]
    const { moments } = await runOf(SlidingWindow({ tailKeepSize: 4, contextSize: 5 }), oneByOne(messages))
    expect(sizes(moments.at(-1)!.context)).toEqual(["summary [0,9)", "uncovered [9,18)"])
  })

  it("leaves the oldest out above the context size, as long as no compaction can help", async () => {
    const { moments } = await runOf(SlidingWindow(), [chat(80)])
    expect(moments.map(({ context }) => sizes(context))).toEqual([
      ["gap [0,5)", "uncovered [5,80)"],
      ["summary [0,40)", "uncovered [40,80)"],
    ])
  })
})

describe("the settings", () => {
  it("are the reference's, by its own names, too", () => {
    expect(SlidingWindow.defaults).toEqual({
      contextSize: 75,
      tailKeepSize: 40,
      compressionWindowSize: 12,
      compressionCooldownSec: 900,
      compressionHardLimit: 30,
    })
    const read = SlidingWindow.decode({
      context_size: 20,
      tail_keep_size: 3,
      compression_window_size: 2,
      compression_cooldown_sec: 60,
      compression_hard_limit: 9,
    })
    const strategy = Either.getOrThrow(read)
    expect(strategy.keep.describe).toBe("the last 3 messages")
    expect(strategy.context.maxMessages).toBe(20)
    expect(decisions(strategy, oneByOne(chat(5)))).toMatchObject([{ from: 0, to: 2 }])
  })

  it("want the tail smaller than the context", () => {
    const refused = Either.getOrThrow(Either.flip(SlidingWindow.decode({ tail_keep_size: 75 })))
    expect(refused).toBeInstanceOf(Strategy.SettingsError)
    expect(refused.detail).toBe("tail_keep_size (75) has to be smaller than context_size (75)")
    expect(SlidingWindow({ tailKeepSize: 74 }).keep.describe).toBe("the last 74 messages")
  })

  it("want a window, a hard limit and a cooldown above 0, and a tail not below", () => {
    for (const name of [
      "compressionWindowSize",
      "compressionHardLimit",
      "compressionCooldownSec",
      "contextSize",
    ]) {
      expect(Either.isLeft(SlidingWindow.decode({ tailKeepSize: 0, [name]: 0 }))).toBe(true)
    }
    expect(Either.isLeft(SlidingWindow.decode({ tailKeepSize: -1 }))).toBe(true)
    expect(Either.isRight(SlidingWindow.decode({ tailKeepSize: 0 }))).toBe(true)
  })
})
