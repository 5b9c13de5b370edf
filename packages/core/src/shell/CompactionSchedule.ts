/**
 * When work runs for a session. Learning and compacting are one piece of work, and it starts
 *
 * - after a write, if a look at the new state finds something due;
 * - when a timer is due, for triggers that go by the clock, for retries, and for the lease of another process;
 * - after a failure of the store, with growing pauses;
 * - when an operation of the memory asks for it.
 *
 * The mode decides who runs it: the {@link Scheduler} in the background, or the caller (`inline`). In modes `manual` and
 * `off`, only explicit calls start it, or none.
 */
import { Cause, Clock, Duration, Effect, type Scope } from "effect"
import { pauseAfter } from "../engine/compaction.js"
import { type Due, look } from "../engine/look.js"
import type { Service as MemoryLayers } from "../layers/MemoryLayers.js"
import { marginOf } from "../message/TokenCounter.js"
import { span } from "../observe/spans.js"
import { nextCheck } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { contextTokens, type SessionState } from "../session/SessionState.js"
import { compareShadow } from "./compareShadow.js"
import { Leases } from "./Leases.js"
import * as Learning from "./Learning.js"
import { logBackgroundFailure } from "./logBackgroundFailure.js"
import { compactDue, type CompactionParts, type CompactionRequest, runCompaction } from "./runCompaction.js"
import type { CompactionOutcome } from "./CompactionOutcome.js"
import * as Scheduler from "./Scheduler.js"
import type { SessionError } from "./Sessions.js"
import { type Budget, type BudgetOutcome, waitForBudget } from "./waitForBudget.js"

/** Who runs the compactions that are due: a background fiber, the writing call, only explicit calls, or none. */
export type CompactionMode = "background" | "inline" | "manual" | "off"

/** What runs compactions, and the options that say when. */
export interface ScheduleParts extends Omit<CompactionParts, "leases"> {
  readonly layers: MemoryLayers | null
  readonly mode: CompactionMode
  readonly shadow: Strategy | undefined
  readonly budget: Budget | undefined
  readonly shutdown: Duration.DurationInput
  readonly concurrency: number
}

/** Runs learning and compacting for a memory, when the mode says so. */
export interface CompactionSchedule {
  /**
   * Looks at a state that was just written, and starts the work that is due or sets the timer for it. It returns at once,
   * except in mode `inline`, and never fails: the write is durable already.
   */
  readonly check: (state: SessionState, strategy: Strategy) => Effect.Effect<void>
  /** Runs all work that is due, and returns one outcome for each compaction. Nothing is due in mode `off`. */
  readonly compactDue: (
    session: string,
    strategy: Strategy,
  ) => Effect.Effect<ReadonlyArray<CompactionOutcome>, SessionError>
  /** Compacts once, whatever the trigger says. In mode `off`, it does nothing. */
  readonly compactNow: (
    session: string,
    request: CompactionRequest,
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
export const make = (parts: ScheduleParts): Effect.Effect<CompactionSchedule, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { sessions, settings, mode, shadow, budget, circumstances } = parts
    const learning = Learning.make(sessions, parts.layers)
    const leases = new Leases()
    const compaction: CompactionParts = { ...parts, leases }
    /** The failed runs in a row of each session. */
    const failures = new Map<string, number>()
    /** The sessions whose compaction waits for something to gain. */
    const waiting = new Set<string>()

    /** Says once that a compaction waits: more messages alone will not bring the context below the limit. */
    const sayWaiting = (due: Due): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { session } = due.state
        if (due._tag === "Compact" || due.reason !== "nothing-to-gain") {
          if (due._tag === "Compact" || due.reason === "not-due") waiting.delete(session)
          return Effect.void
        }
        if (waiting.has(session)) return Effect.void
        waiting.add(session)
        return Effect.logWarning(
          "a compaction waits: the context would stay above its limit; tools, instructions and what stays verbatim take the room",
        ).pipe(Effect.annotateLogs({ session, tokens: contextTokens(due.state) }))
      })

    /** What is due for a state, with the locks that this process respects. */
    const lookAt = (state: SessionState, strategy: Strategy, now: number): Due =>
      look(state, strategy, { ...circumstances, now, lockedUntil: leases.until(state, now) })

    const isDue = ({ state, _tag }: Due): boolean =>
      _tag === "Compact" || learning.isDue(state) || state.damaged.length > 0

    /** Learns before it compacts: the state no longer has the messages that a summary covers. */
    const learned = <A, E>(session: string, compact: Effect.Effect<A, E>) =>
      Effect.zipRight(learning.learnDue(session), compact)

    /** One compaction. Other sessions have their turn before the next one. */
    const work = (session: string, take: () => CompactionRequest): Effect.Effect<Scheduler.RunEnd> =>
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        const request = take()
        const outcome = yield* learned(session, runCompaction(compaction, session, request))
        if (outcome._tag === "Idle" || outcome._tag === "Failed") {
          yield* setTimerAfterRun(session, request.strategy, began)
          return "done" as const
        }
        return yield* lookAgain(session, take)
      }).pipe(
        Effect.catchAllCause((cause) =>
          logBackgroundFailure(session)(cause).pipe(
            Effect.zipRight(retryLater(session, take().strategy)),
            logFailures(session),
            Effect.as("failed" as const),
          ),
        ),
      )

    const scheduler: Scheduler.Scheduler<CompactionRequest> = yield* Scheduler.make(work, {
      finish: parts.shutdown,
      atOnce: parts.concurrency,
    })

    /**
     * Looks at the state after a compaction, with all that came meanwhile (law L11): returns whether more is due, or sets the
     * timer. It reads nothing: what other processes have written since, they look at themselves.
     */
    const lookAgain = (session: string, take: () => CompactionRequest): Effect.Effect<Scheduler.RunEnd> =>
      Effect.gen(function* () {
        const state = sessions.cached(session)
        if (state === null) return "more"
        const { strategy } = take()
        const now = yield* Clock.currentTimeMillis
        const due = lookAt(state, strategy, now)
        if (isDue(due)) return "more"
        failures.delete(session)
        yield* setTimer(due, strategy, now + shortestPause)
        return "done"
      })

    /** Sets the timer for what comes due without a message; not before `earliest`, in milliseconds since the epoch. */
    const setTimer = (due: Due, strategy: Strategy, earliest = 0): Effect.Effect<void> =>
      due._tag === "Compact" || due.lookAgainAt === null
        ? Effect.void
        : scheduler.checkAt(due.state.session, { strategy }, Math.max(due.lookAgainAt, earliest))

    /** Sets the timer after a run that began at a time: something may have come due since then. */
    const setTimerAfterRun = (session: string, strategy: Strategy, began: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        failures.delete(session)
        return sessions.load(session)
      }).pipe(
        Effect.flatMap((state) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const time = nextCheck(strategy, state, {
              ...circumstances,
              now: began,
              lockedUntil: leases.until(state, now),
            })
            return time === null
              ? Effect.void
              : scheduler.checkAt(session, { strategy }, Math.max(time, now + shortestPause))
          }),
        ),
        Effect.catchAll(() => retryLater(session, strategy)),
        logFailures(session),
      )

    /** The store may be back later, and no append need come to find out. */
    const retryLater = (session: string, strategy: Strategy): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const before = failures.get(session) ?? 0
        failures.set(session, before + 1)
        const pause = pauseAfter(Duration.toMillis(settings.backOff), before)
        return scheduler.checkAt(session, { strategy }, now + pause)
      })

    /** Logs failures: what runs beside an operation must not fail it. Interruption passes. */
    const logFailures =
      (session: string) =>
      <E>(effect: Effect.Effect<void, E>): Effect.Effect<void> =>
        Effect.catchAllCause(effect, (cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.interrupt : logBackgroundFailure(session)(cause),
        )

    const check: CompactionSchedule["check"] = (state, strategy) =>
      Effect.gen(function* () {
        const { session } = state
        const now = yield* Clock.currentTimeMillis
        const due = lookAt(state, strategy, now)
        if (shadow !== undefined) yield* compareShadow(shadow, due, { ...circumstances, now })
        if (mode === "inline" || mode === "background") yield* sayWaiting(due)
        if (mode === "inline" && isDue(due))
          yield* learned(session, compactDue(compaction, session, strategy))
        if (mode !== "background") return
        // While a compaction runs, the check is passed on too: the scheduler repeats it when that ends.
        const isRunning = due._tag === "Nothing" && due.reason === "running"
        yield* isDue(due) || isRunning
          ? scheduler.checkSoon(session, { strategy, due: due._tag === "Compact" ? due : undefined })
          : setTimer(due, strategy)
      }).pipe(logFailures(state.session), span("memfold.decide"))

    return {
      check,
      compactDue: (session, strategy) => {
        if (mode === "off") return Effect.succeed([])
        const worked = learned(session, compactDue(compaction, session, strategy))
        if (mode !== "background") return worked
        return Effect.flatMap(Clock.currentTimeMillis, (began) =>
          Effect.zipLeft(worked, setTimerAfterRun(session, strategy, began)),
        )
      },
      // An explicit compaction runs only once. More may have come due meanwhile, so the session is checked afterwards
      // (law L11); in the background, even if the compaction fails or is interrupted.
      compactNow: (session, request) => {
        if (mode === "off") return Effect.succeed({ _tag: "Idle", reason: "off" })
        const { strategy } = request
        const compacted = learned(session, runCompaction(compaction, session, { ...request, onDemand: true }))
        if (mode === "background")
          return Effect.ensuring(compacted, scheduler.checkNow(session, { strategy }))
        const checked = Effect.flatMap(sessions.load(session), (state) => check(state, strategy))
        return Effect.zipLeft(compacted, checked.pipe(logFailures(session)))
      },
      waitForBudget: (session, strategy) =>
        budget === undefined || mode === "manual" || mode === "off"
          ? Effect.succeed(undefined)
          : waitForBudget(
              { sessions, leases },
              session,
              { ...budget, margin: marginOf(parts.counter) },
              Effect.zipRight(scheduler.checkNow(session, { strategy }), scheduler.whenIdle(session)),
            ),
      forget: (session) => {
        scheduler.forget(session)
        failures.delete(session)
        waiting.delete(session)
        leases.forget(session)
        learning.forget(session)
      },
    }
  })
