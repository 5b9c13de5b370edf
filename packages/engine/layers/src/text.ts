/** Cuts text to a length without splitting a character. */

/** Whether a cut before this unit would halve a character. */
const halves = (text: string, at: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1))

/** The first `length` UTF-16 units; a surrogate pair that does not fit whole is left out. */
export const head = (text: string, length: number): string =>
  text.slice(0, halves(text, length) ? length - 1 : length)

/** The last `length` UTF-16 units, likewise. */
export const tail = (text: string, length: number): string => {
  if (text.length <= length) return text
  const start = text.length - length
  return text.slice(halves(text, start) ? start + 1 : start)
}

/** The text on one line, without control characters, doubled spaces and lone surrogates. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\ufffd/gu, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()

const sentenceEnd = /[.!?](?=\s)|[。！？；]/gu
const clauseEnd = /[,;:](?=\s)|[，、：]|\s/gu

const lastEnd = (text: string, ends: RegExp): number => {
  let last = 0
  for (const { index } of text.matchAll(ends)) last = index + 1
  return last
}

/**
 * At most `length` UTF-16 units on one line. A longer text ends with its last whole sentence if that leaves more than
 * half of it; else with its last whole word and "…"; in a script without spaces, at the limit.
 */
export const clip = (text: string, length: number): string => {
  const line = oneLine(text)
  if (line.length <= length) return line
  const kept = head(line, length - 1)
  // One more character shows whether a sentence or a word ends right at the cut.
  const seen = line.slice(0, kept.length + 1)
  const sentence = Math.min(lastEnd(seen, sentenceEnd), kept.length)
  if (sentence > length / 2) return kept.slice(0, sentence)
  const clause = Math.min(lastEnd(seen, clauseEnd), kept.length)
  const cut = clause > length / 2 ? kept.slice(0, clause) : kept
  return `${cut.replace(/(?<![\s,;:，、：])[\s,;:，、：]+$/u, "")}…`
}
