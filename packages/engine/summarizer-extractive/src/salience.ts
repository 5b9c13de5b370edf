/**
 * Weighs each piece of text by counts.
 *
 * - *Terms*: a word that occurs often, but in few places, is a topic of the conversation; a word that occurs everywhere
 *   ("the", "的") is not. A term weighs `log(1 + occurrences) * log((pieces + 1) / pieces with it)`, and very short
 *   words, which are function words in most languages, weigh less.
 * - *Facts* (see `facts.ts`): facts mentioned in several messages weigh more.
 * - *Factors*: user messages, decisions, failures, the first request and unique sentences weigh more; tool output and
 *   code weigh less.
 *
 * The numbers were chosen on recorded conversations (customer service in two languages, agents with tools, long chats),
 * by how many of the identifiers, names and answers needed later are in the summary. Decision 27 has the effect of each.
 */
import { type Steps } from "@memfold/log/breathe"
import type { Piece, Source } from "./digest.js"
import type { Fact } from "./facts.js"
import { facts } from "./facts.js"
import { terms } from "./text.js"

/** The unit of choice: usually one piece, or a short answer together with its question. */
export interface Candidate {
  /** Its place in the conversation, which breaks ties. */
  readonly order: number
  readonly parts: ReadonlyArray<{ readonly source: Source; readonly piece: Piece }>
  readonly terms: ReadonlyArray<string>
  readonly facts: ReadonlyArray<Fact>
  /** Multiplies what its terms and facts are worth. */
  readonly factor: number
}

/** Candidates, and the weight of every term in them. */
export interface Salience {
  readonly candidates: ReadonlyArray<Candidate>
  readonly weightOf: (term: string) => number
}

const factors = {
  speaker: { user: 1.6, assistant: 1, system: 1, tool: 0.55, earlier: 1.2 },
  failed: 2.2,
  code: 0.6,
  /** Added for the share of words that occur in no other piece; repeated patterns get nothing. */
  once: 1,
  /** The user's first message: the rest of the conversation is about it. */
  firstRequest: 1.4,
  /** An answer and the question it decides. */
  decision: 1.3,
  /** The newest line of the previous summary; the factor falls to `oldest` at its first line. */
  previous: 1.25,
  oldest: 1.05,
} as const

const isQuestion = (text: string): boolean => /[?？؟;⸮]["”」』)）]?\s*$/u.test(text)
/** Nothing but an answer: "yes", "选 A", "the second one, please". */
const isShortAnswer = (found: ReadonlyArray<string>): boolean => found.length > 0 && found.length <= 6

/** Hiragana writes mostly endings and particles, so it counts like an alphabet. */
const shortWord = (term: string): number => {
  const wide = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Thai}]/u.test(term)
  const length = wide ? term.length * 2 : term.length
  return length >= 4 ? 1 : length === 3 ? 0.85 : 0.4
}

/** Counts terms and facts, and makes the candidates. Terms of `watch` weigh more. */
export function* salience(sources: ReadonlyArray<Source>, watch: string): Steps<Salience> {
  const occurrences = new Map<string, number>()
  const spread = new Map<string, number>()
  const mentions = new Map<string, number>()
  let count = 0

  interface ReadPiece {
    readonly source: Source
    readonly piece: Piece
    readonly terms: ReadonlyArray<string>
    readonly facts: ReadonlyArray<Fact>
  }
  const read: Array<ReadonlyArray<ReadPiece>> = []
  for (const source of sources) {
    yield
    const mentioned = new Set<string>()
    read.push(
      source.pieces.map((piece, position) => {
        // What a tool was asked is told with any of its pieces; it counts with the first.
        const text =
          source.speaker === "tool" && position === 0 ? `${source.label} ${piece.text}` : piece.text
        const all = terms(text)
        const own = [...new Set(all)]
        const known = facts(text)
        for (const term of all) occurrences.set(term, (occurrences.get(term) ?? 0) + 1)
        for (const term of own) spread.set(term, (spread.get(term) ?? 0) + 1)
        for (const { key } of known) mentioned.add(key)
        count++
        return { source, piece, terms: own, facts: known }
      }),
    )
    for (const key of mentioned) mentions.set(key, (mentions.get(key) ?? 0) + 1)
  }

  /** A fact that a few messages come back to matters more; a fact that nearly all mention tells nothing. */
  const standing = (key: string): number => {
    const by = mentions.get(key) ?? 1
    const rarity = Math.log((sources.length + 1) / by) / Math.log(sources.length + 1)
    return (1 + 0.5 * Math.log(by)) * Math.min(1, 1.5 * rarity)
  }

  const watched = new Set(terms(watch))
  const weights = new Map<string, number>()
  const weightOf = (term: string): number => {
    const known = weights.get(term)
    if (known !== undefined) return known
    const rarity = Math.log((count + 1) / (spread.get(term) ?? 1))
    const weight =
      Math.log1p(occurrences.get(term) ?? 1) * rarity * shortWord(term) * (watched.has(term) ? 2.5 : 1)
    weights.set(term, weight)
    return weight
  }

  const firstRequest = sources.find((source) => source.speaker === "user")
  const olds = sources.filter((source) => source.old).length

  const candidates: Array<Candidate> = []
  let question: ReadPiece | undefined
  for (const [at, pieces] of read.entries()) {
    yield
    const last = pieces.length - 1
    pieces.forEach((one, position) => {
      const { source, piece } = one
      const asks = isQuestion(piece.text)
      const once = one.terms.filter((term) => spread.get(term) === 1).length / Math.max(one.terms.length, 1)
      const factor =
        (1 + factors.once * once) *
        factors.speaker[source.speaker] *
        (source.failed ? factors.failed : 1) *
        (piece.code ? factors.code : 1) *
        (source === firstRequest ? factors.firstRequest : 1) *
        (source.old ? factors.oldest + ((factors.previous - factors.oldest) * at) / Math.max(1, olds - 1) : 1)
      const worth = one.facts.map((fact) => ({ ...fact, worth: fact.worth * standing(fact.key) }))
      const decides = source.speaker === "user" && pieces.length === 1 && !asks && isShortAnswer(one.terms)
      candidates.push(
        decides && question !== undefined
          ? {
              order: candidates.length,
              parts: [question, one],
              terms: [...new Set([...question.terms, ...one.terms])],
              facts: [...question.facts, ...worth],
              factor: factor * factors.decision,
            }
          : { order: candidates.length, parts: [one], terms: one.terms, facts: worth, factor },
      )
      if (position === last) question = asks && source.speaker === "assistant" ? one : undefined
    })
  }
  return { candidates, weightOf }
}
