/** What a run is made of, drawn from its seed: engines and their settings, faults and how often they come. */
import * as fc from "fast-check"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import {
  SummaryMode,
  Keep,
  type Memory,
  ToolNotes,
  Prune,
  Strategy,
  BatchSize,
  Trigger,
} from "../../src/index.js"
import { strategy as anyStrategy } from "@memfold/testing/arbitrary"
import type { Draw } from "./draw.js"

/** How a log misbehaves: shares from 0 to 1, and how many records it gives out at a time. */
export interface LogFaults {
  readonly errors: number
  readonly slow: number
  readonly snapshots: number
  readonly pageSize: number
}

/** What a call of a summarizer may come to. */
export type SummarizerFate =
  | "works"
  | "is slow"
  | "hangs"
  | "fails"
  | "throws"
  | "dies"
  | "refuses"
  | "says nothing"
  | "is cut off"
  | "says too much"
  | "answers nonsense"

export interface SummarizerPlan {
  readonly maxInputTokens: number | undefined
  readonly fates: { readonly [Fate in SummarizerFate]?: number }
}

export interface EnginePlan {
  readonly options: Memory.Options & { readonly compaction: Memory.CompactionOptions }
  readonly skew: number
  /** Its fibers yield to each other after this many operations. */
  readonly operations: number
  readonly faults: LogFaults
  /** The summarizers, each the fallback of the one before. */
  readonly summarizers: readonly [SummarizerPlan, ...ReadonlyArray<SummarizerPlan>]
  /** How its hook misbehaves; `null` without one. */
  readonly hook: { readonly veto: number; readonly dies: number } | null
}

/** What a client, or fate, can do next. */
export type Action =
  | "append"
  | "context"
  | "state"
  | "past"
  | "events"
  | "settle"
  | "compact"
  | "revert"
  | "recompact"
  | "fork"
  | "redact"
  | "clear"
  | "delete"
  | "subscribe"
  | "crash"
  | "shutdown"
  | "outage"
  | "skew"
  | "pause"

export interface Plan {
  readonly seed: number
  readonly actions: number
  readonly sessions: readonly [string, ...ReadonlyArray<string>]
  readonly engines: ReadonlyArray<EnginePlan>
  readonly weights: { readonly [Key in Action]?: number }
  /** How long a client waits before the next thing, at the most, in milliseconds. */
  readonly gap: number
  /** How often a client gives up an operation before it has ended. */
  readonly impatience: number
  /** Whether all engines have one strategy, and no hook has a say. */
  readonly agreed: boolean
}

/** The strategy by prices, in windows so small that short conversations fill them. */
const breakEven = (draw: Draw): Strategy.Strategy =>
  BreakEven({
    contextLimit: draw.between(200, 2_000),
    keepTokens: draw.between(5, 60),
    keepMessages: draw.between(1, 4),
    blockTokens: draw.between(20, 200),
    coldBlockTokens: draw.between(10, 60),
    summaryTokens: draw.between(20, 200),
  })

/** Strategies with small numbers, so that short conversations are compacted often. */
const shipped = (draw: Draw): Strategy.Strategy => {
  switch (draw.weighted({ sliding: 2, turns: 2, split: 3, rolling: 2, drop: 1, files: 1 })) {
    case "sliding": {
      const tailKeepSize = draw.below(5)
      return SlidingWindow({
        tailKeepSize,
        contextSize: tailKeepSize + draw.between(20, 60),
        compressionWindowSize: draw.between(1, 4),
        compressionHardLimit: draw.between(1, 6),
        compressionCooldownSec: 900,
      })
    }
    case "turns":
      return Rounds({ fullContextTurns: draw.between(1, 2), cachedContextTurns: draw.between(1, 2) })
    case "split":
      return SplitTurn({
        contextLimit: draw.between(60, 600),
        adaptiveSplit: draw.chance(0.5),
        pruneToolOutputs: draw.pick(["off", "soft-trim", "hard-clear"]),
        toolFailures: draw.below(3),
      })
    case "rolling":
      return draw.chance(0.5) ? RollingBuffer({ bufferSize: draw.between(1, 4) }) : breakEven(draw)
    case "drop":
      return Strategy.make({
        name: "dropping",
        when: Trigger.backlog({ messages: draw.between(1, 4) }),
        keep: Keep.lastMessages(draw.between(1, 4)),
        summaryMode: SummaryMode.drop,
        ...(draw.chance(0.5) ? { toolNotes: { files: ToolNotes.commonFileTools } } : {}),
      })
    case "files":
      return Strategy.make({
        name: "filing",
        when: Trigger.backlog({ messages: draw.between(1, 4) }),
        keep: Keep.lastMessages(draw.between(0, 3)),
        batchSize: BatchSize.messages(draw.between(1, 4)),
        summaryMode: draw.pick([SummaryMode.blocks, SummaryMode.rolling]),
        prune: [Prune.hardClear({ keep: Keep.lastMessages(2) })],
        toolNotes: { files: ToolNotes.commonFileTools },
      })
  }
}

const strategyOf = (draw: Draw): Strategy.Strategy => {
  const [composed] = draw.chance(0.3) ? fc.sample(anyStrategy, { seed: draw.below(1_000), numRuns: 1 }) : []
  return composed ?? shipped(draw)
}

const fates = (draw: Draw): SummarizerPlan["fates"] => {
  const all: ReadonlyArray<SummarizerFate> = [
    "is slow",
    "hangs",
    "fails",
    "throws",
    "dies",
    "refuses",
    "says nothing",
    "is cut off",
    "says too much",
    "answers nonsense",
  ]
  const rate = draw.pick([0, 0.3, 1, 3])
  const some = all.filter(() => draw.chance(0.4))
  // Some never work until the calm.
  const works = some.length > 0 && draw.chance(0.1) ? 0 : 1
  return { works, ...Object.fromEntries(some.map((fate) => [fate, rate / Math.max(some.length, 1)])) }
}

const summarizerPlan = (draw: Draw): SummarizerPlan => ({
  maxInputTokens: draw.chance(0.3) ? draw.between(200, 800) : undefined,
  fates: fates(draw),
})

/** Draws a plan. What a run is about differs from seed to seed: most have only some of the actions and faults. */
export const planOf = (draw: Draw): Plan => {
  const engines = draw.weighted({ 1: 2, 2: 5, 3: 2 })
  const common = strategyOf(draw)
  const shared = draw.chance(0.6)
  const mode = draw.weighted({ background: 6, inline: 2, manual: 1, mixed: 1 })
  const errors = draw.pick([0, 0, 0.02, 0.1, 0.25])
  const slow = draw.pick([0, 0, 0.01, 0.05])
  const snapshots = draw.pick([0, 0.3])
  const skews = draw.pick<ReadonlyArray<number>>([
    [0],
    [0, 40, -40],
    [0, 20_000, -20_000],
    [0, 3_600_000],
    [0, 365 * 24 * 3_600_000],
  ])
  const rare = (weight: number) => (draw.chance(0.5) ? weight : 0)
  const violence = draw.chance(0.3) ? 5 : 1

  const engine = (position: number): EnginePlan => {
    const strategy = shared ? common : strategyOf(draw)
    const limits = draw.chance(0.2)
      ? { budget: { tokens: draw.between(20, 300), timeout: draw.between(100, 5_000) } }
      : {}
    return {
      options: {
        strategy: { ...strategy, name: `${shared ? 0 : position} ${strategy.name}` },
        compaction: {
          mode: mode === "mixed" ? draw.pick(["background", "inline", "manual", "off"]) : mode,
          summarizerTimeout: draw.between(500, 4_000),
          summarizerRetries: draw.below(3),
          lease: draw.between(200, 20_000),
          backOff: draw.pick([10, 1_000, 60_000]),
          shutdown: draw.pick([0, 0, 500, 10_000]),
        },
        cachedSessions: draw.pick([1, 2, 100]),
        ...limits,
      },
      skew: draw.any(skews) ?? 0,
      operations: draw.pick([2_000, 2_000, 1_000, 200]),
      faults: { errors, slow, snapshots, pageSize: draw.pick([512, 512, 7, 2]) },
      summarizers: draw.chance(0.2) ? [summarizerPlan(draw), summarizerPlan(draw)] : [summarizerPlan(draw)],
      hook: draw.chance(0.1) ? { veto: draw.pick([0, 0.2]), dies: draw.pick([0, 0.3]) } : null,
    }
  }

  const plans = Array.from({ length: Number(engines) }, (_, position) => engine(position))
  return {
    seed: draw.seed,
    actions: draw.between(4, draw.pick([8, 8, 12, 24, 45])),
    sessions: draw.chance(0.5) ? ["s0"] : ["s0", "s1"],
    engines: plans,
    weights: {
      append: 12,
      context: 2,
      state: 1,
      past: rare(1),
      events: rare(0.5),
      settle: rare(2),
      compact: rare(2),
      revert: rare(1.5),
      recompact: rare(0.7),
      fork: rare(0.8),
      redact: rare(2),
      clear: rare(0.5),
      delete: rare(1.2),
      subscribe: rare(0.6),
      crash: rare(2 * violence),
      shutdown: rare(2 * violence),
      outage: errors > 0 ? rare(0.7) : 0,
      skew: rare(0.5),
      pause: 1.5,
    },
    gap: draw.pick([20, 300, 3_000]),
    impatience: draw.pick([0, 0.05, 0.2]),
    agreed: shared && plans.every(({ hook }) => (hook?.veto ?? 0) === 0),
  }
}
