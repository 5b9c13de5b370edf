/**
 * Ranks messages for a query by BM25, and lets what they are worth reach the messages around them. A ranking by meaning is
 * fused with that one.
 */
import { termScore, termWeight } from "./bm25.js"
import type { TermPostings } from "./postings.js"

/**
 * What part of its score a message gives to messages one and two places away: the answer to a question seldom repeats its
 * words, and "it" refers to what was said before. Decision 40 has the measurement.
 */
const spread = [0.5, 0.25]

/** A message that may answer the query. */
export interface Candidate {
  /** Which of the sessions it is in: the position of its answer. */
  readonly source: number
  readonly index: number
  /** Its own score, and the shares that it gets from its neighbours' scores. */
  readonly score: number
  /** Whether it has a term of the query itself, or is near by its meaning; otherwise it is beside messages that have one. */
  readonly fits: boolean
  /** The weight of the query's terms that occur in it or in the two messages before and after it, from 0 to 1. */
  readonly covered: number
  /** Where the part begins that is near to the query, in UTF-16 code units; only of a message that was found by meaning. */
  readonly offset?: number
}

/** A message that is near to the query by its meaning. */
export interface NearMessage {
  readonly index: number
  /** The cosine similarity of its piece that is nearest, rounded: the same vectors can differ in the last digits. */
  readonly similarity: number
  /** Where this piece begins. */
  readonly offset: number
}

/** A search ranks by this many terms of its query at most, the rarest: a set of them fits into the bits of an integer. */
const mostTerms = 32

/** How many candidates there are at most: lower-ranked candidates are no better than chance. */
const mostCandidates = 10_000

/** A term of the query that occurs, and its weight. */
interface WeighedTerm {
  readonly term: string
  readonly weight: number
}

/** The scores of the texts of one source, and by bits the terms that they have, and that they or their neighbours have. */
interface ScoredTexts {
  readonly source: number
  readonly scores: Float64Array
  readonly having: Uint32Array
  readonly near: Uint32Array
}

/** The rarest terms of a query, in its order. */
const weigh = (
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
  total: number,
): ReadonlyArray<WeighedTerm> => {
  const all = terms.map((term) => {
    const count = answers.reduce((sum, answer) => sum + (answer.terms.get(term)?.length ?? 0) / 2, 0)
    return { term, count, weight: termWeight(total, count) }
  })
  if (all.length <= mostTerms) return all
  const occurring = all.filter(({ count }) => count > 0).toSorted((one, other) => one.count - other.count)
  const rarest = new Set(occurring.slice(0, mostTerms))
  return all.filter((one) => rarest.has(one))
}

/** What the texts of one source score. A step is one term in all of its texts. */
function* scoreTexts(
  terms: ReadonlyArray<WeighedTerm>,
  { lengths, terms: found }: TermPostings,
  { source, average }: { readonly source: number; readonly average: number },
): Generator<undefined, ScoredTexts> {
  const own = new Float64Array(lengths.length)
  const having = new Uint32Array(lengths.length)
  for (const [position, { term, weight }] of terms.entries()) {
    const list = found.get(term)
    if (list === undefined) continue
    for (let at = 0; at < list.length; at += 2) {
      const index = list[at]!
      own[index]! += termScore(weight, list[at + 1]!, lengths[index]! / average)
      having[index]! |= 1 << position
    }
    yield
  }
  const scores = own.slice()
  const near = having.slice()
  for (const [far, part] of spread.entries()) {
    const away = far + 1
    for (let index = 0; index < own.length; index++) {
      const [before, after] = [index - away, index + away]
      if (before >= 0) {
        scores[index]! += part * own[before]!
        near[index]! |= having[before]!
      }
      if (after < own.length) {
        scores[index]! += part * own[after]!
        near[index]! |= having[after]!
      }
    }
    yield
  }
  return { source, scores, having, near }
}

/** Which messages may be found, of those that are near a term. */
export type IsWanted = (source: number, index: number) => boolean

/** The lowest score among the best ones, and how many candidates may have just that score. */
function* lowest(
  all: ReadonlyArray<ScoredTexts>,
  isWanted: IsWanted,
): Generator<undefined, { readonly score: number; readonly ties: number }> {
  const found = new Float64Array(all.reduce((sum, { scores }) => sum + scores.length, 0))
  let count = 0
  for (const { source, scores, near } of all)
    for (let index = 0; index < scores.length; index++)
      if (near[index] !== 0 && isWanted(source, index)) found[count++] = scores[index]!
  if (count <= mostCandidates) return { score: 0, ties: 0 }
  yield
  const sorted = found.subarray(0, count).toSorted()
  const score = sorted[count - mostCandidates]!
  let above = count - mostCandidates
  while (above < count && sorted[above] === score) above++
  return { score, ties: mostCandidates - (count - above) }
}

/**
 * The candidates for a query of these terms among the messages of some sessions, the best first: at most 10,000, ranked by the
 * 32 rarest of the terms.
 *
 * It works in steps, so that other work can be done between two of them: a step takes some milliseconds for 100,000 messages.
 *
 * @param answers - what the index of each session answers; how rare a term is, all of them say together
 * @param isWanted - which of the messages may be candidates; all of them by default
 */
export function* rankInSteps(
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
  isWanted: IsWanted = () => true,
): Generator<undefined, ReadonlyArray<Candidate>> {
  let [messages, length] = [0, 0]
  for (const { lengths } of answers) {
    messages += lengths.length
    for (let index = 0; index < lengths.length; index++) length += lengths[index]!
  }
  const weighed = weigh(terms, answers, messages)
  const whole = weighed.reduce((sum, { weight }) => sum + weight, 0)
  yield
  const all: Array<ScoredTexts> = []
  for (const [source, answer] of answers.entries()) {
    if (weighed.some(({ term }) => answer.terms.has(term)))
      all.push(yield* scoreTexts(weighed, answer, { source, average: length / Math.max(messages, 1) }))
  }
  const least = yield* lowest(all, isWanted)
  yield
  let { ties } = least
  const candidates: Array<Candidate> = []
  for (const { source, scores, having, near } of all) {
    // Of equals, the newer ones come first.
    for (let index = scores.length - 1; index >= 0; index--) {
      const score = scores[index]!
      if (near[index] === 0 || score < least.score || !isWanted(source, index)) continue
      if (score === least.score && ties-- <= 0) continue
      const bits = near[index]!
      const covered = weighed.reduce((sum, { weight }, at) => ((bits >>> at) & 1 ? sum + weight : sum), 0)
      candidates.push({ source, index, score, fits: having[index] !== 0, covered: covered / whole })
    }
  }
  yield
  return best(candidates)
}

/** The candidates for a query of these terms, see {@link rankInSteps}, at one go: for a few texts. */
export const rank = (
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
): ReadonlyArray<Candidate> => {
  const steps = rankInSteps(terms, answers)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The best first. Of equals, the candidates of the session that is named first come first, and of one session the newer ones. */
const best = (candidates: Iterable<Candidate>): ReadonlyArray<Candidate> =>
  [...candidates].toSorted(
    (one, other) => other.score - one.score || one.source - other.source || other.index - one.index,
  )

/**
 * The constant of reciprocal rank fusion, from the article that introduced it (Cormack, Clarke and Büttcher, SIGIR 2009): the
 * first places of a ranking count for little more than the places after them.
 */
const fusion = 60

/**
 * Fuses a ranking by words and one by meaning: each gives a message 1 / (60 + its place), from 1. Similarities and scores of
 * BM25 cannot be compared, and places can. Without messages that are near, the ranking by words stays as it is.
 *
 * @param byWords - the candidates by words, the best first
 * @param near - the messages of each session that are near, in any order
 */
export const fuse = (
  byWords: ReadonlyArray<Candidate>,
  near: ReadonlyArray<ReadonlyArray<NearMessage>>,
): ReadonlyArray<Candidate> => {
  const byMeaning = near
    .flatMap((messages, source) => messages.map((one) => ({ source, ...one })))
    .toSorted(
      (one, other) =>
        other.similarity - one.similarity || one.source - other.source || other.index - one.index,
    )
  if (byMeaning.length === 0) return byWords
  const fused = new Map<string, Candidate>()
  for (const [place, candidate] of byWords.entries())
    fused.set(`${candidate.source} ${candidate.index}`, { ...candidate, score: 1 / (fusion + place + 1) })
  for (const [place, { source, index, offset }] of byMeaning.entries()) {
    const key = `${source} ${index}`
    const known = fused.get(key)
    const score = (known?.score ?? 0) + 1 / (fusion + place + 1)
    fused.set(key, { source, index, fits: true, covered: known?.covered ?? 0, score, offset })
  }
  return best(fused.values())
}
