import { Fold, Keep, Strategy, Trigger } from "@memfold/core"

/** Keeps the last three turns, with all of their messages. */
export const threeTurns = Strategy.make({
  name: "three turns",
  when: Trigger.raw({ rounds: 5 }),
  keep: Keep.lastRounds(3),
  fold: Fold.rolling,
})
