import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"

/** Keeps the last three turns, with all of their messages. */
export const threeTurns = Strategy.make({
  name: "three turns",
  when: Trigger.uncovered({ turns: 5 }),
  keep: Keep.lastTurns(3),
  summaryMode: SummaryMode.rolling,
})
