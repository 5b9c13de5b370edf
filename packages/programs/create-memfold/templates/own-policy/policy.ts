/** When to compact, what stays as it is, how much is compacted at a time, and how the summary is written. */
import { BatchSize, Keep, Strategy, SummaryMode, Trigger } from "memfold"

export const policy = Strategy.make({
  name: "my-policy",
  // After a pause, while nobody waits, or when the context is large.
  when: Trigger.any(Trigger.idle("30 minutes"), Trigger.contextAbove(8_000)),
  // The newest two turns stay word for word.
  keep: Keep.lastTurns(2),
  batchSize: BatchSize.all,
  // One summary, which each compaction continues.
  summaryMode: SummaryMode.rolling,
})
