import { Fold, Keep, Prune, Strategy, Trigger } from "@memfold/core"

/** Summarizes nothing: above so many tokens, old outputs of tools give way to a note. */
export const masking = (tokens: number) =>
  Strategy.make({
    name: "masking",
    when: Trigger.contextAbove(tokens),
    keep: Keep.lastMessages(10),
    fold: Fold.none,
    prune: [Prune.hardClear({ keep: Keep.lastMessages(10) })],
  })
