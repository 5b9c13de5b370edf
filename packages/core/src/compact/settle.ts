import { Effect } from "effect"
import type { SessionError } from "../session/Sessions.js"
import type { Dependencies, Outcome } from "./Compaction.js"
import { run } from "./Compaction.js"
import { heal } from "./heal.js"

/**
 * Compacts until nothing is due (step 7 of the protocol), and answers with what was done. It ends: every commit
 * moves the coverage forward, and a failure ends it: whatever failed is not asked again at once (law L9).
 */
export const settle = (
  dependencies: Dependencies,
  session: string,
): Effect.Effect<ReadonlyArray<Outcome>, SessionError> =>
  Effect.gen(function* () {
    const outcomes: Array<Outcome> = []
    yield* heal(dependencies.sessions, session)
    for (;;) {
      const outcome = yield* run(dependencies, session)
      if (outcome._tag === "Idle") return outcomes
      outcomes.push(outcome)
      if (outcome._tag === "Failed") return outcomes
    }
  })
