/**
 * Estimates the tokens of a text without a vocabulary.
 *
 * One pass cuts the text where a byte-pair tokenizer cuts it before its vocabulary look-up: into words (a capital after
 * a small letter starts another word), digits, punctuation and white space. The class and the length of a piece give
 * its tokens. The constants were fitted to `o200k_base`, the vocabulary of OpenAI's models since GPT-4o.
 */

import { remembered } from "./remembered.js"

/**
 * The price of a word, in tokens: 1 for up to `free` UTF-16 code units, plus `rate` for each further one. The better a
 * vocabulary covers a script, the longer its whole-word entries are.
 */
interface Rate {
  readonly free: number
  readonly rate: number
}

/**
 * A script: its code units as hexadecimal ranges, both ends included (if scripts overlap, the later one wins), and its
 * price. `unfamiliar` is the price in the less common languages of the script, which {@link evidence} detects.
 */
const script = (name: string, codeUnits: string, free: number, rate: number, unfamiliar?: Rate) => ({
  name,
  codeUnits,
  free,
  rate,
  unfamiliar,
})

/** English words of a dozen letters are one token; the rate comes from the long names in source code. */
const english: Rate = { free: 8, rate: 0.16 }
const otherLatin: Rate = { free: 2.5, rate: 0.342 }

const codesOf = (characters: string): ReadonlyArray<number> => [...characters].map((one) => one.charCodeAt(0))

const scripts = [
  // Scripts without a row below take a token per UTF-8 byte: an upper bound.
  script("other, two bytes", "80-7ff", 0.5, 2),
  script("other, three bytes", "800-ffff", 1 / 3, 3),
  script("control", "0-1f", 1, 1),
  script("Latin", "41-5a 61-7a c0-d6 d8-f6 f8-24f 1e00-1eff", english.free, english.rate, otherLatin),
  script("combining marks", "300-36f", 1, 1.6),
  script("Greek", "370-3ff", 2, 0.37),
  script("Cyrillic", "400-52f", 2, 0.13, { free: 2, rate: 0.35 }),
  script("Armenian", "530-58f", 2, 0.29),
  script("Hebrew", "590-5ff", 2, 0.4),
  script("Arabic", "600-6ff", 2, 0.29),
  script("Devanagari", "900-97f", 2, 0.24),
  script("Bengali", "980-9ff", 2, 0.29),
  script("Gurmukhi", "a00-a7f", 2, 0.76),
  script("Gujarati", "a80-aff", 2, 0.35),
  script("Tamil", "b80-bff", 2, 0.32),
  script("Telugu and Kannada", "c00-cff", 2, 0.46),
  script("Malayalam", "d00-d7f", 2, 0.33),
  script("Sinhala", "d80-dff", 2, 0.85),
  script("Thai", "e00-e7f", 2, 0.41),
  script("Lao", "e80-eff", 1, 1.9),
  script("Tibetan", "f00-fff", 1, 1.6),
  script("Burmese", "1000-109f", 2, 0.6),
  script("Georgian", "10a0-10ff", 2, 0.31),
  script("Ethiopic", "1200-137f", 0.5, 2),
  script("Khmer", "1780-17ff", 2, 0.66),
  script("zero width", "200b-200f", 1, 1),
  script("symbols", "2070-22ff 2460-24ff 25a0-27bf", 0.8, 1.6),
  script("box drawing", "2500-259f", 1, 0.3),
  script("CJK punctuation, full width", "3001-303f ff01-ff60", 1, 0.8),
  script("kana", "3040-30ff", 1, 0.52),
  // Everyday characters: many pairs are one token. Rare characters take 2 each.
  script("Han", "4e00-9fff", 1, 0.79),
  script("Hangul", "ac00-d7a3", 1, 0.64),
  // Surrogate pairs: 2 tokens for an emoji, 4 for any other character, divided between the two halves.
  script("high surrogate", "d800-dbff", 0, 2),
  script("high surrogate of an emoji", "d83c-d83e", 1, 1),
  script("low surrogate", "dc00-dfff", 1, 1),
  script("variation selector", "fe00-fe0f", 1, 1),
]

/** The price of a word in capitals: the vocabulary holds few of them whole. */
const capitals: Rate = { free: 2, rate: 0.22 }

/** No vocabulary holds a word of more letters than this. Each further one has the price of random letters. */
const longestWord = 32
const beyondWords = 0.51

/** The price of letters mixed with digits, as in base64 and digests, which contain no words. */
const jumbled: Rate = { free: 1, rate: 0.5 }
/** A jumble has at least this many characters, in pieces of fewer than three on average. */
const jumbleLength = 16
const jumblePiece = 3

/** A run of punctuation takes 1 token for its first two different characters, and this for each further change. */
const punctuationChange = 0.42
/** A punctuation character right before a Latin word, as in `.name`, is part of the word's token about half the time. */
const punctuationPrefix = 0.55
/** In a run of equal characters of punctuation or white space, one token holds at least this many; of line breaks, fewer. */
const equalInOneToken = 40
const breaksInOneToken = 16
const tabsInOneToken = 16

/** In a run of white space, each change of the character costs this, one inside CRLF half of it, and one of rare white space twice. */
const spaceChange = 0.5
/** Changes of this price are in the price of a line break with the indentation after it. */
const usualChanges = 1

/**
 * The price of a box-drawing character: 1 for the first of a run if the vocabulary holds it with a space before it, and 2 for any other
 * one; then that of a line, or of any other character, behind another character.
 */
const firstBoxes: ReadonlySet<number> = new Set(codesOf("─│├└═║█░"))
const lineBoxes: ReadonlySet<number> = new Set(codesOf("─│═║█░"))
const lineBox = 0.8
const otherBox = 1.6
/** The characters that one token holds several of. All others take a token each. */
const equalBoxes: ReadonlyMap<number, number> = new Map([
  ...codesOf("─█").map((code) => [code, 0.3] as const),
  ...codesOf("═━").map((code) => [code, 0.4] as const),
])

/** Makes the estimate lean high: an estimate too high compacts early, one too low overflows the context window. */
const margin = 1.02

/** The share of the evidence for a less common language that remains from one word to the next. */
const memory = 0.925
/** Evidence in ASCII spelling: `aa`, `ij`, `uu`; and a `j`, `k`, `w` or `z` in a word that ends in `a`, `i`, `o`, `u`. */
const digraphEvidence = 0.16
const endingEvidence = 0.7
/**
 * Evidence by letter: 1 is decisive for the next words, smaller values add up. The accents of French, Spanish and Portuguese
 * weigh little, because the vocabulary knows these languages well.
 */
const letterEvidence = new Float32Array(0x530)
const setEvidence = (letters: string, weight: number): void => {
  for (const code of codesOf(letters)) letterEvidence[code] = weight
}
letterEvidence.fill(0.1, 0xc0, 0x100)
setEvidence("ÄÅÆÐÖØÜÞßäåæðöøüþ", 0.36)
letterEvidence.fill(1, 0x100, 0x250)
letterEvidence.fill(1, 0x400, 0x530)
// The Russian alphabet, without the hard sign: it is rare in Russian and common in Bulgarian.
letterEvidence.fill(0, 0x410, 0x450)
setEvidence("Ёё", 0)
setEvidence("Ъъ", 1)

// The kind of a code unit is one of these, or `firstScript` plus the index of its script in `scripts`.
const space = 0
const newline = 1
const digit = 2
const punctuation = 3
const firstScript = 4
const latin = firstScript + scripts.findIndex(({ name }) => name === "Latin")
const boxes = firstScript + scripts.findIndex(({ name }) => name === "box drawing")

const kinds = new Uint8Array(0x1_0000).fill(punctuation)
scripts.forEach(({ codeUnits }, index) => {
  for (const range of codeUnits.split(" ")) {
    const [first = 0, last = 0] = range.split("-").map((code) => Number.parseInt(code, 16))
    kinds.fill(firstScript + index, first, last + 1)
  }
})
kinds.fill(punctuation, 0xa1, 0xc0)
kinds.fill(punctuation, 0x2010, 0x2070)
kinds[0xfffd] = punctuation
kinds.fill(digit, 0x30, 0x3a)
kinds.fill(space, 0x09, 0x0e)
for (const code of [0x20, 0xa0, 0x3000]) kinds[code] = space
for (const code of [0x0a, 0x0d]) kinds[code] = newline

const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? punctuation

/** A table that has 1 for the given ASCII characters. */
const flags = (characters: string): Uint8Array => {
  const table = new Uint8Array(0x80)
  for (const code of codesOf(characters)) table[code] = 1
  return table
}
const capital = flags("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
const rareInEnglish = flags("jkwz")
const vowelRareAtEnd = flags("aiou")
const vowelRareTwice = flags("au")
const insideIds = flags("+-/=_")
const backslash = "\\".charCodeAt(0)
const apostrophes = "'’"

/** The end of the run of one kind that starts at `from`. */
const endOfRun = (text: string, from: number, kind: number): number => {
  let at = from + 1
  while (at < text.length && kindAt(text, at) === kind) at++
  return at
}

/** Whether a Latin word ends before `at`, because a capital follows a small letter. */
const capitalStarts = (text: string, at: number): boolean =>
  capital[text.charCodeAt(at)] === 1 && capital[text.charCodeAt(at - 1)] !== 1

const endOfLatin = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && kindAt(text, at) === latin && !capitalStarts(text, at)) at++
  return at
}

/** For each code unit: 0 if it is no small letter, 2 for small letters that are rare in English, 1 for the other ones. */
const smallLetters = new Uint8Array(0x1_0000).fill(1, 0x61, 0x7b)
for (const [code, isRare] of rareInEnglish.entries()) if (isRare === 1) smallLetters[code] = 2

/**
 * The end of a word of small letters, with or without a capital at its start, that is no part of an id; 0 if there is none of
 * at most {@link longestWord} letters. It is negative if the letters may be {@link evidence}. Most words are plain and are
 * none: they skip the look at ids, cases, languages, and prices beyond words.
 */
const endOfPlainWord = (text: string, from: number): number => {
  let before = text.charCodeAt(from)
  const first = smallLetters[before]
  if (first === 0 && capital[before] !== 1) return 0
  let tells = first === 2
  let at = from + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const letter = smallLetters[code]
    if (letter === 0) break
    if (letter === 2 || (code === before && vowelRareTwice[code] === 1)) tells = true
    before = code
  }
  if (at - from > longestWord) return 0
  if (at < text.length) {
    const kind = kindAt(text, at)
    if (kind > newline && (kind !== punctuation || insideIds[text.charCodeAt(at)] === 1)) return 0
  }
  return tells && first !== 0 ? -at : at
}

/** Whether the white space at `from` is a single space that belongs to the token of the next piece. */
const isBetweenWords = (text: string, from: number): boolean => {
  if (from + 1 === text.length) return false
  const next = kindAt(text, from + 1)
  return next > newline && next !== digit
}

/** The end of a run of Latin letters, digits and the separators used in base64 and ids. */
const endOfId = (text: string, from: number): number => {
  let at = from + 1
  for (; at < text.length; at++) {
    const kind = kindAt(text, at)
    if (kind !== latin && kind !== digit && insideIds[text.charCodeAt(at)] !== 1) break
  }
  return at
}

/** Whether a run changes between small letters, capitals and digits too often to consist of words. */
const isJumble = (text: string, from: number, to: number): boolean => {
  if (to - from < jumbleLength) return false
  let pieces = 1
  let before = kindAt(text, from)
  for (let at = from + 1; at < to; at++) {
    const kind = kindAt(text, at)
    if (kind === before ? kind === latin && capitalStarts(text, at) : kind === latin || kind === digit)
      pieces++
    before = kind
  }
  return pieces * jumblePiece > to - from
}

const isCapital = (text: string, at: number): boolean =>
  text.charCodeAt(at) < 0x80
    ? capital[text.charCodeAt(at)] === 1
    : text.charAt(at) !== text.charAt(at).toLowerCase()

/** How strongly a word speaks for a less common language, from 0 to 1. */
const evidence = (text: string, from: number, to: number): number => {
  // A single letter is no evidence, and names keep their foreign spelling in English.
  if (to - from < 2 || isCapital(text, from)) return 0
  let strongest = 0
  let rare = false
  let before = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    const weight = code < 0x80 ? 0 : (letterEvidence[code] ?? 0)
    if (weight > strongest) strongest = weight
    if (rareInEnglish[code] === 1) rare = true
    const isDigraph = code === before ? vowelRareTwice[code] === 1 : before === 0x69 && code === 0x6a
    if (isDigraph && strongest < digraphEvidence) strongest = digraphEvidence
    before = code
  }
  return rare && vowelRareAtEnd[before] === 1 && to - from > 3
    ? Math.max(strongest, endingEvidence)
    : strongest
}

const price = ({ free, rate }: Rate, length: number): number => 1 + rate * Math.max(0, length - free)

/** The letters of a Latin word that have the price of a word; more of them are none. */
const wordLength = (length: number): number => Math.min(length, longestWord)
const priceBeyond = (length: number): number => beyondWords * Math.max(0, length - longestWord)

/** The price of white space in `[from, to)`: a token up to the last line break, and one for the indentation after it. */
const priceOfSpace = (text: string, from: number, to: number, before: number): number => {
  let lineStart = to
  while (lineStart > from && kindAt(text, lineStart - 1) !== newline) lineStart--
  // A line break right after punctuation belongs to the punctuation's token; the last space belongs to the token of
  // the next piece, unless that is a number.
  const breaks = lineStart > from && !(before === punctuation && kindAt(text, from) === newline)
  const indents = to - lineStart > 1
  const lastAlone = to > lineStart && (to === text.length || kindAt(text, to) === digit)
  const inOneToken = text.charCodeAt(to - 1) === tab ? tabsInOneToken : equalInOneToken
  const more = Math.floor((lineStart - from) / breaksInOneToken) + Math.floor((to - lineStart) / inOneToken)
  return (breaks ? 1 : 0) + (indents ? 1 : 0) + (lastAlone ? 1 : 0) + more + priceOfChanges(text, from, to)
}

const [tab, lineFeed, verticalTab, formFeed, carriageReturn] = [0x09, 0x0a, 0x0b, 0x0c, 0x0d]

/** Whether white space is neither a space, a tab nor a line break: the vocabulary joins it with nothing. */
const isRareSpace = (code: number): boolean => code > 0x20 || code === verticalTab || code === formFeed

/** What white space in `[from, to)` costs more, because it is no run of line breaks with an indentation. */
const priceOfChanges = (text: string, from: number, to: number): number => {
  if (to - from < 3) return 0
  let changes = 0
  let before = text.charCodeAt(from)
  for (let at = from + 1; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code !== before) {
      const isBreak = before + code === lineFeed + carriageReturn
      changes += spaceChange * (isBreak ? 1 / 2 : isRareSpace(code) || isRareSpace(before) ? 2 : 1)
    } else if (code === verticalTab || code === formFeed) changes++
    before = code
  }
  return Math.max(0, changes - usualChanges)
}

/** The price of box drawing in `[from, to)`. */
const priceOfBoxes = (text: string, from: number, to: number): number => {
  let tokens = 0
  let before = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === before) tokens += equalBoxes.get(code) ?? 1
    else if (at === from) tokens += firstBoxes.has(code) ? 1 : 2
    else tokens += lineBoxes.has(code) ? lineBox : otherBox
    before = code
  }
  return tokens
}

/** The price of the punctuation in `[from, to)`; `before` is the kind of the code unit before it. */
const priceOfPunctuation = (text: string, from: number, to: number, before: number): number => {
  if (to - from === 1) {
    if (to === text.length || kindAt(text, to) !== latin) return 1
    // The tokenizer keeps `can't` in one piece.
    if (before === latin && apostrophes.includes(text.charAt(from))) return 0
    return before === space ? 1 : punctuationPrefix
  }
  let changes = 0
  for (let at = from + 1; at < to; at++) {
    const previous = text.charCodeAt(at - 1)
    // A backslash and the character it escapes count as one, as in JSON inside JSON.
    if (previous !== text.charCodeAt(at) && previous !== backslash) changes++
  }
  const more = Math.floor((to - from - changes) / equalInOneToken)
  return 1 + punctuationChange * Math.max(0, changes - 1) + more
}

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
