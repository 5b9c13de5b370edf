/** What the pieces of a text cost, in tokens. */
import { digit, kindAt, latin, newline, punctuation, type Rate, space } from "./characters.js"
import { longestWord } from "./pieces.js"

/** The price of a word in capitals: the vocabulary holds few of them whole. */
export const capitals: Rate = { free: 2, rate: 0.22 }

/** The price of each letter beyond the longest word: that of random letters. */
const beyondWords = 0.51

/** The price of letters mixed with digits, as in base64 and digests, which contain no words. */
export const jumbled: Rate = { free: 1, rate: 0.5 }

/** A run of punctuation takes 1 token for its first two different characters, and this for each further change. */
const punctuationChange = 0.42
/** A punctuation character right before a Latin word, as in `.name`, is part of the word's token about half the time. */
const punctuationPrefix = 0.55
/** In a run of equal characters of punctuation or white space, one token holds at least this many; of line breaks, fewer. */
const equalInOneToken = 40
export const breaksInOneToken = 16
const tabsInOneToken = 16

/** In a run of white space, each change of the character costs this, one inside CRLF half of it, and one of rare white space twice. */
const spaceChange = 0.5
/** Changes of this price are in the price of a line break with the indentation after it. */
const usualChanges = 1

/**
 * The price of a box-drawing character: 1 for the first of a run if the vocabulary holds it with a space before it, and 2 for any other
 * one; then that of a line, or of any other character, behind another character.
 */
const firstBoxes: ReadonlySet<number> = new Set([..."─│├└═║█░"].map((one) => one.charCodeAt(0)))
const lineBoxes: ReadonlySet<number> = new Set([..."─│═║█░"].map((one) => one.charCodeAt(0)))
const lineBox = 0.8
const otherBox = 1.6
/** The characters that one token holds several of. All others take a token each. */
const equalBoxes: ReadonlyMap<number, number> = new Map(
  (
    [
      ["─", 0.3],
      ["█", 0.3],
      ["═", 0.4],
      ["━", 0.4],
    ] as const
  ).map(([one, each]) => [one.charCodeAt(0), each]),
)

const backslash = "\\".charCodeAt(0)
const apostrophes = "'’"

export const price = ({ free, rate }: Rate, length: number): number => 1 + rate * Math.max(0, length - free)

/** The letters of a Latin word that have the price of a word; more of them are none. */
export const wordLength = (length: number): number => Math.min(length, longestWord)
export const priceBeyond = (length: number): number => beyondWords * Math.max(0, length - longestWord)

/** The price of white space in `[from, to)`: a token up to the last line break, and one for the indentation after it. */
export const priceOfSpace = (text: string, from: number, to: number, before: number): number => {
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
export const priceOfBoxes = (text: string, from: number, to: number): number => {
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
export const priceOfPunctuation = (text: string, from: number, to: number, before: number): number => {
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
