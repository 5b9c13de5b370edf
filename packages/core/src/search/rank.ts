/**
 * Ranks messages for a query by BM25, and lets what they are worth reach the messages around them. A ranking by meaning is
 * fused with that one.
 */
import type { TermPostings } from "./postings.js"

/** The usual constants of BM25: how soon more of the same word counts less, and how much long messages lose. */
const saturation = 1.2
const lengthWeight = 0.75

/**
 * What part of its score a message gives to those one and two places away: the answer to a question seldom repeats its
 * words, and "it" refers to what was said before. Decision 40 has the measurement.
 */
const spread = [0.5, 0.25]

/** A message that may answer the query. */
export interface Candidate {
  /** Which of the sessions it is in: the position of its answer. */
  readonly source: number
  readonly index: number
  /** Its own score, and what those around it give it. */
  readonly score: number
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

/** The inverse document frequency of a term that occurs in `count` of `total` messages. */
const weightOf = (total: number, count: number): number => Math.log(1 + (total - count + 0.5) / (count + 0.5))

/**
 * The candidates for a query of these terms among the messages of some sessions, the best first.
 *
 * @param answers - what the index of each session answers; how rare a term is, all of them say together
 */
export const rank = (
  terms: ReadonlyArray<string>,
  answers: ReadonlyArray<TermPostings>,
): ReadonlyArray<Candidate> => {
  const messages = answers.reduce((sum, answer) => sum + answer.messages, 0)
  const average = answers.reduce((sum, { length }) => sum + length, 0) / Math.max(messages, 1)
  const weights = terms.map((term) =>
    weightOf(
      messages,
      answers.reduce((sum, answer) => sum + (answer.terms.get(term)?.length ?? 0), 0),
    ),
  )
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  return best(
    answers.flatMap((answer, source) => candidatesOf(terms, answer, { source, weights, average, whole })),
  )
}

/** The best first. Of equals, the candidates of the session that is named first come first, and of one session the newer ones. */
const best = (candidates: Iterable<Candidate>): ReadonlyArray<Candidate> =>
  [...candidates].toSorted(
    (one, other) => other.score - one.score || one.source - other.source || other.index - one.index,
  )

/** The candidates of one session. */
const candidatesOf = (
  terms: ReadonlyArray<string>,
  { messages, terms: found }: TermPostings,
  {
    source,
    weights,
    average,
    whole,
  }: {
    readonly source: number
    readonly weights: ReadonlyArray<number>
    readonly average: number
    readonly whole: number
  },
): ReadonlyArray<Candidate> => {
  const own = new Map<number, number>()
  /** By message the positions of the terms that occur in it. */
  const having = new Map<number, Array<number>>()
  for (const [position, term] of terms.entries()) {
    for (const { index, count, length } of found.get(term) ?? []) {
      const norm = saturation * (1 - lengthWeight + (lengthWeight * length) / average)
      const score = (weights[position]! * count * (saturation + 1)) / (count + norm)
      own.set(index, (own.get(index) ?? 0) + score)
      const list = having.get(index)
      if (list === undefined) having.set(index, [position])
      else list.push(position)
    }
  }
  const indexes = new Set<number>()
  for (const index of own.keys()) {
    for (let at = index - spread.length; at <= index + spread.length; at++) {
      if (at >= 0 && at < messages) indexes.add(at)
    }
  }
  return [...indexes].map((index) => {
    let score = own.get(index) ?? 0
    const positions = new Set(having.get(index))
    for (const [far, part] of spread.entries()) {
      for (const other of [index - far - 1, index + far + 1]) {
        score += part * (own.get(other) ?? 0)
        for (const position of having.get(other) ?? []) positions.add(position)
      }
    }
    const covered = [...positions].reduce((sum, position) => sum + weights[position]!, 0)
    return { source, index, score, covered: covered / whole }
  })
}

/**
 * The constant of reciprocal rank fusion, from the article that introduced it (Cormack, Clarke and Büttcher, SIGIR 2009): the
 * first places of a ranking count for little more than those after them.
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
    fused.set(key, { source, index, covered: known?.covered ?? 0, score, offset })
  }
  return best(fused.values())
}
