/** BM25: how well a text fits a query, by the terms that both have. */

/** The usual constants: how soon more of one term counts less, and how much long texts lose. */
const saturation = 1.2
const lengthWeight = 0.75

/** The weight of a term that occurs in `count` of `total` texts, its inverse document frequency: rare terms weigh more. */
export const termWeight = (total: number, count: number): number =>
  Math.log(1 + (total - count + 0.5) / (count + 0.5))

/**
 * What a term adds to the score of a text.
 *
 * @param weight - the term's weight, see {@link termWeight}
 * @param count - how often the text has the term
 * @param length - how many terms the text has, as a multiple of the average
 *
 * @example
 * ```ts
 * import { Search } from "@memfold/core"
 *
 * // "kx4471" occurs in one of 100 texts: once, in a text of average length.
 * console.log(Search.termScore(Search.termWeight(100, 1), 1, 1))
 * ```
 */
export const termScore = (weight: number, count: number, length: number): number =>
  (weight * count * (saturation + 1)) / (count + saturation * (1 - lengthWeight + lengthWeight * length))
