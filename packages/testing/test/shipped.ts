/** Everything that is shipped, by name: what the laws run over. */
import { InMemoryEventLog, type Strategy } from "@memfold/core"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { layer as sqlite } from "../../store-sqlite/src/index.js"
import {
  RollingBuffer,
  SummaryBuffer,
  TokenBuffer,
  Window,
} from "../../strategies/rolling-buffer/src/index.js"
import { Rounds } from "../../strategies/rounds/src/index.js"
import { SlidingWindow } from "../../strategies/sliding-window/src/index.js"
import { SplitTurn } from "../../strategies/split-turn/src/index.js"
import type { EventLogPropertiesOptions, Law, StrategyPropertiesOptions } from "../src/index.js"
import { strategyProperties } from "../src/index.js"

const upTo = (max: number) => fc.integer({ min: 1, max })

/** A strategy that is shipped, with settings small enough for short conversations. */
export interface ShippedStrategy {
  readonly laws: (options: Pick<StrategyPropertiesOptions, "numRuns" | "conversations">) => ReadonlyArray<Law>
  /** The same with its defaults. */
  readonly defaults: ShippedStrategy["laws"]
  readonly strategies: fc.Arbitrary<Strategy.Strategy>
}

const shipped = <Settings>(
  definition: Strategy.Definition<Settings>,
  options: fc.Arbitrary<Partial<Settings>>,
  rounds?: (settings: Settings) => { readonly keep: number; readonly take: number },
): readonly [string, ShippedStrategy] => [
  definition.strategyName,
  {
    laws: (others) => strategyProperties(definition, { ...others, options, rounds }),
    defaults: (others) => strategyProperties(definition, { ...others, rounds }),
    strategies: options.map((settings) => definition(settings)),
  },
]

export const strategies: ReadonlyMap<string, ShippedStrategy> = new Map([
  shipped(
    SlidingWindow,
    fc.record({
      tailKeepSize: fc.nat({ max: 6 }),
      compressionWindowSize: upTo(5),
      compressionHardLimit: upTo(8),
      contextSize: fc.integer({ min: 7, max: 30 }),
    }),
  ),
  shipped(
    Rounds,
    fc.record({ fullContextTurns: upTo(3), cachedContextTurns: upTo(3) }),
    ({ fullContextTurns, cachedContextTurns }) => ({ keep: fullContextTurns, take: cachedContextTurns }),
  ),
  shipped(
    SplitTurn,
    fc.record({
      contextLimit: fc.integer({ min: 20, max: 400 }),
      adaptiveSplit: fc.boolean(),
      pruneToolOutputs: fc.constantFrom("off", "soft-trim", "hard-clear"),
      toolFailures: fc.nat({ max: 2 }),
    }),
  ),
  shipped(RollingBuffer, fc.record({ bufferSize: upTo(5) })),
  shipped(Window, fc.record({ windowSize: upTo(8) })),
  shipped(TokenBuffer, fc.record({ maxTokens: upTo(200) })),
  shipped(SummaryBuffer, fc.record({ maxTokens: upTo(200) })),
])

let folder = ""
let files = 0
const newFile = (): string => {
  if (folder === "") folder = mkdtempSync(join(tmpdir(), "memfold-laws-"))
  return join(folder, `${files++}.db`)
}
afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true })
})

/** The stores that are shipped. Redis has a suite of its own, since it takes a server. */
export const stores: ReadonlyMap<string, EventLogPropertiesOptions> = new Map<
  string,
  EventLogPropertiesOptions
>([
  ["memory", { layer: InMemoryEventLog.layer }],
  [
    "sqlite",
    {
      layer: () => sqlite({ filename: ":memory:" }),
      reopen: () => sqlite({ filename: newFile() }),
    },
  ],
])

/** Those of a list of names that an environment variable has; all without it. A name that names nothing is an error. */
export const chosen = <A>(
  kind: string,
  all: ReadonlyMap<string, A>,
  names: string | undefined,
): ReadonlyArray<readonly [string, A]> => {
  if (names === undefined || names.trim() === "") return [...all]
  return names.split(",").map((text) => {
    const name = text.trim()
    const found = all.get(name)
    if (found === undefined) {
      throw new TypeError(`there is no ${kind} "${name}"; there are: ${[...all.keys()].join(", ")}`)
    }
    return [name, found]
  })
}
