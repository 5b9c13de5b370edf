/** Cuts a long text down to the part that fits a query best. */
import { termsOf } from "../search/terms.js"

/** Marks where text is left out. */
export const ellipsis = "…"

/** The longest piece, in UTF-16 code units. A line or a sentence up to this length is one piece. */
const longestPiece = 200

/** Whether a code unit is the first half of a surrogate pair, behind which no text is cut. */
export const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** The pieces of a text: its sentences and lines, with the white space after them. Together they are the text. */
const piecesOf = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const [sentence] of text.matchAll(/[^\n.!?。！？；]*(?:[\n。！？；]+|[.!?]+(?:\s+|$)|[.!?]+|$)/gu)) {
    for (let at = 0; at < sentence.length;) {
      let end = Math.min(at + longestPiece, sentence.length)
      if (end < sentence.length && isHigh(sentence.charCodeAt(end - 1))) end--
      found.push(sentence.slice(at, end))
      at = end
    }
  }
  return found
}

/**
 * The part of a text around the piece with most of the query's terms, of at most `most` by `size`; its ends are marked
 * where text is left out. Empty if not even a piece fits.
 *
 * @param text - the text
 * @param terms - the terms of the query
 * @param size - the size of a text, in tokens for instance
 * @param most - the largest size of the result
 * @param start - where the excerpt begins if no piece has a term, in UTF-16 code units
 */
export const excerpt = (
  text: string,
  terms: ReadonlyArray<string>,
  size: (text: string) => number,
  most: number,
  start = 0,
): string => {
  const pieces = piecesOf(text)
  const wanted = new Set(terms)
  const worth = pieces.map((piece) => new Set(termsOf(piece).filter((term) => wanted.has(term))).size)
  let best = 0
  for (const [at, value] of worth.entries()) if (value > worth[best]!) best = at
  for (let begin = 0; worth[best] === 0 && begin + pieces[best]!.length <= start && best + 1 < pieces.length;)
    begin += pieces[best++]!.length
  let [from, to] = [best, best + 1]
  const shown = (from: number, to: number): string =>
    [
      from > 0 ? `${ellipsis} ` : "",
      pieces.slice(from, to).join("").trim(),
      to < pieces.length ? ` ${ellipsis}` : "",
    ].join("")
  const fits = (from: number, to: number): boolean => size(shown(from, to)) <= most
  if (!fits(from, to)) return ""
  // Grows towards the side that has more of the terms; what follows explains more often than what came before.
  for (;;) {
    const before = from > 0 && fits(from - 1, to)
    const after = to < pieces.length && fits(from, to + 1)
    if (!before && !after) return shown(from, to)
    if (after && (!before || worth[to]! >= worth[from - 1]!)) to++
    else from--
  }
}
