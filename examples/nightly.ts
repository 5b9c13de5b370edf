import { Fold, Keep, Memory, Strategy, Trigger } from "@memfold/core"
import { Effect, Stream } from "effect"

/** Folds what nobody has added to for six hours. The newest round stays as it was said. */
export const nightly = Strategy.make({
  name: "nightly",
  when: Trigger.idle("6 hours"),
  keep: Keep.lastRounds(1),
  fold: Fold.rolling,
})

/** Looks at every session, those included that nobody has opened since the process began. */
export const consolidate = Effect.flatMap(Memory.Memory, (memory) =>
  Stream.runForEach(memory.sessions, ({ session }) => memory.settle(session)),
)
