/**
 * What must not be lost from a text, found by its form alone: identifiers, amounts, dates, addresses, paths,
 * names and quotations. No word list of any language is involved.
 */

import { ascii } from "./text.js"

/** A fact as it is written, folded for comparison, and how much it would hurt to lose it (0 to 3). */
export interface Fact {
  readonly key: string
  readonly written: string
  readonly worth: number
  /** Whether it is a name or a quotation, which only means something with its words. */
  readonly named: boolean
  /** Whether it says something without the words around it: an identifier, an address, a path; not a bare number. */
  readonly alone: boolean
}

/** Letters of the alphabets that appear in identifiers; Han characters beside a number are its unit. */
const alphanumeric = "\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{Nd}"
const tokensOf = (letters: string, flags: string): RegExp =>
  new RegExp(`[${letters}_]+(?:[-_.:/,@#+][${letters}_]+)*`, flags)
const token = tokensOf(alphanumeric, "gu")
const asciiToken = tokensOf("A-Za-z0-9", "g")
const address = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|\bhttps?:\/\/[^\s<>"'，。）】」)]+/giu
const path = /(?:~|\.{1,2})?(?:\/[\w.@-]+){2,}|(?:[\w@.-]+\/)+[\w@-]+\.\w+/gu
/** A capital inside a sentence; the first word of one is capital anyway. */
const name = /(?<=[\p{L}\p{N},;，]\s?)(?:\p{Lu}\p{Ll}+)(?:[ -]\p{Lu}\p{Ll}+)*/gu
const asciiName = /(?<=[A-Za-z0-9,;]\s?)(?:[A-Z][a-z]+)(?:[ -][A-Z][a-z]+)*/g
const quotes = /[「『《“«`]/u
const quoted = /「[^」]{2,40}」|『[^』]{2,40}』|《[^》]{2,40}》|“[^”]{2,40}”|«[^»]{2,40}»|`[^`]{2,60}`/gu

/** A token without a digit is worth something only in code. */
const ofCode = /\p{Ll}\p{Lu}|[\p{L}\p{N}]_[\p{L}\p{N}]/u
const asciiOfCode = /[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]/

const digitsIn = (written: string): number => {
  if (!ascii.test(written)) return written.match(/\p{Nd}/gu)?.length ?? 0
  let digits = 0
  for (let at = 0; at < written.length; at++) {
    const code = written.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) digits++
  }
  return digits
}

const worthOfToken = (written: string, isAscii: boolean): number => {
  const digits = digitsIn(written)
  if (digits === 0) return (isAscii ? asciiOfCode : ofCode).test(written) ? 0.6 : 0
  if (written.length > 48) return 0.5
  if (digits >= 2 && written.length >= 4 && /\p{L}/u.test(written)) return 3
  if (digits >= 5) return 2.5
  // 20:00, 118.94 and 2026-03 say more than a bare number of the same length.
  if (digits >= 4 || (digits === 3 && !/^\p{Nd}+$/u.test(written))) return 1.3
  return digits === 3 ? 0.6 : digits === 2 ? 0.3 : 0.15
}

/** The facts of a short text, each once. */
export const facts = (text: string): ReadonlyArray<Fact> => {
  const isAscii = ascii.test(text)
  const found = new Map<string, Fact>()
  const add = (written: string, worth: number, named = false): void => {
    if (worth === 0) return
    const key = (isAscii ? written : written.normalize("NFKC")).toLowerCase()
    if (worth > (found.get(key)?.worth ?? 0)) {
      found.set(key, { key, written, worth, named, alone: worth >= 1.5 })
    }
  }
  for (const written of text.match(isAscii ? asciiToken : token) ?? [])
    add(written, worthOfToken(written, isAscii))
  // Most texts have none of these, and a character tells that at once.
  if (text.includes("@") || text.includes("://"))
    for (const written of text.match(address) ?? []) add(written, 2.5)
  if (text.includes("/")) for (const written of text.match(path) ?? []) add(written, 1.5)
  for (const written of text.match(isAscii ? asciiName : name) ?? []) add(written, 1, true)
  if (quotes.test(text)) for (const written of text.match(quoted) ?? []) add(written, 0.6, true)
  return [...found.values()]
}
