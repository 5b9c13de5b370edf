import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"

/** Compacts at 70 % of the window, but waits while a tool call is open. */
export const betweenCalls = (contextLimit: number) =>
  Strategy.make({
    name: "between-calls",
    when: Trigger.all(Trigger.contextAbove(0.7 * contextLimit), Trigger.callsAnswered),
    keep: Keep.all(Keep.currentTurn, Keep.lastTokens(0.1 * contextLimit)),
    summaryMode: SummaryMode.rolling,
  })
