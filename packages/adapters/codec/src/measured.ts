/** How much there is to do for a text of JSON, before anything is done: its length does not tell. */
import { atOnce, type Steps } from "@memfold/log/breathe"

/** What a text of JSON has: how deep its lists and objects are in each other, the items of the longest of them, and all items. */
export interface Measured {
  readonly depth: number
  readonly longest: number
  readonly items: number
}

/**
 * The most of each that a body of a client may have. What is deeper would overflow the stack of whoever looks at it; what has more holds
 * the event loop while it is parsed.
 */
export const mostMeasured: Measured = { depth: 500, longest: 10_000, items: 100_000 }

/**
 * The most of each that is parsed of what a model or its server wrote: answers, and the arguments of calls. Nobody sends them on item by
 * item, and the probabilities of a long answer alone are more items than a body of a client may have.
 */
const mostWritten: Measured = { depth: 500, longest: 300_000, items: 300_000 }

/** Whether a text has more than is worked on. */
export const isTooMuch = ({ depth, longest, items }: Measured, most = mostMeasured): boolean =>
  depth > most.depth || longest > most.longest || items > most.items

/** How many characters are looked at in a step. */
export const stepLength = 65_536

/** Whether what stands at a place is escaped: so many backslashes stand before it, back to where the text began, that one is left. */
export const isEscaped = (text: string, place: number, begin: number): boolean => {
  let first = place
  while (first > begin && text.charCodeAt(first - 1) === 0x5c) first--
  return (place - first) % 2 === 1
}

/** Measures a text of JSON, as far as it is not too much. Of a text that is none, the numbers say nothing. */
export function* measured(text: string, most = mostMeasured): Steps<Measured> {
  /** The items of each list and object that is open. */
  const open: Array<number> = []
  let [depth, longest, items, isInText] = [0, 0, 0, false]
  for (let [at, step] = [0, 0]; at < text.length; at++) {
    if (at >= step) {
      step = at + stepLength
      yield
    }
    if (isInText) {
      const end = text.indexOf('"', at)
      if (end === -1) break
      isInText = isEscaped(text, end, at)
      at = end
      continue
    }
    const one = text.charCodeAt(at)
    if (one === 0x22) isInText = true
    else if (one === 0x5b || one === 0x7b) {
      depth = Math.max(depth, open.push(1))
      items++
    } else if (one === 0x5d || one === 0x7d) open.pop()
    else if (one === 0x2c && open.length > 0) {
      longest = Math.max(longest, ++open[open.length - 1]!)
      items++
    } else continue
    if (isTooMuch({ depth, longest, items }, most)) break
  }
  return { depth, longest, items }
}

/** Whether nobody takes apart what a model or its server wrote: it would hold the event loop, or what is made of it could not be written again. */
export const isUnreadable = (text: string): boolean =>
  isTooMuch(atOnce(measured(text, mostWritten)), mostWritten)
