/** What a comparison of strategies comes to, in a sentence. */
import type { schemas } from "@memfold/client"
import { count, dollars, percent } from "../format.js"

/** What a session is compared as without any strategy. */
export const fullHistory = "full history"

/** A strategy, and how the session went under it. */
export type Comparison = readonly [strategy: string, compared: typeof schemas.Compared.Type]

/** The last call: it has the sums of all. */
const endOf = ([, { points }]: Comparison) => points.at(-1)

/**
 * Says which strategy cost least, how much less that is than the full history, or else the dearest, and what it lost; `null` with fewer
 * than two strategies.
 */
export const verdictOf = (all: ReadonlyArray<Comparison>): string | null => {
  const byCost = all
    .filter((one) => endOf(one) !== undefined)
    .toSorted((one, other) => endOf(one)!.dollars - endOf(other)!.dollars)
  const [cheapest, dearest] = [byCost[0], byCost.at(-1)]
  if (cheapest === undefined || dearest === undefined || byCost.length < 2) return null
  const beside = byCost.find(([name]) => name === fullHistory && name !== cheapest[0]) ?? dearest
  const [{ dollars: cost, needed, there }, most] = [endOf(cheapest)!, endOf(beside)!.dollars]
  const lost = needed - there
  const what =
    needed === 0
      ? "no later answer needed an identifier"
      : `${count(lost)} of ${count(needed)} needed identifiers ${lost === 1 ? "was" : "were"} not in its context`
  if (endOf(dearest)!.dollars === cost) return `All cost ${dollars(cost)}: there was nothing to save yet.`
  const less = most > cost ? `, ${percent(most - cost, most)} less than ${beside[0]}` : ""
  return `${cheapest[0]} is cheapest: ${dollars(cost)}${less}; ${what}.`
}
