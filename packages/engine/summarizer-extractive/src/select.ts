/**
 * Choosing what fits: a greedy cover under a budget.
 *
 * Each term and fact counts in full the first time it is chosen and less every time after, so that a second
 * sentence about the same thing loses to one about something new. What a candidate adds can only shrink while
 * others are chosen; so the best is found by judging the top anew, not everything at every step. What all of them add
 * at first is judged once, for every budget.
 */
import { eventsBetween, mapped, type Steps } from "@memfold/log/breathe"
import type { Piece, Source } from "./digest.js"
import type { Candidate, Salience } from "./salience.js"

/**
 * The share of the budget that the previous summary, or the new messages, may take at first, so neither pushes the
 * other out. The rest of the budget then goes to either.
 */
const oneSide = 0.7
/** A fact of worth 1 against a term of weight 1. */
const factScale = 35
/** What a term, and a fact, is still worth once it is covered. */
const repeatedTerm = 0.3
const repeatedFact = 0.05
/** What a number or name is worth beside words that are all covered, or beside none. */
const sameSentence = 0.15
/** Each further piece of the same message counts this much of the one before, so that no message takes all. */
const sameSource = 0.9
/** The facts of one candidate saturate here, so that a table of numbers does not win over every sentence. */
const saturation = 8
/** How much a long piece pays for its length: 0 not at all, 1 in full. */
const lengthPenalty = 0.8
/** A candidate that adds no more than this share of its worth repeats others, and is left out even if it fits. */
const repetition = 0.35

/** Sizes, in tokens. */
export interface Costs {
  readonly piece: (piece: Piece) => number
  readonly label: (source: Source) => number
}

/** A candidate, with what does not depend on what is chosen. */
interface Weighed {
  readonly candidate: Candidate
  readonly age: "old" | "fresh"
  /** The weights of all its terms together. */
  readonly words: number
  /** What it is worth while nothing is chosen. */
  readonly most: number
  /** What its parts cost, in the lines of these sources. */
  readonly parts: ReadonlyArray<{ readonly source: number; readonly cost: number; readonly label: number }>
  /** The least that any of its parts costs, and with its label. */
  readonly least: number
  readonly leastAlone: number
  /** What its gain is divided by. */
  readonly length: number
}

interface Entry {
  readonly weighed: Weighed
  /** What it adds per token, when `chosen` others were chosen. */
  readonly gain: number
  /** The share of its worth that the chosen ones do not cover yet, from 0 to 1. */
  readonly novelty: number
  readonly chosen: number
}

const saturated = (facts: number): number => factScale * saturation * (1 - Math.exp(-facts / saturation))

const ageOf = (candidate: Candidate): "old" | "fresh" =>
  candidate.parts.every(({ source }) => source.old) ? "old" : "fresh"

/** Negative where `a` is the worse choice. The order is strict, so the result is deterministic. */
const compare = (a: Entry, b: Entry): number =>
  a.gain - b.gain || b.weighed.candidate.order - a.weighed.candidate.order

/** Puts an entry into its place among entries sorted from the worst to the best. */
const insert = (sorted: Array<Entry>, entry: Entry): void => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(sorted[middle]!, entry) < 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, entry)
}

/** Entries from the best to the worst, put in order only as far as somebody looks: what a summary has room for are the first. */
class Ranking {
  readonly #heap: Array<Entry>
  readonly #order: Array<Entry> = []

  constructor(entries: Array<Entry>) {
    this.#heap = entries
    for (let at = (entries.length >> 1) - 1; at >= 0; at--) this.#sink(at)
  }

  at(place: number): Entry | undefined {
    while (this.#order.length <= place && this.#heap.length > 0) {
      const last = this.#heap.pop()!
      this.#order.push(this.#heap[0] ?? last)
      if (this.#heap.length === 0) break
      this.#heap[0] = last
      this.#sink(0)
    }
    return this.#order[place]
  }

  #sink(from: number): void {
    const heap = this.#heap
    const entry = heap[from]!
    let at = from
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && compare(heap[child]!, heap[child + 1]!) < 0) child++
      if (compare(heap[child]!, entry) < 0) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = entry
  }
}

/** Chooses within a budget: the chosen candidates, in the order of their choice. The last one is the first to give up. */
export type Select = (budget: number) => Steps<ReadonlyArray<Candidate>>

/**
 * Judges all candidates, to choose among them.
 *
 * @param most - the largest budget. Smaller ones take the same candidates until one does not fit, so these are chosen once
 */
export function* selecting(
  { candidates, weights, ...counts }: Salience,
  costs: Costs,
  most: number,
): Steps<Select> {
  const bySource = Array.from({ length: counts.sources }, (): Array<Entry> => [])
  const cover = () => coverOf({ weights, ...counts })
  const { judge } = cover()
  const entries = yield* mapped(candidates, (candidate): Entry => {
    const words = candidate.terms.reduce((sum, term) => sum + weights[term]!, 0)
    const all = candidate.facts.reduce((sum, { worth }) => sum + worth, 0)
    const parts = candidate.parts.map(({ piece, source, from }) => ({
      source: from,
      cost: costs.piece(piece),
      label: costs.label(source),
    }))
    const entry = judge({
      candidate,
      age: ageOf(candidate),
      words,
      most: words + saturated(all),
      parts,
      least: Math.min(...parts.map(({ cost }) => cost)),
      leastAlone: Math.min(...parts.map(({ cost, label }) => cost + label)),
      length: parts.reduce((sum, { cost, label }) => sum + (cost + label), 0) ** lengthPenalty,
    })
    for (const { source } of parts) bySource[source]!.push(entry)
    return entry
  })
  const ages = new Set(entries.map(({ weighed }) => weighed.age)).size
  const leastAlone = entries.reduce(
    (least, { weighed }) => Math.min(least, weighed.leastAlone),
    Number.POSITIVE_INFINITY,
  )
  const choice: Choice = { ranking: new Ranking(entries), bySource, ages, leastAlone }
  const beginning: Beginning = { taken: [], left: new Map() }
  yield* select(choice, cover(), most, { keep: beginning })
  return (budget) => select(choice, cover(), budget, { follow: beginning })
}

interface Choice {
  /** The entries as they are judged while nothing is chosen. */
  readonly ranking: Ranking
  readonly bySource: ReadonlyArray<ReadonlyArray<Entry>>
  /** Whether there are old and fresh ones. */
  readonly ages: number
  /** The least that any of them costs in a line of its own. */
  readonly leastAlone: number
}

/** How the choice for a large budget begins: what was taken until a side was full, and what did not fit, after how many were taken. */
interface Beginning {
  readonly taken: Array<Weighed>
  readonly left: Map<Weighed, number>
}

/** What is chosen so far, and what others add to it. */
const coverOf = ({ weights, facts, sources }: Pick<Salience, "weights" | "facts" | "sources">) => {
  const chosen: Array<Candidate> = []
  const taken = new Set<Piece>()
  const opened = new Uint32Array(sources)
  /** For each term, how often it is covered, and what of its weight is left. */
  const covered = new Uint32Array(weights.length)
  const left = Float64Array.from(weights)
  const known = new Uint8Array(facts)

  const judge = (weighed: Weighed): Entry => {
    const { words, most, candidate, length, parts } = weighed
    let anew = 0
    for (const term of candidate.terms) anew += left[term]!
    // The same sentence with another number in it is less of a fact each time; an identifier stands alone.
    const around = sameSentence + (1 - sameSentence) * (words === 0 ? 0 : anew / words)
    let factsAnew = 0
    for (const { number, worth, alone } of candidate.facts)
      factsAnew += worth * (known[number] === 1 ? repeatedFact : alone ? 1 : around)
    const worth = anew + saturated(factsAnew)
    return {
      weighed,
      gain: (candidate.factor * sameSource ** opened[parts.at(-1)!.source]! * worth) / length,
      novelty: worth / Math.max(most, Number.MIN_VALUE),
      chosen: chosen.length,
    }
  }

  /** The parts that are not taken yet, and what they would cost now, with a line of its own for each message nothing was taken from. */
  const restOf = ({ candidate, parts: costs }: Weighed) => {
    const parts: Array<Candidate["parts"][number]> = []
    let cost = 0
    for (const [at, part] of candidate.parts.entries()) {
      if (taken.has(part.piece)) continue
      const isFirst = opened[part.from] === 0 && !parts.some(({ from }) => from === part.from)
      cost += costs[at]!.cost + (isFirst ? costs[at]!.label : 0)
      parts.push(part)
    }
    return { parts, cost }
  }

  /** No choice of others lets it cost less: whoever opens the line of a source pays for its label. */
  const leastOf = ({ parts }: Weighed): number => {
    let least = Number.POSITIVE_INFINITY
    for (const { source, cost, label } of parts)
      least = Math.min(least, opened[source] === 0 ? cost + label : cost)
    return least
  }

  const isTaken = ({ candidate: { parts } }: Weighed): boolean => {
    for (const { piece } of parts) if (!taken.has(piece)) return false
    return true
  }

  const take = ({ candidate }: Weighed, parts: Candidate["parts"]): void => {
    for (const { piece, from } of parts) {
      taken.add(piece)
      opened[from]!++
    }
    for (const term of candidate.terms) left[term] = weights[term]! * repeatedTerm ** ++covered[term]!
    for (const { number } of candidate.facts) known[number] = 1
    chosen.push(candidate)
  }

  const isOpened = (source: number): boolean => opened[source] !== 0

  return { chosen, judge, restOf, leastOf, isTaken, isOpened, take }
}

/** @param beginning - `follow`: how the choice for a larger budget began. `keep`: notes how this one begins */
function* select(
  { ranking, bySource, ages, leastAlone }: Choice,
  { chosen, judge, restOf, leastOf, isTaken, isOpened, take }: ReturnType<typeof coverOf>,
  budget: number,
  { follow, keep }: { readonly follow?: Beginning; readonly keep?: Beginning },
): Steps<ReadonlyArray<Candidate>> {
  const spent = { old: 0, fresh: 0 }
  const room = () => budget - (spent.old + spent.fresh)
  const sides = ages > 1 ? [oneSide, 1] : [1]
  let looked = 0
  for (const side of sides) {
    const isFirst = side === sides[0]
    /** Takes a candidate if there is room for it. */
    const tries = (weighed: Weighed): boolean => {
      const { age } = weighed
      const { parts, cost } = restOf(weighed)
      if (spent.old + spent.fresh + cost > budget || spent[age] + cost > budget * side) return false
      spent[age] += cost
      take(weighed, parts)
      return true
    }
    const refused = isFirst ? follow?.taken.find((weighed) => !tries(weighed)) : undefined
    const followed = chosen.length
    const judgedAnew: Array<Entry> = []
    const seen = new Set<Entry>()
    /** The entries that are left once no further line has room: from lines that are there, from the best to the worst. */
    let last: ReadonlyArray<Entry> | null = null
    for (let place = 0; ;) {
      if (++looked % eventsBetween === 0) yield
      if (last === null && room() < leastAlone) {
        const left = bySource.flatMap((entries, source) => (isOpened(source) ? entries : []))
        last = [...new Set(left)].filter((entry) => !seen.has(entry)).toSorted((a, b) => compare(b, a))
        place = 0
      }
      const [first, again] = [last === null ? ranking.at(place) : last[place], judgedAnew.at(-1)]
      if (first === undefined && again === undefined) break
      const entry = first === undefined || (again !== undefined && compare(again, first) > 0) ? again! : first
      if (entry === first) {
        place++
        if (last === null) seen.add(entry)
      } else judgedAnew.pop()
      const { weighed, novelty } = entry
      // What cannot fit any more need not be judged.
      if (spent.old + spent.fresh + leastOf(weighed) > budget) continue
      if (spent[weighed.age] + weighed.least > budget * side) continue
      if (weighed === refused || isTaken(weighed)) continue
      if (entry.chosen !== chosen.length) insert(judgedAnew, judge(weighed))
      else if (novelty > repetition) {
        if (isFirst && (follow?.left.get(weighed) ?? Number.POSITIVE_INFINITY) <= followed) continue
        const before = chosen.length
        if (tries(weighed)) {
          if (isFirst) keep?.taken.push(weighed)
        } else if (isFirst) keep?.left.set(weighed, before)
      }
    }
    if (keep !== undefined) break
  }
  return chosen
}
