/**
 * Cuts texts where the tokenizer would be slow.
 *
 * A byte-pair tokenizer first cuts a text into words, runs of punctuation and white space, and then merges pairs
 * inside each piece. gpt-tokenizer 4 takes time for that which grows with the square of the piece or faster: half a
 * second for one letter repeated 20,000 times, ten seconds for 100,000, more than a minute for 200,000.
 */

/** The most UTF-16 code units of letters, of punctuation or of white space that are counted in one piece. */
export const longRun = 512

/**
 * A run that may be one piece to the tokenizer, or holds several. Punctuation comes with the line breaks and
 * slashes after it, and combining marks belong to letters as well as to punctuation, as they do there. Sticky and
 * never failing, because every character is in one of the classes.
 */
const run = /[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+[\r\n/]*|\s+|\p{N}{1,3}/uy

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/**
 * The text in pieces that make it up again, cut only inside runs of more than {@link longRun}. So nearly every
 * text comes back whole, and cutting it changes no count.
 */
export const splitLongRuns = (text: string): ReadonlyArray<string> => {
  if (text.length <= longRun) return [text]
  const pieces: Array<string> = []
  let pieceStart = 0
  let runStart = 0
  run.lastIndex = 0
  while (run.test(text)) {
    while (run.lastIndex - runStart > longRun) {
      const end = runStart + longRun
      const cut = isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
      pieces.push(text.slice(pieceStart, cut))
      pieceStart = runStart = cut
    }
    runStart = run.lastIndex
  }
  pieces.push(text.slice(pieceStart))
  return pieces
}
