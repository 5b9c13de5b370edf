/** What of an answer of an upstream is read, and what cannot be. */
import { isUnreadable } from "@memfold/codec"

/** The most calls, or blocks, of an answer: each of its pieces is looked for among them. */
export const mostParts = 1_000

/** An answer that cannot be put together with certainty, or that did not come to its end: it passes, and is not stored. */
export class Unclear extends Error {
  override readonly name = "Unclear"
  /** @param reason - why, in a word, for the log and the trailer */
  constructor(readonly reason: "failed" | "broken-off" | "too-large" | "unclear-calls" | "unclear-parts") {
    super(`the answer cannot be stored: ${reason}`)
  }
}

/**
 * The JSON of what an upstream says.
 *
 * @throws Unclear: it has more than is parsed
 * @throws SyntaxError: it is no JSON
 */
export const answerIn = (text: string): unknown => {
  if (isUnreadable(text)) throw new Unclear("too-large")
  return JSON.parse(text)
}
