/** Many runs, and what they came to. */
import { type Report, simulate } from "./simulation.js"

/** What a number of runs came to; the first that failed is the last. */
export interface Tally {
  readonly seeds: number
  readonly steps: number
  readonly counts: ReadonlyMap<string, number>
  readonly failed: Report | null
}

export const nothing: Tally = { seeds: 0, steps: 0, counts: new Map(), failed: null }

/** One run more. */
const add = ({ seeds, steps, counts }: Tally, report: Report): Tally => {
  const sum = new Map(counts)
  for (const [what, times] of report.counts) sum.set(what, (sum.get(what) ?? 0) + times)
  return {
    seeds: seeds + 1,
    steps: steps + report.steps,
    counts: sum,
    failed: report.violation === null ? null : report,
  }
}

/** Runs `count` seeds, beginning at `from`, or until a seed fails. */
export const simulateAll = (from: number, count: number, before: Tally = nothing): Tally => {
  let tally = before
  for (let seed = from; seed < from + count && tally.failed === null; seed++)
    tally = add(tally, simulate(seed))
  return tally
}

const number = (value: number): string => Math.round(value).toLocaleString("en")

/** What of all that was counted says most about what the runs have been through. */
const told = [
  "acknowledged appends",
  "appends of unknown outcome",
  "conflicts",
  "crashes",
  "lost answers",
  "summarizer faults",
  "CompactionStarted",
  "CompactionRenewed",
  "locks taken over",
  "SummaryCommitted",
  "SummaryInvalidated",
  "MessageRedacted",
  "SessionCleared",
  "deletions",
  "forks",
  "subscriptions",
]

/** A tally in two lines, with the time it took in milliseconds. */
export const summary = ({ seeds, steps, counts }: Tally, millis: number): string => {
  const seconds = millis / 1_000
  const rate = (amount: number) => number(amount / Math.max(seconds, 0.001))
  return [
    `simulation: ${number(seeds)} seeds, ${number(steps)} steps in ${seconds.toFixed(1)} s (${rate(seeds)} seeds/s, ${rate(steps)} steps/s)`,
    `  ${told.map((what) => `${number(counts.get(what) ?? 0)} ${what}`).join(", ")}`,
  ].join("\n")
}

/** What is wrong with a run, and how to see it again. */
export const failure = ({ seed, steps, violation }: Report): string =>
  `seed ${seed} fails after ${number(steps)} steps: ${violation?.message ?? "nothing"}\n  replay it with: npm run simulate -- --seed ${seed}`
