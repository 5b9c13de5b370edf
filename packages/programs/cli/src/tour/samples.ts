/** The sample conversations of the package, each with a suitable strategy. */
import { byName, type UnknownName } from "@memfold/catalog"
import { type Strategy, TokenCounter } from "@memfold/core"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import type { Either } from "effect"
import { sampleFile } from "../installation.js"
import { count, percent } from "../terminal/terminal.js"

/** A sample conversation and how the tour replays it. */
export interface Sample {
  /** Its name on the command line, and the id of its session. */
  readonly name: string
  readonly file: string
  /** The participants, in a few words. */
  readonly about: string
  readonly strategy: Strategy.Strategy
  /** The meaning of each of the strategy's reasons for a compaction, with its settings. */
  readonly reasons: Readonly<Record<string, string>>
}

/** A context window that the samples can fill; the default, that of large models, is too large for them. */
export const contextLimit = 16_000

const split = { contextLimit, compactionThreshold: 0.7 }

const sliding = {
  tailKeepSize: 40,
  compressionWindowSize: 12,
  compressionHardLimit: 30,
  compressionCooldownSec: 900,
}

const all: ReadonlyArray<Omit<Sample, "file">> = [
  {
    name: "coding-agent",
    about: "a user and a coding agent with tools",
    strategy: SplitTurn(split),
    reasons: {
      threshold: `the context, with a margin of ${percent(TokenCounter.estimateMargin - 1, 0)}, is above ${percent(split.compactionThreshold, 0)} of ${count(split.contextLimit)} tokens`,
    },
  },
  {
    name: "support-zh",
    about: "a customer and the support of a coffee shop, in Chinese",
    strategy: SlidingWindow(sliding),
    reasons: {
      window: `${sliding.compressionWindowSize} messages are older than the newest ${sliding.tailKeepSize}`,
      cooldown: `some are, and ${sliding.compressionCooldownSec / 60} minutes have passed since the last compaction`,
      "hard-limit": `${sliding.compressionHardLimit} messages are older than the newest ${sliding.tailKeepSize}`,
    },
  },
]

export const samples: ReadonlyMap<string, Sample> = new Map(
  all.map((sample) => [sample.name, { ...sample, file: sampleFile(sample.name) }]),
)

export const sampleNamed = (name: string): Either.Either<Sample, UnknownName> =>
  byName("sample", samples, name)
