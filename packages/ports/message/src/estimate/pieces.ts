/** Where the pieces of a text end, what a jumble is, and which words speak for a less common language. */
import { capital, digit, flags, kindAt, latin, newline, punctuation } from "./characters.js"

/** No vocabulary holds a word of more letters than this. */
export const longestWord = 32

/** A jumble has at least this many characters, in pieces of fewer than three on average. */
const jumbleLength = 16
const jumblePiece = 3

/** Evidence in ASCII spelling: `aa`, `ij`, `uu`; and a `j`, `k`, `w` or `z` in a word that ends in `a`, `i`, `o`, `u`. */
const digraphEvidence = 0.16
const endingEvidence = 0.7
/**
 * Evidence by letter: 1 is decisive for the next words, smaller values add up. The accents of French, Spanish and Portuguese
 * weigh little, because the vocabulary knows these languages well.
 */
const letterEvidence = new Float32Array(0x530)
const setEvidence = (letters: string, weight: number): void => {
  for (const letter of letters) letterEvidence[letter.charCodeAt(0)] = weight
}
letterEvidence.fill(0.1, 0xc0, 0x100)
setEvidence("ÄÅÆÐÖØÜÞßäåæðöøüþ", 0.36)
letterEvidence.fill(1, 0x100, 0x250)
letterEvidence.fill(1, 0x400, 0x530)
// The Russian alphabet, without the hard sign: it is rare in Russian and common in Bulgarian.
letterEvidence.fill(0, 0x410, 0x450)
setEvidence("Ёё", 0)
setEvidence("Ъъ", 1)

const rareInEnglish = flags("jkwz")
const vowelRareAtEnd = flags("aiou")
const vowelRareTwice = flags("au")
const insideIds = flags("+-/=_")

/** The end of the run of one kind that starts at `from`. */
export const endOfRun = (text: string, from: number, kind: number): number => {
  let at = from + 1
  while (at < text.length && kindAt(text, at) === kind) at++
  return at
}

/** Whether a Latin word ends before `at`, because a capital follows a small letter. */
const capitalStarts = (text: string, at: number): boolean =>
  capital[text.charCodeAt(at)] === 1 && capital[text.charCodeAt(at - 1)] !== 1

export const endOfLatin = (text: string, from: number): number => {
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
export const endOfPlainWord = (text: string, from: number): number => {
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
export const isBetweenWords = (text: string, from: number): boolean => {
  if (from + 1 === text.length) return false
  const next = kindAt(text, from + 1)
  return next > newline && next !== digit
}

/** The end of a run of Latin letters, digits and the separators used in base64 and ids. */
export const endOfId = (text: string, from: number): number => {
  let at = from + 1
  for (; at < text.length; at++) {
    const kind = kindAt(text, at)
    if (kind !== latin && kind !== digit && insideIds[text.charCodeAt(at)] !== 1) break
  }
  return at
}

/** Whether a run changes between small letters, capitals and digits too often to consist of words. */
export const isJumble = (text: string, from: number, to: number): boolean => {
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
export const evidence = (text: string, from: number, to: number): number => {
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
