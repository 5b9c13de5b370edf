/** The size of summaries, when the blocks of a summary are merged, and how many of them contexts show. */

/**
 * How long a strategy wants the segments that a compaction writes. Summarizers that were made with a size of their own
 * keep to that.
 *
 * - `share`: the share of the new messages to keep, above 0 and at most 0.9
 * - `maxTokens`: the most tokens of one segment, 32 or more
 */
export interface SummarySize {
  readonly share: number
  readonly maxTokens: number
}

/**
 * When blocks are merged, so that the summary of a session without end stays bounded.
 *
 * - `above`: if the summary takes more than this many tokens, the next compaction merges all of its blocks, and the new
 *   messages, into one `history` segment; blocks are appended to that again
 * - `maxTokens`: the most tokens of that segment; less than `above`
 */
export interface MergeBlocks {
  readonly above: number
  readonly maxTokens: number
}

/**
 * How many blocks of a summary contexts show, so that they stay bounded while every block is kept as it is. When a
 * compaction finds that the blocks take more, it chooses the newest block, the best matches for the newest user message
 * (ranked by BM25), and the newest other blocks. The choice stays until the next compaction. What a later question needs
 * besides stands right before it: the block that fits it best.
 *
 * - `maxTokens`: the most tokens of the blocks that the summary shows, and of the blocks before questions; a single larger
 *   block is shown in the summary all the same
 */
export interface RecallBlocks {
  readonly maxTokens: number
}
