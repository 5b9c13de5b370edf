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
import { remembered } from "@memfold/message/remembered"
import type { Piece, Source } from "./digest.js"
import type { Fact } from "./facts.js"
import { facts } from "./facts.js"
import { terms } from "./text.js"

/** The unit of choice: usually one piece, or a short answer together with its question. Terms and facts are numbers, from 0 on. */
export interface Candidate {
  /** Its place in the conversation, which breaks ties. */
  readonly order: number
  /** Its pieces, each with its source and the number of that. */
  readonly parts: ReadonlyArray<{ readonly source: Source; readonly piece: Piece; readonly from: number }>
  readonly terms: ReadonlyArray<number>
  readonly facts: ReadonlyArray<Pick<Fact, "worth" | "alone"> & { readonly number: number }>
  /** Multiplies what its terms and facts are worth. */
  readonly factor: number
}

/** Candidates, the weight of every term in them, and how many facts and sources there are. */
export interface Salience {
  readonly candidates: ReadonlyArray<Candidate>
  readonly weights: ReadonlyArray<number>
  readonly facts: number
  readonly sources: number
}

/** Gives each text a number, from 0 on: to look a text up takes longer than all that is then asked about it. */
const numbering = () => {
  const known = new Map<string, number>()
  return {
    known,
    numberOf: (text: string): number => {
      const number = known.get(text)
      if (number !== undefined) return number
      known.set(text, known.size)
      return known.size - 1
    },
  }
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
const isShortAnswer = (found: ReadonlyArray<number>): boolean => found.length > 0 && found.length <= 6

/** Hiragana writes mostly endings and particles, so it counts like an alphabet. */
const shortWord = (term: string): number => {
  const wide = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Thai}]/u.test(term)
  const length = wide ? term.length * 2 : term.length
  return length >= 4 ? 1 : length === 3 ? 0.85 : 0.4
}

/** What a piece says, whatever stands around it. */
const saidIn = (text: string) => ({ facts: facts(text), terms: terms(text) })
/** The pieces of a summary are read again with the next messages. A piece of a message is not kept: it would hold the whole message. */
const saidBefore = remembered(saidIn)

/** Counts terms and facts, and makes the candidates. Terms of `watch` weigh more. */
export function* salience(sources: ReadonlyArray<Source>, watch: string): Steps<Salience> {
  const [words, keys] = [numbering(), numbering()]
  /** For each term, how often it occurs, in how many pieces, and which of them was the last. */
  const occurrences: Array<number> = []
  const spread: Array<number> = []
  const lastIn: Array<number> = []
  /** For each fact, how many messages mention it, and which of them was the last. */
  const mentions: Array<number> = []
  const lastOf: Array<number> = []
  let count = 0

  interface ReadPiece extends Pick<Candidate, "terms" | "facts"> {
    readonly source: Source
    readonly piece: Piece
    readonly from: number
  }
  const numbersOf = (all: ReadonlyArray<string>): ReadonlyArray<number> => {
    count++
    const own: Array<number> = []
    for (const found of all) {
      const term = words.numberOf(found)
      occurrences[term] = (occurrences[term] ?? 0) + 1
      if (lastIn[term] === count) continue
      lastIn[term] = count
      spread[term] = (spread[term] ?? 0) + 1
      own.push(term)
    }
    return own
  }
  const read: Array<ReadonlyArray<ReadPiece>> = []
  for (const [from, source] of sources.entries()) {
    yield
    read.push(
      source.pieces.map((piece, position) => {
        // What a tool was asked is told with any of its pieces; it counts with the first.
        const text =
          source.speaker === "tool" && position === 0 ? `${source.label} ${piece.text}` : piece.text
        const said = source.old ? saidBefore(text) : saidIn(text)
        const known = said.facts.map(({ key, worth, alone }) => {
          const number = keys.numberOf(key)
          if (lastOf[number] !== from) mentions[number] = (mentions[number] ?? 0) + 1
          lastOf[number] = from
          return { number, worth, alone }
        })
        return { source, piece, from, terms: numbersOf(said.terms), facts: known }
      }),
    )
  }

  /** A fact that a few messages come back to matters more; a fact that nearly all mention tells nothing. */
  const standing = mentions.map((by) => {
    const rarity = Math.log((sources.length + 1) / by) / Math.log(sources.length + 1)
    return (1 + 0.5 * Math.log(by)) * Math.min(1, 1.5 * rarity)
  })

  const watched = new Set(terms(watch))
  const weights = Array.from(words.known.keys(), (word, term) => {
    const rarity = Math.log((count + 1) / spread[term]!)
    return Math.log1p(occurrences[term]!) * rarity * shortWord(word) * (watched.has(word) ? 2.5 : 1)
  })

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
      const once = one.terms.filter((term) => spread[term] === 1).length / Math.max(one.terms.length, 1)
      const factor =
        (1 + factors.once * once) *
        factors.speaker[source.speaker] *
        (source.failed ? factors.failed : 1) *
        (piece.code ? factors.code : 1) *
        (source === firstRequest ? factors.firstRequest : 1) *
        (source.old ? factors.oldest + ((factors.previous - factors.oldest) * at) / Math.max(1, olds - 1) : 1)
      const worth = one.facts.map(({ number, worth, alone }) => ({
        number,
        alone,
        worth: worth * standing[number]!,
      }))
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
  return { candidates, weights, facts: keys.known.size, sources: sources.length }
}
