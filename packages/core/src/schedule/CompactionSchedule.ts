/**
 * When work runs for a session. Learning and compacting are one piece of work, and it starts
 *
 * - after a write, if the check of the new state finds something due;
 * - when a timer is due, for triggers that go by the clock, for retries, and for the lease of another process;
 * - after a failure of the store, with growing pauses;
 * - when an operation of the memory asks for it.
 *
 * The mode decides who runs it: the {@link Scheduler} in the background, or the caller (`inline`). In modes `manual` and
 * `off`, only explicit calls start it, or none.
 */
import { Cause, Clock, type Duration, Effect, type Fiber, type Scope } from "effect"
import { compactDue } from "../compact/compactDue.js"
import {
  type Dependencies,
  type CompactionOutcome,
  pauseAfter,
  run,
  type RunOptions,
} from "../compact/Compaction.js"
import { type Budget, type BudgetOutcome, waitForBudget } from "../compact/waitForBudget.js"
import { nowOf } from "../event/clock.js"
import type { Service as MemoryLayers } from "../layers/MemoryLayers.js"
import { compareShadow } from "../observe/compareShadow.js"
import { marginOf } from "../message/TokenCounter.js"
import { logBackgroundFailure } from "../observe/logBackgroundFailure.js"
import { isTraced, span } from "../observe/spans.js"
import { type Decision, decide, nextCheck } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { Leases } from "../session/Leases.js"
import type { SessionError } from "../session/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import * as Learning from "./Learning.js"
import * as Scheduler from "./Scheduler.js"

/** Who runs the compactions that are due: a background fiber, the writing call, only explicit calls, or none. */
export type Mode = "background" | "inline" | "manual" | "off"

/** The parts of an engine that run compactions, and the options that say when. */
export interface Parts extends Omit<Dependencies, "strategy" | "leases"> {
  readonly layers: MemoryLayers | null
  readonly mode: Mode
  readonly shadow: Strategy | undefined
  readonly budget: Budget | undefined
  readonly shutdown: Duration.DurationInput
  readonly concurrentCompactions: number
}

/** Runs learning and compacting for a memory, when the mode says so. */
export interface CompactionSchedule {
  /**
   * Checks a state that was just written, and starts the work that is due or sets the timer for it. It returns at once,
   * except in mode `inline`, and never fails: the write is durable already.
   */
  readonly check: (state: SessionState, strategy: Strategy) => Effect.Effect<void>
  /** The same within an effect of a fiber; `null` if nothing is left to do. */
  readonly checkAtOnce: (
    fiber: Fiber.RuntimeFiber<unknown, unknown>,
    state: SessionState,
    strategy: Strategy,
  ) => Effect.Effect<void> | null
  /** Runs all work that is due, and returns one outcome for each compaction. Nothing is due in mode `off`. */
  readonly compactDue: (
    session: string,
    strategy: Strategy,
  ) => Effect.Effect<ReadonlyArray<CompactionOutcome>, SessionError>
  /** Compacts once, whatever the trigger says. In mode `off`, it does nothing. */
  readonly compactNow: (
    session: string,
    strategy: Strategy,
    options: Pick<RunOptions, "instructions" | "takeOver">,
  ) => Effect.Effect<CompactionOutcome, SessionError>
  /** Waits for compactions while the context is over budget; `undefined` where the options do not ask for that. */
  readonly waitForBudget: (
    session: string,
    strategy: Strategy,
  ) => Effect.Effect<BudgetOutcome | undefined, SessionError>
  /** Forgets the timer and the failures of a session that is deleted. */
  readonly forget: (session: string) => void
}

/**
 * After a run, the next timer is at least this far away, in milliseconds. A trigger whose time is always now would
 * otherwise be checked without end.
 */
const shortestPause = 1_000

/** Makes the schedule. Its fibers live in the scope. */
export const make = (parts: Parts): Effect.Effect<CompactionSchedule, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { sessions, settings, mode, shadow, budget } = parts
    const automatic = mode === "background" || mode === "inline"
    const learning = Learning.make(sessions, parts.layers)
    /** The failed runs in a row of each session. */
    const failures = new Map<string, number>()

    const leases = new Leases()

    const dependencies = (strategy: Strategy): Dependencies => ({ ...parts, strategy, leases })

    /** Learns before it compacts: the state no longer has the messages that a summary covers. */
    const work = (session: string, strategy: Strategy) =>
      Effect.zipRight(learning.learnDue(session), compactDue(dependencies(strategy), session))

    /** The same with one compaction. Other sessions have their turn before the next one. */
    const round = (session: string, strategy: Strategy) =>
      Effect.zipRight(learning.learnDue(session), run(dependencies(strategy), session, { trustsCache: true }))

    const scheduler: Scheduler.Scheduler<Strategy> = yield* Scheduler.make<Strategy>(
      (session, take) =>
        Effect.withFiberRuntime<"done" | "more" | "failed">((fiber) => {
          const began = nowOf(fiber)
          const strategy = take()
          return round(session, strategy).pipe(
            Effect.flatMap((outcome): Effect.Effect<"done" | "more"> =>
              outcome._tag === "Idle" || outcome._tag === "Failed"
                ? Effect.as(afterSuccess(session, strategy, began), "done")
                : lookAgain(session, take, nowOf(fiber)),
            ),
            Effect.catchAllCause((cause) =>
              logBackgroundFailure(session)(cause).pipe(
                Effect.zipRight(afterFailure(session, strategy)),
                Effect.as("failed" as const),
              ),
            ),
          )
        }),
      { finish: parts.shutdown, atOnce: parts.concurrentCompactions },
    )

    /**
     * Looks at the state after a compaction, with all that came meanwhile (law L11): returns whether more is due, or sets the
     * timer. It reads nothing: what other processes have written since, they look at themselves.
     */
    const lookAgain = (
      session: string,
      take: () => Strategy,
      now: number,
    ): Effect.Effect<"done" | "more"> => {
      const state = sessions.cached(session)
      if (state === null) return Effect.succeed("more")
      const strategy = take()
      if (isDue(state, decide(strategy, state, decideOptions(state, now)))) return Effect.succeed("more")
      failures.delete(session)
      return Effect.as(setTimerAfterRun(state, strategy, { decided: now, now }), "done")
    }

    /** How a state is decided on: within the budget, and with the locks that this process respects. */
    const decideOptions = (state: SessionState, now: number) => ({
      now,
      budget: budget?.tokens,
      lockedUntil: leases.until(state, now),
    })

    const isDue = (state: SessionState, decision: Decision): boolean =>
      decision._tag === "Due" || learning.isDue(state) || state.damaged.length > 0

    /**
     * Sets the timer for what comes due without a message, counted from the time of the last decision: it may have come
     * due since then. Not before `earliest`, in milliseconds since the epoch.
     */
    const setTimer = (
      state: SessionState,
      strategy: Strategy,
      { decided, now, earliest = now }: { decided: number; now: number; earliest?: number },
    ): Effect.Effect<void> | null => {
      const time = nextCheck(strategy, state, { now: decided, lockedUntil: leases.until(state, now) })
      return time === null ? null : scheduler.checkAt(state.session, strategy, Math.max(time, earliest))
    }

    const setTimerAfterRun = (
      state: SessionState,
      strategy: Strategy,
      { decided, now }: { readonly decided: number; readonly now: number },
    ): Effect.Effect<void> =>
      setTimer(state, strategy, { decided, now, earliest: now + shortestPause }) ?? Effect.void

    const retryLater = (session: string, strategy: Strategy): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const before = failures.get(session) ?? 0
        failures.set(session, before + 1)
        return scheduler.checkAt(session, strategy, now + pauseAfter(settings, before)) ?? Effect.void
      })

    /** Logs failures: what runs beside an operation must not fail it. Interruption passes. */
    const logFailures =
      (session: string) =>
      <E>(effect: Effect.Effect<void, E>): Effect.Effect<void> =>
        Effect.catchAllCause(effect, (cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.interrupt : logBackgroundFailure(session)(cause),
        )

    /** Sets the timer after a run that began at a time, which is no later than its last decision. */
    const afterSuccess = (session: string, strategy: Strategy, began: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        failures.delete(session)
        return sessions.load(session)
      }).pipe(
        Effect.flatMap((state) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            setTimerAfterRun(state, strategy, { decided: began, now }),
          ),
        ),
        Effect.catchAll(() => retryLater(session, strategy)),
        logFailures(session),
      )

    /** The store may be back later, and no append need come to find out. */
    const afterFailure = (session: string, strategy: Strategy): Effect.Effect<void> =>
      retryLater(session, strategy).pipe(logFailures(session))

    /**
     * What a state asks for; `null` if nothing. Deciding is cheap: it reads nothing, and nearly always ends at the trigger,
     * before there is a plan. It throws what a strategy throws.
     */
    const askedBy = (
      state: SessionState,
      strategy: Strategy,
      now: number,
    ): Effect.Effect<void, SessionError> | null => {
      const { session } = state
      const options = decideOptions(state, now)
      const decision = decide(strategy, state, options)
      const compared = shadow === undefined ? null : compareShadow(shadow, state, decision, options)
      // While a compaction runs, the check is passed on too: the scheduler repeats it when that ends.
      const due = isDue(state, decision) || (decision._tag === "Idle" && decision.reason === "running")
      const start = () => {
        if (mode === "background")
          return due
            ? scheduler.checkSoon(session, strategy)
            : setTimer(state, strategy, { decided: now, now })
        return due && mode === "inline" ? work(session, strategy) : null
      }
      return compared === null ? start() : Effect.flatMap(compared, () => start() ?? Effect.void)
    }

    const check: CompactionSchedule["check"] = (state, strategy) =>
      Effect.withFiberRuntime<void, SessionError>(
        (fiber) => askedBy(state, strategy, nowOf(fiber)) ?? Effect.void,
      ).pipe(logFailures(state.session), span("memfold.decide"))

    const checkAtOnce: CompactionSchedule["checkAtOnce"] = (fiber, state, strategy) => {
      if (isTraced(fiber)) return check(state, strategy)
      try {
        const asked = askedBy(state, strategy, nowOf(fiber))
        return asked === null ? null : logFailures(state.session)(asked)
      } catch (defect) {
        return logBackgroundFailure(state.session)(Cause.die(defect))
      }
    }

    return {
      check,
      checkAtOnce,
      compactDue: (session, strategy) => {
        if (mode === "off") return Effect.succeed([])
        const worked = work(session, strategy)
        if (mode !== "background") return worked
        return Effect.flatMap(Clock.currentTimeMillis, (began) =>
          Effect.zipLeft(worked, afterSuccess(session, strategy, began)),
        )
      },
      // An explicit compaction runs only once. More may have come due meanwhile, so the session is checked afterwards
      // (law L11); in the background, even if the compaction fails or is interrupted.
      compactNow: (session, strategy, options) => {
        if (mode === "off") return Effect.succeed({ _tag: "Idle", reason: "off" })
        const compacted = Effect.zipRight(
          learning.learnDue(session),
          run(dependencies(strategy), session, { onDemand: true, ...options }),
        )
        if (mode === "background") return Effect.ensuring(compacted, scheduler.checkNow(session, strategy))
        const checked = Effect.flatMap(sessions.load(session), (state) => check(state, strategy))
        return Effect.zipLeft(compacted, checked.pipe(logFailures(session)))
      },
      waitForBudget: (session, strategy) =>
        budget === undefined || !automatic
          ? Effect.succeed(undefined)
          : waitForBudget(
              { sessions, leases },
              session,
              { ...budget, margin: marginOf(parts.counter) },
              Effect.zipRight(scheduler.checkNow(session, strategy), scheduler.whenIdle(session)),
            ),
      forget: (session) => {
        scheduler.forget(session)
        failures.delete(session)
        leases.forget(session)
        learning.forget(session)
      },
    }
  })
