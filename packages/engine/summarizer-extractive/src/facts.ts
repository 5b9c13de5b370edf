/**
 * What must not be lost from a text, found by its form alone: identifiers, amounts, dates, addresses, paths,
 * names and quotations. No word list of any language is involved.
 */

/** A fact as it is written, folded for comparison, and how much it would hurt to lose it (0 to 3). */
export interface Fact {
  readonly key: string
  /** As it stands in the text. */
  readonly written: string
  readonly worth: number
  /** Whether it is a name or a quotation, which only means something with its words. */
  readonly named: boolean
  /** Whether it says something without the words around it: an identifier, an address, a path; not a bare number. */
  readonly alone: boolean
}

/** Letters of the alphabets that appear in identifiers; Han characters beside a number are its unit. */
const alphanumeric = "\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{Nd}"
const token = new RegExp(`[${alphanumeric}_]+(?:[-_.:/,@#+][${alphanumeric}_]+)*`, "gu")
const address = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|\bhttps?:\/\/[^\s<>"'，。）】」)]+/giu
const path = /(?:~|\.{1,2})?(?:\/[\w.@-]+){2,}|(?:[\w@.-]+\/)+[\w@-]+\.\w+/gu
/** A capital inside a sentence; the first word of one is capital anyway. */
const name = /(?<=[\p{L}\p{N},;，]\s?)(?:\p{Lu}\p{Ll}+)(?:[ -]\p{Lu}\p{Ll}+)*/gu
const quoted = /「[^」]{2,40}」|『[^』]{2,40}』|《[^》]{2,40}》|“[^”]{2,40}”|«[^»]{2,40}»|`[^`]{2,60}`/gu

const worthOfToken = (written: string): number => {
  const digits = written.match(/\p{Nd}/gu)?.length ?? 0
  const letters = /\p{L}/u.test(written)
  if (digits === 0) return /\p{Ll}\p{Lu}|[\p{L}\p{N}]_[\p{L}\p{N}]/u.test(written) ? 0.6 : 0
  if (written.length > 48) return 0.5
  if (letters && digits >= 2 && written.length >= 4) return 3
  if (digits >= 5) return 2.5
  // 20:00, 118.94 and 2026-03 say more than a bare number of the same length.
  if (digits >= 4 || (digits === 3 && !/^\p{Nd}+$/u.test(written))) return 1.3
  return digits === 3 ? 0.6 : digits === 2 ? 0.3 : 0.15
}

/** The facts of a short text, each once. */
export const facts = (text: string): ReadonlyArray<Fact> => {
  const found = new Map<string, Fact>()
  const add = (written: string, worth: number, named = false): void => {
    const key = written.normalize("NFKC").toLowerCase()
    if (worth > (found.get(key)?.worth ?? 0)) {
      found.set(key, { key, written, worth, named, alone: worth >= 1.5 })
    }
  }
  for (const [written] of text.matchAll(token)) add(written, worthOfToken(written))
  for (const [written] of text.matchAll(address)) add(written, 2.5)
  for (const [written] of text.matchAll(path)) add(written, 1.5)
  for (const [written] of text.matchAll(name)) add(written, 1, true)
  for (const [written] of text.matchAll(quoted)) add(written, 0.6, true)
  return [...found.values()]
}
