/**
 * When the tail alone is too large: its first part is summarized as a turn prefix, the rest stays (reference
 * design 3). Without it, a session whose only user message is followed by a huge turn could never be compacted.
 */

/** A tail that is too large: how many messages it has, and how many tokens they take together. */
export interface Tail {
  readonly messages: number
  readonly tokens: number
}

/** All of it in tokens. */
export interface Split {
  /** A tail is split that takes more than this, together with what is pinned before it: neither can be summarized. */
  readonly above: number
  /** At most so much of its beginning, but its first group at least, becomes the prefix; the newest group stays. */
  readonly prefix: (tail: Tail) => number
}

/**
 * A split of tails above `above` tokens (with what is pinned before them), whose prefix takes at most `prefix` tokens:
 * always, or depending on it.
 */
export const tailAbove = (
  above: number,
  { prefix }: { readonly prefix: number | ((tail: Tail) => number) },
): Split => ({ above, prefix: typeof prefix === "number" ? () => prefix : prefix })
