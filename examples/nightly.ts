import { Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { Effect, Stream } from "effect"

/** Compacts a session six hours after its last message. The newest complete turn stays verbatim. */
export const nightly = Strategy.make({
  name: "nightly",
  when: Trigger.idle("6 hours"),
  keep: Keep.lastTurns(1),
  summaryMode: SummaryMode.rolling,
})

/** Checks every session of the store, also sessions that this process has not opened. */
export const consolidate = Effect.flatMap(Memory.Memory, (memory) =>
  Stream.runForEach(memory.sessions, ({ session }) => memory.compact(session, { which: "due" })),
)
