/**
 * Ranks messages for a query by BM25, lets what they are worth reach the messages around them, and counts more what covers more of
 * the query, and what was said by who is asked about.
 */
import { termScore, termWeight } from "./bm25.js"
import { asks } from "./marks.js"
import type { TermPostings } from "./postings.js"
import { atOnce } from "@memfold/log/breathe"

/**
 * What part of its score a message gives to messages one and two places away: the answer to a question seldom repeats its
 * words, and "it" refers to what was said before. Decision 40 has the measurement.
 */
const spread = [0.5, 0.25]

/** What part of its score a message that asks something gives to the next one, which may be the answer. */
const spreadToAnswer = 0.8

/** How much more a message counts if who said it is who the query asks about. */
export const speakerWeight = 1.5

/**
 * A message with few of the query's terms around it counts for less: its score is multiplied by the weight of the terms that are
 * there, as a part of the whole weight, to this power.
 */
const coverage = 0.75

/** A message that may answer the query. */
export interface Candidate {
  /** Which of the sessions it is in: the position of its answer. */
  readonly source: number
  readonly index: number
  /** Its own score and the shares that it gets from its neighbours' scores, by what is covered and who said it. */
  readonly score: number
  /** Whether it has a term of the query itself, or is near by its meaning; otherwise it is beside messages that have one. */
  readonly fits: boolean
  /** The weight of the query's terms that occur in it or in the two messages before and after it, from 0 to 1. */
  readonly covered: number
  /** Where the part begins that is near to the query, in UTF-16 code units; only of a message that was found by meaning. */
  readonly offset?: number
}

/** A search ranks by this many terms of its query at most, the rarest: a set of them fits into the bits of an integer. */
const mostTerms = 32

/** How many candidates there are at most: lower-ranked candidates are no better than chance. */
const mostCandidates = 10_000

interface WeighedTerm {
  readonly term: string
  readonly weight: number
}

/** The texts of one source, and where the first of them stands among all texts. */
interface Texts extends TermPostings {
  readonly source: number
  readonly from: number
}

/**
 * What all texts score, source by source: of their own, and with their neighbours' shares; and by bits the terms that they have, and
 * that they or their neighbours have. Thousands of sources have lists of their own elsewhere, which take longer to make than to fill.
 */
class Scores {
  readonly own: Float64Array
  readonly shared: Float64Array
  readonly having: Uint32Array
  readonly near: Uint32Array
  /** Whether a text asks something, and whether one who is asked about said it: 0 or 1. */
  readonly asking: Uint8Array
  readonly said: Uint8Array

  constructor(texts: number) {
    this.own = new Float64Array(texts)
    this.shared = new Float64Array(texts)
    this.having = new Uint32Array(texts)
    this.near = new Uint32Array(texts)
    this.asking = new Uint8Array(texts)
    this.said = new Uint8Array(texts)
  }
}

/**
 * The terms by which a search ranks, in the order of its query: all of a few; of many, the rarest ones that occur.
 *
 * @param countOf - how many texts have a term
 */
export const rankedTerms = (
  terms: ReadonlyArray<string>,
  countOf: (term: string) => number,
): ReadonlyArray<string> => {
  if (terms.length <= mostTerms) return terms
  const occurring = terms.map((term) => ({ term, count: countOf(term) })).filter(({ count }) => count > 0)
  const rarest = occurring.toSorted((one, other) => one.count - other.count).slice(0, mostTerms)
  const ranked = new Set(rarest.map(({ term }) => term))
  return terms.filter((term) => ranked.has(term))
}

/** What an answer has of some terms. It has few of a thousand, and each of thousands of answers is asked: the shorter list is gone through. */
const eachFound = (
  found: TermPostings["terms"],
  wanted: ReadonlySet<string>,
  each: (term: string, list: ArrayLike<number>) => void,
): void => {
  if (found.size < wanted.size) {
    for (const [term, list] of found) if (wanted.has(term)) each(term, list)
    return
  }
  for (const term of wanted) {
    const list = found.get(term)
    if (list !== undefined) each(term, list)
  }
}

const weigh = (
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
  total: number,
): ReadonlyArray<WeighedTerm> => {
  const wanted = new Set(terms)
  const counts = new Map<string, number>()
  for (const answer of answers)
    eachFound(answer.terms, wanted, (term, { length }) => {
      counts.set(term, (counts.get(term) ?? 0) + length / 2)
    })
  const countOf = (term: string): number => counts.get(term) ?? 0
  return rankedTerms(terms, countOf).map((term) => ({ term, weight: termWeight(total, countOf(term)) }))
}

interface Ranking {
  readonly terms: ReadonlyArray<WeighedTerm>
  readonly average: number
  /** The weight of the terms that some bits stand for, as a part of the weight of all. */
  readonly covered: (bits: number) => number
  /** What a score is multiplied by for that. */
  readonly factor: (bits: number) => number
  /** The marks of who is asked about. */
  readonly speakers: ReadonlySet<string>
}

/** Reckons what some bits are worth once. */
const once = (worth: (bits: number) => number): ((bits: number) => number) => {
  const known = new Map<number, number>()
  return (bits) => {
    const found = known.get(bits)
    if (found !== undefined) return found
    const reckoned = worth(bits)
    known.set(bits, reckoned)
    return reckoned
  }
}

const coveredBy = (terms: ReadonlyArray<WeighedTerm>): Ranking["covered"] => {
  const whole = terms.reduce((sum, { weight }) => sum + weight, 0)
  return once(
    (bits) => terms.reduce((sum, { weight }, at) => ((bits >>> at) & 1 ? sum + weight : sum), 0) / whole,
  )
}

export const saidBySpeakers = (
  { terms }: Pick<TermPostings, "terms">,
  speakers: ReadonlySet<string>,
): ReadonlySet<number> => {
  const said = new Set<number>()
  eachFound(terms, speakers, (_, list) => {
    for (let at = 0; at < list.length; at += 2) said.add(list[at]!)
  })
  return said
}

/** What the texts of one source score by one of the terms, whose bit stands at a position. */
const addTerm = (
  { own, having }: Scores,
  { from, lengths }: Texts,
  list: ArrayLike<number>,
  weight: number,
  position: number,
  average: number,
): void => {
  for (let at = 0; at < list.length; at += 2) {
    const index = list[at]!
    own[from + index]! += termScore(weight, list[at + 1]!, lengths[index]! / average)
    having[from + index]! |= 1 << position
  }
}

/** Gives each text a part of the scores of those that are some places away. */
const addShares = (
  { own, shared, having, near, asking }: Scores,
  [from, end]: readonly [from: number, end: number],
  [away, part]: readonly [away: number, part: number],
): void => {
  for (let at = from; at < end; at++) {
    const before = at - away
    const after = at + away
    if (before >= from) {
      shared[at]! += (away === 1 && asking[before] === 1 ? spreadToAnswer : part) * own[before]!
      near[at]! |= having[before]!
    }
    if (after < end) {
      shared[at]! += part * own[after]!
      near[at]! |= having[after]!
    }
  }
}

/** Scores the texts of one source. A step is one term in all of them. */
function* scoreTexts(
  scores: Scores,
  texts: Texts,
  { terms, average, factor, speakers }: Ranking,
): Generator<undefined, void> {
  const { own, shared, having, near, asking, said } = scores
  const { from, lengths, terms: found } = texts
  // Without iterators: for thousands of sources, making them takes longer than the scores.
  for (let position = 0; position < terms.length; position++) {
    const { term, weight } = terms[position]!
    const list = found.get(term)
    if (list === undefined) continue
    addTerm(scores, texts, list, weight, position, average)
    yield
  }
  const end = from + lengths.length
  for (let at = from; at < end; at++) {
    shared[at] = own[at]!
    near[at] = having[at]!
  }
  const asked = found.get(asks) ?? []
  for (let at = 0; at < asked.length; at += 2) asking[from + asked[at]!] = 1
  eachFound(found, speakers, (_, list) => {
    for (let at = 0; at < list.length; at += 2) said[from + list[at]!] = 1
  })
  for (let far = 0; far < spread.length; far++) {
    addShares(scores, [from, end], [far + 1, spread[far]!])
    yield
  }
  for (let at = from; at < end; at++)
    if (near[at] !== 0) shared[at]! *= factor(near[at]!) * (said[at] === 1 ? speakerWeight : 1)
  yield
}

/** Which messages may be found, of those that are near a term. */
export type IsWanted = (source: number, index: number) => boolean

/** The number that stands at a place of numbers when they ascend. They are moved, and not sorted: that takes a fifth of the time. */
const selected = (numbers: Float64Array, place: number): number => {
  let [from, to] = [0, numbers.length - 1]
  while (from < to) {
    const pivot = numbers[(from + to) >>> 1]!
    let [low, high] = [from, to]
    while (low <= high) {
      while (numbers[low]! < pivot) low++
      while (numbers[high]! > pivot) high--
      if (low > high) break
      const moved = numbers[low]!
      numbers[low++] = numbers[high]!
      numbers[high--] = moved
    }
    if (place <= high) to = high
    else if (place >= low) from = low
    else break
  }
  return numbers[place]!
}

/** The lowest score among the best ones, and how many candidates may have just that score. */
function* lowest(
  all: ReadonlyArray<Texts>,
  { shared, near }: Scores,
  isWanted: IsWanted,
): Generator<undefined, { readonly score: number; readonly ties: number }> {
  const found = new Float64Array(shared.length)
  let count = 0
  for (const { source, from, lengths } of all)
    for (let index = 0; index < lengths.length; index++)
      if (near[from + index] !== 0 && isWanted(source, index)) found[count++] = shared[from + index]!
  if (count <= mostCandidates) return { score: 0, ties: 0 }
  yield
  const scores = found.subarray(0, count)
  const score = selected(scores, count - mostCandidates)
  let above = 0
  for (const one of scores) if (one > score) above++
  return { score, ties: mostCandidates - above }
}

/**
 * The candidates for a query of these terms among the messages of some sessions, the best first: at most 10,000, ranked by the
 * 32 rarest of the terms.
 *
 * The ranking works in steps, so that other work can be done between two of them: a step takes some milliseconds for 100,000 messages.
 *
 * @param answers - what the index of each session answers; how rare a term is, all of them say together
 * @param isWanted - which of the messages may be candidates; all of them by default
 * @param speakers - the marks of who is asked about, if the answers have them
 */
export function* rankInSteps(
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
  {
    isWanted = () => true,
    speakers = [],
  }: { readonly isWanted?: IsWanted | undefined; readonly speakers?: ReadonlyArray<string> } = {},
): Generator<undefined, ReadonlyArray<Candidate>> {
  let [messages, length] = [0, 0]
  for (const { lengths } of answers) {
    messages += lengths.length
    for (let index = 0; index < lengths.length; index++) length += lengths[index]!
  }
  const weighed = weigh(terms, answers, messages)
  const covered = coveredBy(weighed)
  const average = length / Math.max(messages, 1)
  const factor = once((bits) => covered(bits) ** coverage)
  const ranking = { terms: weighed, average, covered, factor, speakers: new Set(speakers) }
  yield
  const scores = new Scores(messages)
  const all: Array<Texts> = []
  let from = 0
  for (const [source, answer] of answers.entries()) {
    if (weighed.some(({ term }) => answer.terms.has(term))) {
      const texts = { lengths: answer.lengths, terms: answer.terms, source, from }
      yield* scoreTexts(scores, texts, ranking)
      all.push(texts)
    }
    from += answer.lengths.length
  }
  const least = yield* lowest(all, scores, isWanted)
  yield
  let { ties } = least
  const candidates: Array<Candidate> = []
  for (const { source, from, lengths } of all) {
    // Of equals, the newer ones come first.
    for (let index = lengths.length - 1; index >= 0; index--) {
      const score = scores.shared[from + index]!
      const bits = scores.near[from + index]!
      if (bits === 0 || score < least.score || !isWanted(source, index)) continue
      if (score === least.score && ties-- <= 0) continue
      const fits = scores.having[from + index] !== 0
      candidates.push({ source, index, score, fits, covered: covered(bits) })
    }
  }
  yield
  return best(candidates)
}

/** The candidates for a query of these terms, see {@link rankInSteps}, at one go: for a few texts. */
export const rank = (
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
): ReadonlyArray<Candidate> => atOnce(rankInSteps(terms, answers))

/** The best first. Of equals, the candidates of the session that is named first come first, and of one session the newer ones. */
export const best = <One extends Pick<Candidate, "source" | "index" | "score">>(
  candidates: Iterable<One>,
): ReadonlyArray<One> =>
  [...candidates].toSorted(
    (one, other) => other.score - one.score || one.source - other.source || other.index - one.index,
  )
