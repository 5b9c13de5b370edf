import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"

/** Keeps the last three turns: a question and an answer each, so six messages. */
export const firstTry = Strategy.make({
  name: "three turns",
  when: Trigger.uncovered({ messages: 10 }),
  keep: Keep.lastMessages(6),
  summaryMode: SummaryMode.rolling,
})
