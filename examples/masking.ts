import { Keep, Prune, Strategy, SummaryMode, Trigger } from "@memfold/core"

/** Summarizes nothing: above this many tokens, short notes replace old tool outputs. */
export const masking = (tokens: number) =>
  Strategy.make({
    name: "masking",
    when: Trigger.contextAbove(tokens),
    keep: Keep.lastMessages(10),
    summaryMode: SummaryMode.none,
    prune: [Prune.hardClear({ keep: Keep.lastMessages(10) })],
  })
