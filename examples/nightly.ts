import { Fold, Keep, Memory, Strategy, Trigger } from "@memfold/core"
import { Effect, Stream } from "effect"

/** Compacts a session six hours after its last message. The newest complete turn stays verbatim. */
export const nightly = Strategy.make({
  name: "nightly",
  when: Trigger.idle("6 hours"),
  keep: Keep.lastRounds(1),
  fold: Fold.rolling,
})

/** Checks every session, even those that this process has not opened. */
export const consolidate = Effect.flatMap(Memory.Memory, (memory) =>
  Stream.runForEach(memory.sessions, ({ session }) => memory.settle(session)),
)
