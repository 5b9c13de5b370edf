/** The summary mode of a strategy: {@link rolling}, {@link blocks}, {@link drop} or {@link none}. */
export type SummaryMode = "rolling" | "blocks" | "drop" | "none"

/** One history segment. Each compaction merges the new messages into it and rewrites it. */
export const rolling: SummaryMode = "rolling"

/** Each compaction appends a block segment; the older segments stay unchanged. */
export const blocks: SummaryMode = "blocks"

/** No text is written: the messages leave the context and stay in the log. */
export const drop: SummaryMode = "drop"

/** The messages stay uncovered; a compaction only prunes tool outputs. */
export const none: SummaryMode = "none"
