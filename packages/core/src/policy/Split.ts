/**
 * When the tail alone is too large: its first part is summarized as a turn prefix, the rest stays (reference
 * design 3). Without it, a session whose only user message is followed by a huge turn could never be compacted.
 */

/** Both in tokens. */
export interface Split {
  /** A tail above this is split. */
  readonly above: number
  /** At most so much of its beginning, but its first group at least, becomes the prefix; the newest group stays. */
  readonly prefix: number
}

/** A split of tails above `above` tokens, whose prefix takes at most `prefix` tokens. */
export const tailAbove = (above: number, options: { readonly prefix: number }): Split => ({
  above,
  prefix: options.prefix,
})
