/**
 * Hooks: an application can veto a compaction or add instructions before it starts, and is told how it ended.
 */
import { Effect } from "effect"
import { warn } from "../observe/logs.js"
import type { Plan } from "../policy/decide.js"
import type { SessionState } from "../session/SessionState.js"
import type { CompactionOutcome } from "./CompactionOutcome.js"

/** A compaction that is about to take the session's lock. */
export interface PlannedCompaction {
  readonly session: string
  /** The state that the plan was decided on. */
  readonly state: SessionState
  readonly plan: Plan
}

/** The answer of a hook: a veto, instructions for the summarizer, or `undefined` to let the plan start as it is. */
export type HookDecision = { readonly veto: true } | { readonly instructions: string } | undefined

/**
 * Functions of the application that run around each compaction. A hook that throws is ignored, and a warning is logged.
 *
 * @example
 * ```ts
 * import type { Hooks } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const hooks: Hooks = {
 *   beforeCompaction: ({ plan }) =>
 *     Effect.succeed(plan.reason === "idle" ? { instructions: "Keep every order number." } : undefined),
 *   afterCompaction: ({ session, outcome }) => Effect.log(`${session}: ${outcome._tag}`),
 * }
 * ```
 */
export interface Hooks {
  /**
   * Runs before each compaction, with the plan that is about to start. If the session changes while the hook runs, the
   * compaction is decided again on the new state, and the hook is not asked a second time.
   *
   * A veto stops this compaction only. The hook is asked again by the next check that finds one due: after an append,
   * or when a trigger's time has come.
   */
  readonly beforeCompaction?: (planned: PlannedCompaction) => Effect.Effect<HookDecision>
  /** Runs after each compaction, whether it succeeded or not. */
  readonly afterCompaction?: (ended: {
    readonly session: string
    readonly outcome: CompactionOutcome
  }) => Effect.Effect<void>
}

/** The answer of a hook, whose types nobody checked. An answer with neither a veto nor instructions is ignored. */
export const decisionOf = (session: string, answer: unknown): Effect.Effect<HookDecision> => {
  if (answer === undefined || answer === null) return Effect.succeed(undefined)
  const { veto, instructions } = Object(answer) as Readonly<Record<string, unknown>>
  if (veto === true) return Effect.succeed({ veto })
  if (typeof instructions === "string") return Effect.succeed({ instructions })
  const line = "a hook answered with neither a veto nor instructions, and was ignored"
  return Effect.as(warn(line, { session }), undefined)
}

/** Runs a hook. If it throws, a warning is logged and the result is `undefined`. */
export const runHook = <A>(session: string, hook: () => Effect.Effect<A>): Effect.Effect<A | undefined> =>
  Effect.suspend(hook).pipe(
    Effect.catchAllDefect(() => Effect.as(warn("a hook threw and was ignored", { session }), undefined)),
  )
