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

/** A place that has a letter or a digit before it, or no white space before it and a space behind it; a look at it alone. */
const seam = /(?<=[\p{L}\p{N}])(?!')|(?<=\S)(?=[^\S\r\n])/uy

/**
 * Whether a run ends where both vocabularies end a piece and begin one, whatever stands around: behind a letter, a number or before a space
 * that is no line break. No text is counted otherwise because it is cut there.
 */
const isSeam = (text: string, at: number): boolean => {
  seam.lastIndex = at
  return seam.test(text)
}

/**
 * The text in pieces that make it up again, found as they are asked for. It is cut inside runs of more than {@link longRun}, and where it is
 * longer than a step, between two runs where a cut changes no count. So nearly every text of up to a step comes back whole.
 *
 * @param step - after how many UTF-16 code units the next such place is looked for
 */
export function* piecesOf(text: string, step: number): Generator<string, undefined> {
  if (text.length <= longRun) return void (yield text)
  let pieceStart = 0
  let runStart = 0
  run.lastIndex = 0
  while (run.test(text)) {
    let { lastIndex: runEnd } = run
    while (runEnd - runStart > longRun) {
      const end = runStart + longRun
      const cut = isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
      yield text.slice(pieceStart, cut)
      pieceStart = runStart = cut
    }
    runStart = runEnd
    if (runEnd - pieceStart >= step && isSeam(text, runEnd)) {
      yield text.slice(pieceStart, runEnd)
      pieceStart = runEnd
    }
    // Others count between two pieces.
    run.lastIndex = runEnd
  }
  yield text.slice(pieceStart)
}
