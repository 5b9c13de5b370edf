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

interface Entry {
  readonly candidate: Candidate
  readonly age: "old" | "fresh"
  /** No choice of others lets it cost less. */
  readonly least: number
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
const compare = (a: Entry, b: Entry): number => a.gain - b.gain || b.candidate.order - a.candidate.order

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

/** Chooses within a budget: the chosen candidates, in the order of their choice. The last one is the first to give up. */
export type Select = (budget: number) => Steps<ReadonlyArray<Candidate>>

/** Judges all candidates, to choose among them. */
export function* selecting(salience: Salience, costs: Costs): Steps<Select> {
  const { judge } = coverOf(salience, costs)
  const entries = yield* mapped(salience.candidates, (candidate) =>
    judge({
      candidate,
      age: ageOf(candidate),
      least: Math.min(...candidate.parts.map(({ piece }) => costs.piece(piece))),
    }),
  )
  const sorted = entries.toSorted(compare)
  return (budget) => select(sorted, coverOf(salience, costs), budget)
}

/** What is chosen so far, and what others add to it. */
const coverOf = ({ weightOf }: Salience, costs: Costs) => {
  const chosen: Array<Candidate> = []
  const taken = new Set<Piece>()
  const opened = new Map<Source, number>()
  const covered = new Map<string, number>()
  const known = new Set<string>()

  const judge = (one: Pick<Entry, "candidate" | "age" | "least">): Entry => {
    const { candidate, age, least } = one
    let words = 0
    let anew = 0
    for (const term of candidate.terms) {
      const weight = weightOf(term)
      words += weight
      anew += weight * repeatedTerm ** (covered.get(term) ?? 0)
    }
    // The same sentence with another number in it is less of a fact each time; an identifier stands alone.
    const around = sameSentence + (1 - sameSentence) * (words === 0 ? 0 : anew / words)
    let facts = 0
    let factsAnew = 0
    for (const { key, worth, alone } of candidate.facts) {
      facts += worth
      factsAnew += worth * (known.has(key) ? repeatedFact : alone ? 1 : around)
    }
    let cost = 0
    let before = 0
    for (const { piece, source } of candidate.parts) {
      cost += costs.piece(piece) + costs.label(source)
      before = opened.get(source) ?? 0
    }
    const worth = anew + saturated(factsAnew)
    return {
      candidate,
      age,
      least,
      gain: (candidate.factor * sameSource ** before * worth) / cost ** lengthPenalty,
      novelty: worth / Math.max(words + saturated(facts), Number.MIN_VALUE),
      chosen: chosen.length,
    }
  }

  /** What taking it would cost now, with a line of its own for each message nothing was taken from. */
  const costOf = (parts: Candidate["parts"]): number => {
    let cost = 0
    for (const { piece } of parts) cost += costs.piece(piece)
    for (const source of new Set(parts.map((part) => part.source))) {
      if (!opened.has(source)) cost += costs.label(source)
    }
    return cost
  }

  const take = (candidate: Candidate, parts: Candidate["parts"]): void => {
    for (const { piece, source } of parts) {
      taken.add(piece)
      opened.set(source, (opened.get(source) ?? 0) + 1)
    }
    for (const term of candidate.terms) covered.set(term, (covered.get(term) ?? 0) + 1)
    for (const { key } of candidate.facts) known.add(key)
    chosen.push(candidate)
  }

  return { chosen, taken, judge, costOf, take }
}

/** @param sorted - the candidates as they are judged while nothing is chosen, from the worst to the best */
function* select(
  sorted: ReadonlyArray<Entry>,
  { chosen, taken, judge, costOf, take }: ReturnType<typeof coverOf>,
  budget: number,
): Steps<ReadonlyArray<Candidate>> {
  const spent = { old: 0, fresh: 0 }
  const fits = (age: Entry["age"], side: number, cost: number): boolean =>
    spent.old + spent.fresh + cost <= budget && spent[age] + cost <= budget * side
  const sides = new Set(sorted.map(({ age }) => age))
  let looked = 0
  for (const side of sides.size > 1 ? [oneSide, 1] : [1]) {
    const judgedAnew: Array<Entry> = []
    for (let left = sorted.length; left > 0 || judgedAnew.length > 0;) {
      if (++looked % eventsBetween === 0) yield
      const [first, again] = [sorted[left - 1], judgedAnew.at(-1)]
      const entry = first === undefined || (again !== undefined && compare(again, first) > 0) ? again! : first
      if (entry === first) left--
      else judgedAnew.pop()
      const { candidate, age } = entry
      // What cannot fit any more need not be judged.
      if (!fits(age, side, entry.least)) continue
      const parts = candidate.parts.filter(({ piece }) => !taken.has(piece))
      if (parts.length === 0) continue
      if (entry.chosen !== chosen.length) {
        insert(judgedAnew, judge(entry))
        continue
      }
      if (entry.novelty <= repetition) continue
      const cost = costOf(parts)
      if (!fits(age, side, cost)) continue
      spent[age] += cost
      take(candidate, parts)
    }
  }
  return chosen
}
