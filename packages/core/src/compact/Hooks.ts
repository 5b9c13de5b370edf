/**
 * What an application does around compactions: look at a plan before anything is done, say no or add instructions,
 * and hear how it ended.
 */
import { Effect } from "effect"
import type { Plan } from "../policy/decide.js"
import type { SessionState } from "../session/SessionState.js"
import type { Outcome } from "./Compaction.js"

/** A compaction that is about to take the session's lock. */
export interface Planned {
  readonly session: string
  readonly state: SessionState
  readonly plan: Plan
}

/** What a hook may say to a plan; nothing lets it go on as it is. */
export type Verdict = { readonly veto: true } | { readonly instructions: string } | undefined

export interface Hooks {
  /**
   * Asked before each compaction. A veto holds for this time: the next look that finds one due asks again, after an append
   * or when a trigger's time has come. A hook
   * that dies has said nothing.
   */
  readonly beforeCompaction?: (planned: Planned) => Effect.Effect<Verdict>
  /** Told after each compaction, however it ended. */
  readonly afterCompaction?: (ended: {
    readonly session: string
    readonly outcome: Outcome
  }) => Effect.Effect<void>
}

/** Runs a hook; what goes wrong in it is logged and concerns nobody else. */
export const guardedHook = <A>(session: string, hook: () => Effect.Effect<A>): Effect.Effect<A | undefined> =>
  Effect.suspend(hook).pipe(
    Effect.catchAllDefect(() =>
      Effect.logWarning("a hook died").pipe(Effect.annotateLogs({ session }), Effect.as(undefined)),
    ),
  )
