import { Effect } from "effect"
import { decide, type DecideOptions } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Due } from "../engine/look.js"
import * as metrics from "../observe/metrics.js"

/**
 * Lets the shadow strategy decide on the same state, counts whether it agrees with the acting one, and logs each
 * difference. It changes nothing in the session. A shadow strategy that throws is counted and otherwise ignored.
 */
export const compareShadow = (shadow: Strategy, acting: Due, options: DecideOptions): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { state } = acting
    const decision = decide(shadow, state, options)
    const agrees = (decision._tag === "Due") === (acting._tag === "Compact")
    yield* metrics.count(metrics.shadowDecisions, { strategy: shadow.name, agrees: String(agrees) })
    if (agrees) return
    const range =
      decision._tag === "Due"
        ? `messages ${decision.plan.from} to ${decision.plan.to - 1} (${decision.plan.reason})`
        : "nothing"
    yield* Effect.annotateLogs(Effect.logDebug(`the shadow strategy would compact ${range}`), {
      session: state.session,
      shadow: shadow.name,
    })
  }).pipe(Effect.catchAllDefect(() => metrics.count(metrics.backgroundFailures, { kind: "shadow" })))
