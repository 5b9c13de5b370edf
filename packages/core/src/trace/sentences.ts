/** The sentences of a text, in any language. */

/** A sentence, and where it stands in its text: `[from, to)` in UTF-16 code units. */
export interface Sentence {
  readonly text: string
  readonly from: number
  readonly to: number
}

/**
 * A sentence ends with its mark before white space, with a mark of a script without spaces, or with its line. The dot of a number in a
 * list ends nothing. A run of marks is tried where it begins: tried at each of its marks, a long one would take the square of its length.
 */
const ends = /[。！？；]+|(?<![.!?]|(?:^|\s)\d{1,3})[.!?]+["'”’)\]]*(?=\s)|\n/gmu

/** The longest sentence, in UTF-16 code units. What goes on without an end is looked at in pieces of it. */
const longest = 2_000

/** Where a piece that goes on is cut: behind its last space, and not within a character. */
const cutOf = (piece: string): number => {
  const space = piece.lastIndexOf(" ") + 1
  return space > 0 ? space : /[\ud800-\udbff]$/.test(piece) ? piece.length - 1 : piece.length
}

/**
 * The sentences of a text. A line ends a sentence, too: summaries have lists and headings. A dot within an identifier, as in
 * `src/money.ts`, ends nothing.
 */
export const sentencesOf = (text: string): ReadonlyArray<Sentence> => {
  const found: Array<Sentence> = []
  const add = (begin: number, to: number): void => {
    let from = begin
    while (to - from > longest) {
      const end = from + cutOf(text.slice(from, from + longest))
      addPiece(from, end)
      from = end
    }
    addPiece(from, to)
  }
  const addPiece = (from: number, to: number): void => {
    const piece = text.slice(from, to)
    const said = piece.trim()
    if (said === "") return
    const start = from + piece.indexOf(said)
    found.push({ text: said, from: start, to: start + said.length })
  }
  let from = 0
  for (const match of text.matchAll(ends)) {
    const to = match.index + match[0].length
    add(from, to)
    from = to
  }
  add(from, text.length)
  return found
}
