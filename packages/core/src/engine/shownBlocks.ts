/** Chooses the blocks of a summary that contexts show, if they have outgrown the room that the strategy gives them. */
import type { Service as TokenCounter } from "@memfold/message/TokenCounter"
import { postingsOf } from "../search/postings.js"
import { rank } from "../search/rank.js"
import { queryTermsOf, termsOf } from "../search/terms.js"
import type { Segment } from "../summary/Summary.js"
import type { Wording } from "../summary/Wording.js"
import { textSize } from "./summarySize.js"

/** The positions of the segments by rank: the newest segment (and not its material), the best matches for the question, then the newest others. */
const inOrder = (segments: ReadonlyArray<Segment>, question: string): ReadonlyArray<number> => {
  const terms = queryTermsOf(question)
  const postings = postingsOf(segments.map(({ text }) => termsOf(text)))
  const fitting = rank(terms, [postings]).map((candidate) => candidate.index)
  const newestFirst = segments.map((_, position) => segments.length - 1 - position)
  const newest = segments.findLastIndex(({ kind }) => kind !== "material")
  return [...new Set([newest, ...fitting, ...newestFirst])]
}

/**
 * The positions of the segments to show: the newest segment, then the best matches for the question, then the newest other
 * segments, as long as there is room. `undefined` if there is room for all segments.
 *
 * @param segments - The segments of the summary; a segment that is too large for the rest of the room is left out.
 * @param question - What the user has said last; empty if that is not known.
 */
export const shownBlocks = (
  segments: ReadonlyArray<Segment>,
  question: string,
  {
    counter,
    wording,
    maxTokens,
  }: { readonly counter: TokenCounter; readonly wording: Wording; readonly maxTokens: number },
): ReadonlyArray<number> | undefined => {
  const sizeOf = (some: ReadonlyArray<Segment>): number => textSize(counter, wording, { segments: some })
  if (sizeOf(segments) <= maxTokens) return undefined
  const alone = segments.map((segment) => sizeOf([segment]))
  const shown: Array<number> = []
  let size = 0
  for (const position of inOrder(segments, question)) {
    if (shown.length > 0 && size + alone[position]! > maxTokens) continue
    shown.push(position)
    size += alone[position]!
  }
  return shown.toSorted((one, other) => one - other)
}
