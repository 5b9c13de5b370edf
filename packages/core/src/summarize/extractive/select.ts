/**
 * Choosing what fits: a greedy cover under a budget.
 *
 * Each term and fact counts in full the first time it is chosen and less every time after, so that a second
 * sentence about the same thing loses to one about something new. What a candidate adds can only shrink while
 * others are chosen; so the best is found by re-judging the top of a heap only, not everything at every step.
 */
import type { Piece, Source } from "./digest.js"
import type { Candidate, Salience } from "./salience.js"

/** What a term, and a fact, is still worth once it is covered. */
const repeatedTerm = 0.3
const repeatedFact = 0.05
/** What a number or name is worth in a sentence whose words are all covered. */
const sameSentence = 0.15
/** A fact of worth 1 against a term of weight 1. */
const factScale = 40
/** The facts of one candidate saturate here, so that a table of numbers does not win over every sentence. */
const saturation = 8
/** How much a long piece pays for its length: 0 not at all, 1 in full. */
const lengthPenalty = 0.8
/** Neither the summary so far nor what is new takes more of the budget than this while the other wants it. */
const fairShare = 0.7
/** Each further piece of the same message counts this much of the one before, so that no message takes all. */
const sameSource = 0.9
/** Whatever adds less than this, per token, than the best did, is left out even if there is room. */
const threshold = 0.06

/** Sizes, in tokens. */
export interface Costs {
  readonly piece: (piece: Piece) => number
  readonly label: (source: Source) => number
}

interface Entry {
  readonly candidate: Candidate
  readonly cost: number
  gain: number
  /** How many candidates were chosen when the gain was computed. */
  round: number
}

/** A binary heap, the best entry first, the earlier one among equals. */
const better = (a: Entry, b: Entry): boolean =>
  a.gain > b.gain || (a.gain === b.gain && a.candidate.order < b.candidate.order)

const sink = (heap: Array<Entry>, from: number): void => {
  let at = from
  for (;;) {
    let best = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      const entry = heap[child]
      if (entry !== undefined && better(entry, heap[best] as Entry)) best = child
    }
    if (best === at) return
    const entry = heap[at] as Entry
    heap[at] = heap[best] as Entry
    heap[best] = entry
    at = best
  }
}

const pop = (heap: Array<Entry>): Entry | undefined => {
  const top = heap[0]
  const last = heap.pop()
  if (top !== undefined && last !== undefined && heap.length > 0) {
    heap[0] = last
    sink(heap, 0)
  }
  return top
}

/** The chosen candidates, in the order of their choice: the last one is the first to give up. */
export const select = (
  { candidates, weightOf }: Salience,
  costs: Costs,
  budget: number,
): ReadonlyArray<Candidate> => {
  const covered = new Map<string, number>()
  const known = new Set<string>()
  const opened = new Map<Source, number>()
  const gainOf = (candidate: Candidate): number => {
    let words = 0
    let anew = 0
    for (const term of candidate.terms) {
      const weight = weightOf(term)
      words += weight
      anew += weight * repeatedTerm ** (covered.get(term) ?? 0)
    }
    // The same sentence with another number in it is less of a fact each time; an identifier stands alone.
    const fresh = words === 0 ? 1 : sameSentence + (1 - sameSentence) * (anew / words)
    let facts = 0
    for (const { key, worth, alone } of candidate.facts) {
      facts += worth * (known.has(key) ? repeatedFact : alone ? 1 : fresh)
    }
    const from = opened.get(candidate.parts.at(-1)?.source as Source) ?? 0
    return (
      candidate.factor *
      sameSource ** from *
      (anew + factScale * saturation * (1 - Math.exp(-facts / saturation)))
    )
  }

  const heap: Array<Entry> = candidates.map((candidate) => {
    let cost = 0
    for (const { piece, source } of candidate.parts) cost += costs.piece(piece) + costs.label(source)
    return { candidate, cost, gain: gainOf(candidate) / cost ** lengthPenalty, round: 0 }
  })
  for (let at = Math.floor(heap.length / 2) - 1; at >= 0; at--) sink(heap, at)

  const chosen: Array<Candidate> = []
  const taken = new Set<Piece>()
  const spent = { old: 0, fresh: 0 }
  let best: number | undefined
  const waiting: Array<Entry> = []

  const run = (queue: Array<Entry>, limit: number): void => {
    for (let entry = pop(queue); entry !== undefined; entry = pop(queue)) {
      if (entry.round !== chosen.length) {
        entry.gain = gainOf(entry.candidate) / entry.cost ** lengthPenalty
        entry.round = chosen.length
        queue.push(entry)
        rise(queue)
        continue
      }
      if (best !== undefined && entry.gain < best * threshold) return
      const parts = entry.candidate.parts.filter(({ piece }) => !taken.has(piece))
      if (parts.length === 0) continue
      const sources = new Set(parts.map(({ source }) => source).filter((source) => !opened.has(source)))
      let cost = 0
      for (const { piece } of parts) cost += costs.piece(piece)
      for (const source of sources) cost += costs.label(source)
      const side = entry.candidate.parts[0]?.source.old === true ? "old" : "fresh"
      if (spent.old + spent.fresh + cost > budget) continue
      if (spent[side] + cost > limit) {
        waiting.push(entry)
        continue
      }
      spent[side] += cost
      best ??= entry.gain
      for (const { piece } of parts) taken.add(piece)
      for (const { source } of parts) opened.set(source, (opened.get(source) ?? 0) + 1)
      for (const term of entry.candidate.terms) covered.set(term, (covered.get(term) ?? 0) + 1)
      for (const { key } of entry.candidate.facts) known.add(key)
      chosen.push(entry.candidate)
    }
  }
  run(heap, budget * fairShare)
  waiting.sort((a, b) => (better(a, b) ? -1 : 1))
  run(waiting, budget)
  return chosen
}

/** Moves the last entry up to its place. */
function rise(heap: Array<Entry>): void {
  let at = heap.length - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const entry = heap[at] as Entry
    if (!better(entry, heap[parent] as Entry)) return
    heap[at] = heap[parent] as Entry
    heap[parent] = entry
    at = parent
  }
}
