/** The pieces of messages that are embedded. */
import { crc32 } from "../event/checksum.js"
import type { Message } from "@memfold/message/Message"
import type { Service as Embedder } from "./Embedder.js"
import { isHigh } from "./excerpt.js"
import { readableText } from "./searchText.js"

/** A change of how texts are divided, or of what of a message is embedded, needs another number: vectors are made anew. */
const rules = 1

/** The most pieces of a message that are embedded: beyond them is data, not talk. */
const mostPieces = 16

/** The most UTF-16 code units of a piece, unless the embedder says otherwise. */
const usualLength = 2_000

/** What the vectors of an embedder can be compared with. */
export const spaceOf = ({ name, dimensions, maxCharacters = usualLength }: Embedder): string =>
  JSON.stringify([name, dimensions, maxCharacters, rules])

/** A piece of a text, and where it begins. */
export interface TextPiece {
  readonly offset: number
  readonly text: string
}

/** The end of a piece that begins at `from`: at white space, if there is any in its second half. */
const endOf = (text: string, from: number, most: number): number => {
  const end = from + most
  if (end >= text.length) return text.length
  for (let at = end; at > from + most / 2; at--) if (/\s/u.test(text[at - 1]!)) return at
  return isHigh(text.charCodeAt(end - 1)) && most > 1 ? end - 1 : end
}

/** The pieces of a text; none of a text that says nothing. */
export const piecesOf = (
  text: string,
  { maxCharacters = usualLength }: Pick<Embedder, "maxCharacters">,
): ReadonlyArray<TextPiece> => {
  const pieces: Array<TextPiece> = []
  for (let offset = Math.max(text.search(/\S/u), 0); offset < text.length && pieces.length < mostPieces;) {
    const end = endOf(text, offset, maxCharacters)
    const piece = text.slice(offset, end)
    if (piece.trim() !== "") pieces.push({ offset, text: piece })
    offset = end
  }
  return pieces
}

/** What of a message is embedded; `null` if it says nothing. */
export const embeddedText = (message: Message): { readonly text: string; readonly digest: number } | null => {
  const text = readableText(message)
  return text.trim() === "" ? null : { text, digest: crc32(text) }
}
