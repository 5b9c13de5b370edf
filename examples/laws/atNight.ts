import type { Strategy } from "@memfold/core"
import { threeTurns } from "./threeTurns.js"

/** Saves the summarizer for the night. */
export const atNight: Strategy.Strategy = {
  ...threeTurns,
  name: "at night",
  when: {
    due: ({ tailFrom, coveredTo }) => (tailFrom > coveredTo && new Date().getHours() < 6 ? "night" : null),
  },
}
