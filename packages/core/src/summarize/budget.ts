/** The token budget of a summary. */
import { estimate } from "@memfold/message/TokenCounter"
import type { Request } from "./Summarizer.js"

/**
 * How large a summary may be: `maxTokens` is the most tokens of it, and `share` the share of the new messages to keep, from
 * 0 to 1.
 */
export interface Size {
  readonly maxTokens: number
  readonly share: number
}

/** A few sentences cannot be shortened to a third and stay useful, so up to this many tokens may be kept … */
const least = 96
/** … but at most this share of the new messages. */
const most = 0.6

/**
 * The most tokens that a summary may take: the size of the summary so far plus a share of the new messages. It is at
 * most `maxTokens`, and always less than the input.
 *
 * The summary so far counts in full. If it shrank by the share at each merge, many small merges would forget almost
 * everything: 30 % of 30 % of 30 %.
 *
 * @example
 * ```ts
 * import { Summarizer } from "@memfold/core"
 *
 * export const mostTokens = (request: Summarizer.Request): number =>
 *   Summarizer.budget(request, { maxTokens: 800, share: 0.3 })
 * ```
 */
export const budget = (request: Request, { maxTokens, share }: Size): number => {
  const replaced = Math.max(0, Math.floor(request.replacesTokens))
  const before = Math.min(replaced, estimate(request.previous ?? ""))
  const fresh = replaced - before
  const kept = Math.max(share * fresh, Math.min(least, most * fresh))
  return Math.max(0, Math.min(maxTokens, Math.floor(before + kept), replaced - 1))
}
