/**
 * How what goes is folded into the summary.
 *
 * - `rolling`: one history segment, rewritten with each compaction (reference designs 1, 3, 4 and 5)
 * - `blocks`: one more block a compaction, the older ones left as they are (reference design 2)
 * - `drop`: nothing is written; the messages leave the context and stay in the log
 * - `none`: the messages stay raw; a compaction only prunes outputs of tools
 */
export type Fold = "rolling" | "blocks" | "drop" | "none"

export const rolling: Fold = "rolling"
export const blocks: Fold = "blocks"
export const drop: Fold = "drop"
export const none: Fold = "none"
