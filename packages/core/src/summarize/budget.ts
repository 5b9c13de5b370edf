/** How long a summary may become. */
import { estimate } from "../message/estimate.js"
import type { Request } from "./Summarizer.js"

/** An upper bound in tokens, and how much of what is new may be kept, from 0 to 1. */
export interface Size {
  readonly maxTokens: number
  readonly share: number
}

/** A few sentences cannot be shortened to a third and still say anything: up to this many tokens may stay … */
const least = 96
/** … but no more than this share of what is new. */
const most = 0.6

/**
 * The tokens a summary may take: the size of the summary so far, plus a share of what is new, up to the upper
 * bound, and always less than all that is replaced.
 *
 * The summary so far counts in full. Were it to shrink by the same share at each merge, a memory of many small
 * merges would forget almost everything: 30 % of 30 % of 30 %.
 */
export const budget = (request: Request, { maxTokens, share }: Size): number => {
  const replaced = Math.max(0, Math.floor(request.replacesTokens))
  const before = Math.min(replaced, estimate(request.previous ?? ""))
  const fresh = replaced - before
  const kept = Math.max(share * fresh, Math.min(least, most * fresh))
  return Math.max(0, Math.min(maxTokens, Math.floor(before + kept), replaced - 1))
}
