/** The bounds of the benchmark: each with its measured value, and whether it holds. */

/** A bound. Values are shares in percent, or ratios of two measurements of one run. */
export interface Bound {
  readonly what: string
  readonly measured: number
  readonly unit: "%" | "×"
  readonly most?: number
  readonly least?: number
  /** The value is less than this. */
  readonly below?: number
}

/** Whether a bound holds. What was not measured does not. */
export const holds = ({ measured, most = Infinity, least = -Infinity, below = Infinity }: Bound): boolean =>
  measured >= least && measured <= most && measured < below

const limitOf = ({ unit, most, least, below }: Bound): string => {
  const sign = unit === "%" ? " %" : "×"
  if (most !== undefined) return `at most ${most}${sign}`
  return least !== undefined ? `at least ${least}${sign}` : `below ${below}${sign}`
}

const shown = (value: number, unit: Bound["unit"]): string =>
  unit === "%" ? `${value.toFixed(1)} %` : `${value.toFixed(2)}×`

/** Prints bounds. Returns whether all of them hold. */
export const printBounds = (bounds: ReadonlyArray<Bound>): boolean => {
  console.log("\nBounds")
  for (const bound of bounds) {
    const { what, measured, unit } = bound
    console.log(
      `  ${what.padEnd(82)}${shown(measured, unit).padStart(9)}  ${limitOf(bound).padEnd(13)}  ${holds(bound) ? "holds" : "MISSED"}`,
    )
  }
  return bounds.every(holds)
}
