/**
 * Split turns: if the tail alone is too large, its first part is summarized as a turn prefix and the rest stays.
 * Without this rule, a session that is one huge turn could never be compacted.
 */

import { amount, checkArguments } from "../options/OptionGroup.js"
import { splitting } from "./parts.js"

/** A tail that is too large: its number of messages, and the tokens that they take together. */
export interface Tail {
  readonly messages: number
  readonly tokens: number
}

/** The rule that splits tails. Make one with {@link tailAbove}. */
export interface Split {
  /**
   * Splits a tail that takes more than this many tokens together with the pinned messages before it. They count because
   * they cannot be summarized either.
   */
  readonly above: number
  /**
   * Returns how many tokens from the start of the tail become the prefix, at most. The first group always becomes part
   * of the prefix, and the newest group always stays.
   */
  readonly prefix: (tail: Tail) => number
}

/**
 * Splits tails that are too large.
 *
 * @param above - The largest tail that is not split, in tokens; the pinned messages before it count too.
 * @param options - `prefix`: how many tokens become the prefix at most, as a number or computed from the tail.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Split } from "@memfold/core"
 *
 * export const fixed = Split.tailAbove(16_000, { prefix: 8_000 })
 * export const half = Split.tailAbove(16_000, { prefix: ({ tokens }) => tokens / 2 })
 * ```
 */
export const tailAbove = (
  above: number,
  options: { readonly prefix: number | ((tail: Tail) => number) },
): Split => {
  checkArguments("Split.tailAbove", { above: amount, options: splitting }, { above, options })
  const { prefix } = options
  return { above, prefix: typeof prefix === "number" ? () => prefix : prefix }
}
