/**
 * Which messages a sentence rests on: those that share its words and identifiers, weighted by how rare they are (decision 75). The
 * answer follows from the words alone, and is the same at every call.
 */
import { mapped, type Steps } from "@memfold/log/breathe"
import { termWeight } from "../search/bm25.js"
import type { TermPostings } from "../search/postings.js"
import { runs, termsOf, usefulTermsOf } from "../search/terms.js"
import { fold } from "../search/fold.js"
import { identifiersOf } from "./identifiers.js"
import { type Sentence, sentencesOf } from "./sentences.js"

/** A message that a sentence rests on. */
export interface SupportingMessage {
  /** The index of the message. */
  readonly index: number
  /** How much of the sentence's weight the message has, from 0 to 1. */
  readonly share: number
  /** The words and identifiers that both have, as the sentence writes them. */
  readonly words: ReadonlyArray<string>
}

/** A sentence, and what it rests on. */
export interface TracedSentence extends Sentence {
  /** Whether messages support it: enough of its words are in few of them, and every identifier is in one. */
  readonly supported: boolean
  /** How much of the sentence's weight these messages have together, from 0 to 1. */
  readonly share: number
  /** The messages that it rests on, the strongest first; at most five. */
  readonly messages: ReadonlyArray<SupportingMessage>
  /** The identifiers that no message has. */
  readonly missing: ReadonlyArray<string>
}

/** The most messages that a sentence rests on. */
export const mostMessages = 5

/** The least weight that the messages of a supported sentence have together, and that the strongest of them has. */
const leastShare = 0.5
const leastOfOne = 0.3

/** A further message adds at least this much of the weight. */
const leastGain = 0.1

/** The messages that count: `[from, to)`. */
export interface MessageRange {
  readonly from: number
  readonly to: number
}

const sizeOf = ({ from, to }: MessageRange): number => Math.max(to - from, 1)

interface SentenceTerms {
  readonly terms: ReadonlyArray<string>
  readonly identifiers: ReturnType<typeof identifiersOf>
}

export interface ParsedSentence extends Sentence, SentenceTerms {}

/**
 * The sentences of several texts that say something. A sentence without a word to search for, as a heading of signs, rests on nothing.
 * Summaries take sentences over from the summaries before them: each one is parsed once.
 */
export function* parsedSentences(
  texts: ReadonlyArray<string>,
): Steps<ReadonlyArray<ReadonlyArray<ParsedSentence>>> {
  const parsed = new Map<string, SentenceTerms>()
  const parse = (sentence: string): SentenceTerms => {
    const found = parsed.get(sentence) ?? {
      terms: usefulTermsOf(sentence),
      identifiers: identifiersOf(sentence),
    }
    parsed.set(sentence, found)
    return found
  }
  const found: Array<ReadonlyArray<ParsedSentence>> = []
  for (const text of texts) {
    const sentences = yield* mapped(sentencesOf(text), (sentence) => ({
      ...sentence,
      ...parse(sentence.text),
    }))
    found.push(sentences.filter(({ terms }) => terms.length > 0))
  }
  return found
}

/** The place of the first message at or behind an index in the list of a term. */
const placeOf = (list: ArrayLike<number>, index: number): number => {
  let [low, high] = [0, list.length / 2]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[2 * middle]! < index) low = middle + 1
    else high = middle
  }
  return 2 * low
}

/** The messages of a range that have a term: a stretch of its list. */
interface Occurrences {
  readonly list: ArrayLike<number>
  readonly start: number
  readonly end: number
}

const occurrencesOf = ({ terms }: TermPostings, term: string, { from, to }: MessageRange): Occurrences => {
  const list = terms.get(term) ?? []
  return { list, start: placeOf(list, from), end: placeOf(list, to) }
}

const countOf = ({ start, end }: Occurrences): number => (end - start) / 2

const isIn = ({ list, end }: Occurrences, index: number): boolean => {
  const place = placeOf(list, index)
  return place < end && list[place] === index
}

/** The words of a sentence, as it writes them, that have one of the terms. */
const wordsWith = (sentence: string, shared: ReadonlySet<string>): ReadonlyArray<string> => {
  const words = new Set<string>()
  for (const [run] of fold(sentence).matchAll(runs)) {
    const own = termsOf(run).filter((term) => shared.has(term))
    if (own.length === 0) continue
    // A run of a script without spaces is a clause: its terms say what is shared.
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(run))
      for (const term of own) words.add(term)
    else words.add(run)
  }
  return [...words]
}

/** The messages that count for a sentence, and the days on which they were said, as `2026-05-01`: summaries name them, and messages do not. */
export interface Ground {
  readonly postings: TermPostings
  readonly range: MessageRange
  readonly days: Pick<ReadonlySet<string>, "has">
}

interface Weights {
  readonly places: ReadonlyMap<string, Occurrences>
  readonly weights: ReadonlyMap<string, number>
  /** The weight of the sentence, with the words that no message has. */
  readonly all: number
  /** The terms of identifiers among them: a message that adds one counts, however little it weighs. */
  readonly needed: ReadonlySet<string>
}

/** A sentence with what its terms weigh where it is traced; `null` if it has nothing but the day on which it was said. */
export interface WeighedSentence {
  readonly parsed: ParsedSentence
  readonly ground: Ground
  readonly terms: Weights | null
}

const weightOf = (terms: Iterable<string>, weights: ReadonlyMap<string, number>): number =>
  [...terms].reduce((sum, term) => sum + weights.get(term)!, 0)

const weightsOf = (
  { terms: allTerms, identifiers }: ParsedSentence,
  { postings, range, days }: Ground,
): Weights | null => {
  // Of the day on which it was said, no message has the digits.
  const named = new Set(identifiers.flatMap(({ text }) => (days.has(text) ? termsOf(text) : [])))
  const terms = allTerms.filter((term) => !named.has(term))
  if (terms.length === 0) return null
  const places = new Map(
    terms
      .map((term) => [term, occurrencesOf(postings, term, range)] as const)
      .filter(([, occurrences]) => countOf(occurrences) > 0),
  )
  const total = sizeOf(range)
  const weights = new Map(
    [...places].map(([term, occurrences]) => [term, termWeight(total, countOf(occurrences))]),
  )
  const found = [...weights.values()].toSorted((one, other) => one - other)
  // A word of its own that a summary uses says as much as the middle one of the words that were said.
  const unsaid = found[Math.floor(found.length / 2)] ?? 1
  const all = terms.reduce((sum, term) => sum + (weights.get(term) ?? unsaid), 0)
  const needed = new Set(identifiers.flatMap((one) => one.terms).filter((term) => weights.has(term)))
  return { places, weights, all, needed }
}

export const weigh = (parsed: ParsedSentence, ground: Ground): WeighedSentence => ({
  parsed,
  ground,
  terms: weightsOf(parsed, ground),
})

/**
 * Whether a sentence may rest on a message: a message that does not weigh enough by itself, and has none of the identifiers, adds
 * nothing to others. Asking is much cheaper than tracing the sentence.
 */
export const mayRestOn = ({ terms }: WeighedSentence, index: number): boolean => {
  if (terms === null) return false
  const { places, weights, all, needed } = terms
  const own = [...places.keys()].filter((term) => isIn(places.get(term)!, index))
  // The sums of a trace differ from this one by a rounding.
  return weightOf(own, weights) + 1e-9 >= leastGain * all || own.some((term) => needed.has(term))
}

/** Traces a sentence to the messages that count for it. */
export const supportOf = ({ parsed, ground: { range, days }, terms }: WeighedSentence): TracedSentence => {
  const { terms: _, identifiers, ...sentence } = parsed
  // A line that has nothing but the day on which it was said says nothing wrong.
  if (terms === null) return { ...sentence, supported: true, share: 1, messages: [], missing: [] }
  const { places, weights, all, needed } = terms
  const total = sizeOf(range)

  // What each message adds to the chosen ones.
  const gains = new Float64Array(total)
  const add = (term: string, weight: number): void => {
    const { list, start, end } = places.get(term)!
    for (let at = start; at < end; at += 2) gains[list[at]! - range.from]! += weight
  }
  for (const [term, weight] of weights) add(term, weight)
  const chosen: Array<{ readonly index: number; readonly terms: ReadonlyArray<string> }> = []
  const covered = new Set<string>()
  while (chosen.length < mostMessages) {
    let best = 0
    // Among equals the first message: there it was said. Sums that differ by a rounding are equal.
    for (let at = 1; at < total; at++) if (gains[at]! > gains[best]! + 1e-9) best = at
    const gain = gains[best]!
    const index = range.from + best
    const list = [...places.keys()].filter((term) => isIn(places.get(term)!, index))
    const isNew = list.filter((term) => !covered.has(term))
    if (isNew.length === 0) break
    if (gain < leastGain * all && !isNew.some((term) => needed.has(term))) break
    chosen.push({ index, terms: list })
    for (const term of isNew) {
      covered.add(term)
      add(term, -weights.get(term)!)
    }
  }

  const messages = chosen
    .map(({ index, terms: list }) => ({
      index,
      share: weightOf(list, weights) / all,
      words: wordsWith(sentence.text, new Set(list)),
    }))
    .toSorted((one, other) => other.share - one.share || one.index - other.index)
  const missing = identifiers
    .filter((one) => !days.has(one.text) && !one.terms.some((term) => weights.has(term)))
    .map(({ text }) => text)
  const share = weightOf(covered, weights) / all
  return {
    ...sentence,
    supported: missing.length === 0 && share >= leastShare && (messages[0]?.share ?? 0) >= leastOfOne,
    share,
    messages,
    missing,
  }
}
