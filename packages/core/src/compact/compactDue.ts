import { Effect } from "effect"
import type { SessionError } from "../session/Sessions.js"
import type { Dependencies, CompactionOutcome } from "./Compaction.js"
import { run } from "./Compaction.js"

/**
 * Compacts until nothing is due, and returns one outcome for each compaction. It always ends: every commit moves the
 * coverage forward, and the first failure stops it, since a failed compaction is retried only after a pause (law L9).
 */
export const compactDue = (
  dependencies: Dependencies,
  session: string,
): Effect.Effect<ReadonlyArray<CompactionOutcome>, SessionError> =>
  Effect.gen(function* () {
    const outcomes: Array<CompactionOutcome> = []
    for (;;) {
      const outcome = yield* run(dependencies, session)
      if (outcome._tag === "Idle") return outcomes
      outcomes.push(outcome)
      if (outcome._tag === "Failed") return outcomes
    }
  })
