/**
 * Interleaved measurements. Other programs use the machine as well, so each measurement of memfold is divided by one of
 * its reference from a moment before or after, and the median of these ratios counts.
 */
import { claim, median, told } from "../measure.js"
import type { Cost } from "./cost.js"

/** The sum of costs, divided by a number. */
export const mean = (costs: ReadonlyArray<Cost>, by = costs.length): Cost => ({
  wall: costs.reduce((sum, { wall }) => sum + wall, 0) / by,
  cpu: costs.reduce((sum, { cpu }) => sum + cpu, 0) / by,
})

/** The median of costs: what one of them takes as a rule, whatever comes now and then. */
export const middle = (costs: ReadonlyArray<Cost>): Cost => ({
  wall: median(costs.map(({ wall }) => wall)),
  cpu: median(costs.map(({ cpu }) => cpu)),
})

/** Measurements of something and of its reference; the same position is the same round. */
export interface Pairs {
  readonly name: string
  readonly reference: string
  readonly pairs: ReadonlyArray<{ readonly measured: Cost; readonly bare: Cost }>
  /** The most that the ratios may be; infinite by default, for what is measured to be known. */
  readonly most?: Bounds
}

/**
 * Bounds of two ratios: of processor time, and of the time that is spent waiting, for a disk or a server. By the clock, their sum depends
 * on how long the disk of the machine takes.
 */
export interface Bounds {
  readonly processor?: number
  readonly wait?: number
}

/** Where nothing is waited for, as on a RAM disk, the ratio is of this many milliseconds. */
const leastWait = 0.05

const waitOf = ({ wall, cpu }: Cost): number => Math.max(wall - cpu, 0) + leastWait

const millis = (value: number): string => `${value.toFixed(value < 10 ? 3 : 0)} ms`

/** Prints the medians and the ratios. Returns whether the ratios are within their bounds. */
export const compared = ({ name, reference, pairs, most = {} }: Pairs): boolean => {
  const of = (value: (pair: Pairs["pairs"][number]) => number) => median(pairs.map(value))
  const measured = { wall: of((pair) => pair.measured.wall), cpu: of((pair) => pair.measured.cpu) }
  const bare = { wall: of((pair) => pair.bare.wall), cpu: of((pair) => pair.bare.cpu) }
  told(
    name,
    `${millis(measured.wall)}, processor ${millis(measured.cpu)}; ${reference} ${millis(bare.wall)}, ${millis(bare.cpu)}`,
  )
  told("  by the clock", `${of((pair) => pair.measured.wall / pair.bare.wall).toFixed(2)}×`)
  const { processor = Number.POSITIVE_INFINITY, wait = Number.POSITIVE_INFINITY } = most
  return [
    claim(
      "  processor time",
      of((pair) => pair.measured.cpu / pair.bare.cpu),
      processor,
    ),
    claim(
      "  waiting",
      of((pair) => waitOf(pair.measured) / waitOf(pair.bare)),
      wait,
    ),
  ].every(Boolean)
}
