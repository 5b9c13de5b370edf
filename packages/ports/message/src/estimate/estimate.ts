/**
 * Estimates the tokens of a text without a vocabulary.
 *
 * One pass cuts the text where a byte-pair tokenizer cuts it before its vocabulary look-up: into words (a capital after
 * a small letter starts another word), digits, punctuation and white space. The class and the length of a piece give
 * its tokens. The constants were fitted to `o200k_base`, the vocabulary of OpenAI's models since GPT-4o.
 */

import {
  boxes,
  capital,
  digit,
  english,
  firstScript,
  kindAt,
  latin,
  newline,
  otherLatin,
  punctuation,
  scripts,
  space,
} from "./characters.js"
import {
  endOfId,
  endOfLatin,
  endOfPlainWord,
  endOfRun,
  evidence,
  isBetweenWords,
  isJumble,
} from "./pieces.js"
import {
  breaksInOneToken,
  capitals,
  jumbled,
  price,
  priceBeyond,
  priceOfBoxes,
  priceOfPunctuation,
  priceOfSpace,
  wordLength,
} from "./prices.js"
import { remembered } from "../remembered.js"

/** Makes the estimate lean high: an estimate too high compacts early, one too low overflows the context window. */
const margin = 1.02

/** The share of the evidence for a less common language that remains from one word to the next. */
const memory = 0.925

/**
 * Estimates the tokens of a text from its characters alone. It is the default token counter, and the fallback for a
 * counter that fails. It takes time linear in the length and never throws.
 *
 * The estimate leans high. Its error against `o200k_base`, on samples of at least a hundred tokens for
 * each language and format (the tests of `packages/engine/tokens-gpt` hold it to these bounds):
 *
 * | class                                          | error          |
 * | ---------------------------------------------- | -------------- |
 * | prose in 33 languages                          | -14 % to +15 % |
 * | source code, SQL, HTML, diffs                  | +3 % to +20 %  |
 * | JSON                                           | +3 % to +14 %  |
 * | shell and test output, logs, tables, YAML, CSV | -2 % to +11 %  |
 * | URLs, ids, digests, base64, emoji, symbols     | -8 % to +12 %  |
 *
 * The constants were fitted to these samples. On translated program messages outside the fit (two programs, 20
 * languages), the error was -13 % to +15 %; on recorded chats and coding sessions, where single errors cancel out,
 * 0 to +7 %.
 *
 * The worst cases: the estimate is a third too low for Latin and Uyghur, a fifth to a quarter too low for Welsh, Yoruba
 * and Irish, and 60 % to 70 % too low for rare Chinese characters and random Korean syllables. It is up to half too high
 * for English with a foreign word in every line, and four times too high for one letter repeated: letters that form no
 * word have the price of random ones. Lines of nothing but white space, and long lines of one box-drawing character, count up to
 * five times too high.
 *
 * Where a limit is guarded, the estimate counts with a margin (`TokenCounter.estimateMargin`).
 *
 * Other vendors' vocabularies differ: in one recorded coding session, Claude Opus 4.5 took 1.22 times the tokens of
 * `o200k_base`. If a provider reports usage, that number is used instead.
 *
 * @param text any text; a lone surrogate counts like any other character
 * @returns a whole number: 0 for the empty text, at least 1 for any other
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
 *
 * console.log(TokenCounter.estimating.count("How many tokens is this?"))
 * ```
 */
export const estimate = (text: string): number => estimateFrom(text, start, null)

/** How many code units are estimated in a step, or as far as the word goes that stands there. */
const stepLength = 65_536

/** {@link estimate} in steps: it yields wherever other work may run in between. */
export function* estimateInSteps(text: string, step = stepLength): Generator<undefined, number> {
  let reached = start
  while (reached.from < text.length) {
    reached = reach(text, reached, null, reached.from + step)
    yield
  }
  return rounded(text, reached.tokens)
}

/** A place that an estimate has come to, and all that it goes on with. */
interface Reached {
  readonly from: number
  readonly tokens: number
  /** How unfamiliar the language of the words so far is to the vocabulary: 0 for English, 1 for most others. */
  readonly unfamiliar: number
  /** The end of the latest run that could be an id, and whether it is a jumble. */
  readonly idEnd: number
  readonly jumble: boolean
  readonly before: number
}

const start: Reached = { from: 0, tokens: 0, unfamiliar: 0, idEnd: 0, jumble: false, before: newline }

/** How many code units there are between two places at which a later estimate can go on. */
const betweenPlaces = 32

/**
 * Makes a function that estimates one text after the other, each as {@link estimate} does. What a text has at its start in common with
 * the one before is not estimated again: for texts that grow at their end, such as a summary of ever more blocks.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
 *
 * const count = TokenCounter.growing()
 * console.log(count("She lives in Graz."), count("She lives in Graz. She is looking for a flat."))
 * ```
 */
export const growing = (): ((text: string) => number) => {
  const places: Array<Reached> = []
  let known = ""
  return (text) => {
    // An estimate looks one unit beyond a word or an id, and no further.
    const isShared = ({ from, idEnd }: Reached): boolean => {
      const looked = Math.max(from, idEnd) + 2
      return looked <= known.length && text.startsWith(known.slice(0, looked))
    }
    let place = places.at(-1)
    for (; place !== undefined && !isShared(place); place = places.at(-1)) places.pop()
    known = text
    return estimateFrom(text, place ?? start, places)
  }
}

/** What is so close to the middle between two numbers is rounded as the sum from left to right is. */
const closeToMiddle = 1e-6

/** Where a line ends that can be estimated by itself, and where the next one begins: no other white space is at their ends. */
const endOfLine = (text: string, from: number): readonly [end: number, next: number] => {
  for (let end = text.indexOf("\n", from); end !== -1;) {
    const next = endOfEqual(text, end)
    const isAlone = end > 0 && kindAt(text, end - 1) > newline
    if (isAlone && next - end < breaksInOneToken && (next === text.length || kindAt(text, next) > newline))
      return [end, next]
    end = text.indexOf("\n", next)
  }
  return [text.length, text.length]
}

const endOfEqual = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && text.charCodeAt(at) === text.charCodeAt(from)) at++
  return at
}

/**
 * Makes a function that estimates texts which have lines in common, each as {@link estimate} does: such as the texts that a summary of a
 * limited size is chosen from. A line is estimated once, as long as no word of an unfamiliar language stands before it.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/message"
 *
 * const count = TokenCounter.byLine()
 * console.log(count("- She lives in Graz."), count("- She lives in Graz.\n- She is looking for a flat."))
 * ```
 */
export const byLine = (): ((text: string) => number) => {
  const ofLine = remembered((line) => reach(line, start, null))
  return (text) => {
    let tokens = 0
    for (let from = 0; from < text.length;) {
      const [end, next] = endOfLine(text, from)
      const found = ofLine(text.slice(from, end))
      tokens += found.tokens
      if (end === text.length) break
      // A line break right after punctuation is in its token.
      if (found.before !== punctuation) tokens++
      from = next
      if (found.unfamiliar > 0)
        return estimateFrom(text, { ...start, from, tokens, unfamiliar: found.unfamiliar, idEnd: from }, null)
    }
    const isInTheMiddle = Math.abs(((tokens * margin) % 1) - 0.5) < closeToMiddle
    return isInTheMiddle ? estimate(text) : rounded(text, tokens)
  }
}

const rounded = (text: string, tokens: number): number =>
  text === "" ? 0 : Math.max(1, Math.round(tokens * margin))

const estimateFrom = (text: string, reached: Reached, places: Array<Reached> | null): number =>
  rounded(text, reach(text, reached, places).tokens)

/**
 * @param places takes the places that the estimate comes to, if somebody wants to go on from there
 * @param until where it may stop: behind the first piece that reaches it
 */
const reach = (
  text: string,
  reached: Reached,
  places: Array<Reached> | null,
  until = text.length,
): Reached => {
  let { from, tokens, unfamiliar, idEnd, jumble, before } = reached
  const end = Math.min(until, text.length)
  let next = places === null ? Number.POSITIVE_INFINITY : from + betweenPlaces
  while (from < end) {
    if (from >= next) {
      places?.push({ from, tokens, unfamiliar, idEnd, jumble, before })
      next = from + betweenPlaces
    }
    const kind = kindAt(text, from)
    if (kind === latin && from >= idEnd) {
      const word = endOfPlainWord(text, from)
      if (word !== 0) {
        const to = Math.abs(word)
        const length = to - from
        if (word < 0 || unfamiliar > 0) {
          const told = word < 0 ? evidence(text, from, to) : 0
          unfamiliar = Math.min(1, unfamiliar * (length > 1 ? memory : 1) + told)
          tokens += (1 - unfamiliar) * price(english, length) + unfamiliar * price(otherLatin, length)
        } else tokens += price(english, length)
        before = latin
        from = to
        continue
      }
    }
    if (kind === space && isBetweenWords(text, from)) {
      before = space
      from++
      continue
    }
    let to = from
    if (from >= idEnd && (kind === latin || kind === digit)) {
      idEnd = endOfId(text, from)
      jumble = isJumble(text, from, idEnd)
    }
    if (kind === space || kind === newline) {
      do to++
      while (to < text.length && kindAt(text, to) <= newline)
      tokens += priceOfSpace(text, from, to, before)
    } else if (kind === digit) {
      to = endOfRun(text, from, kind)
      tokens += Math.ceil((to - from) / 3)
    } else if (kind === punctuation) {
      to = endOfRun(text, from, kind)
      tokens += priceOfPunctuation(text, from, to, before)
    } else {
      const row = scripts[kind - firstScript]!
      to = kind === latin ? endOfLatin(text, from) : endOfRun(text, from, kind)
      const length = kind === latin && !jumble ? wordLength(to - from) : to - from
      if (kind === latin && !jumble) tokens += priceBeyond(to - from)
      if (kind === boxes) tokens += priceOfBoxes(text, from, to)
      else if (row.unfamiliar === undefined) tokens += price(row, length)
      else if (jumble && kind === latin) tokens += price(jumbled, length)
      else if (length > 1 && capital[text.charCodeAt(to - 1)] === 1) tokens += price(capitals, length)
      else {
        unfamiliar = Math.min(1, unfamiliar * (length > 1 ? memory : 1) + evidence(text, from, to))
        tokens += (1 - unfamiliar) * price(row, length) + unfamiliar * price(row.unfamiliar, length)
      }
    }
    before = kindAt(text, to - 1)
    from = to
  }
  return { from, tokens, unfamiliar, idEnd, jumble, before }
}
