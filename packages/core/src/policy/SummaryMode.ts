/**
 * How what goes is folded into the summary.
 *
 * - `rolling`: one history segment, rewritten with each compaction (reference designs 1, 3, 4 and 5)
 * - `blocks`: one more block a compaction, the older ones left as they are (reference design 2)
 * - `drop`: nothing is written; the messages leave the context and stay in the log
 * - `none`: the messages stay raw; a compaction only prunes outputs of tools
 */
export type SummaryMode = "rolling" | "blocks" | "drop" | "none"

export const rolling: SummaryMode = "rolling"
export const blocks: SummaryMode = "blocks"
export const drop: SummaryMode = "drop"
export const none: SummaryMode = "none"
