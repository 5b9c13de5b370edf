/** How much there is to do for a body, before anything is done: its bytes do not tell. */
import type { Steps } from "@memfold/log/breathe"

/** What a text of JSON has: how deep its lists and objects are in each other, the items of the longest of them, and all items. */
export interface Measured {
  readonly depth: number
  readonly longest: number
  readonly items: number
}

/**
 * The most of each that a body may have. What is deeper would overflow the stack of whoever looks at it; what has more holds the
 * event loop while it is parsed.
 */
export const mostMeasured: Measured = { depth: 500, longest: 10_000, items: 100_000 }

/** Whether a body has more than is worked on. */
export const isTooMuch = ({ depth, longest, items }: Measured): boolean =>
  depth > mostMeasured.depth || longest > mostMeasured.longest || items > mostMeasured.items

/** How many characters are looked at in a step. */
const stepLength = 65_536

/** Measures a text of JSON, as far as it is not too much. Of a text that is none, the numbers say nothing. */
export function* measured(text: string): Steps<Measured> {
  /** The items of each list and object that is open. */
  const open: Array<number> = []
  let [depth, longest, items, isInText] = [0, 0, 0, false]
  for (let [at, step] = [0, 0]; at < text.length; at++) {
    // What is escaped is skipped, and may stand at any place.
    if (at >= step) {
      step = at + stepLength
      yield
    }
    const one = text.charCodeAt(at)
    if (one === 0x22) isInText = !isInText
    else if (isInText) {
      // A sign behind a backslash ends nothing.
      if (one === 0x5c) at++
    } else if (one === 0x5b || one === 0x7b) {
      depth = Math.max(depth, open.push(1))
      items++
    } else if (one === 0x5d || one === 0x7d) open.pop()
    else if (one === 0x2c && open.length > 0) {
      longest = Math.max(longest, ++open[open.length - 1]!)
      items++
    } else continue
    if (isTooMuch({ depth, longest, items })) break
  }
  return { depth, longest, items }
}
