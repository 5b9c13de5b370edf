/**
 * When work runs for a session. Learning and compacting are one piece of work, and it starts
 *
 * - after a write, if a look at the new state finds something due;
 * - when a timer is due, for triggers that go by the clock, for retries, and for the lease of another process;
 * - after a failure of the store, with growing pauses;
 * - when an operation of the memory asks for it.
 *
 * The mode decides who runs it: the {@link Scheduler} in the background, the caller (`inline`), or another process that a
 * {@link Dispatcher} tells (`dispatch`). In modes `manual` and `off`, only explicit calls start it, or none.
 */
import { Clock, type Duration, Effect, Schedule, type Scope } from "effect"
import { breathe } from "@memfold/log/breathe"
import { look } from "../engine/look.js"
import { as } from "../event/Actor.js"
import type { Service as MemoryLayers } from "../layers/MemoryLayers.js"
import { marginOf } from "@memfold/message/TokenCounter"
import { span } from "../observe/spans.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionState } from "../session/SessionState.js"
import type { Service as Summarizer } from "../summarize/Summarizer.js"
import { compareShadow } from "./compareShadow.js"
import { Leases } from "./Leases.js"
import * as Learning from "./Learning.js"
import { logBackgroundFailure, logFailures } from "./logBackgroundFailure.js"
import { type CompactionMode, type Looked, modes } from "./modes.js"
import { NextChecks } from "./NextChecks.js"
import { compactDue, type CompactionParts, type CompactionRequest, runCompaction } from "./runCompaction.js"
import type { CompactionOutcome } from "./CompactionOutcome.js"
import type { Service as Dispatcher } from "@memfold/log/Dispatcher"
import { fillOf } from "./dispatch.js"
import { makeOutbox } from "./Outbox.js"
import { previewCompactions, type PreviewedCompactions, type PreviewRequest } from "./previewCompactions.js"
import type { RunEnd } from "./Runs.js"
import * as Scheduler from "./Scheduler.js"
import type { SessionError } from "./Sessions.js"
import { type Budget, type BudgetOutcome, waitForBudget } from "./waitForBudget.js"
import { WaitingNotes } from "./WaitingNotes.js"

export interface ScheduleParts extends Omit<CompactionParts, "leases"> {
  readonly layers: MemoryLayers | null
  readonly mode: CompactionMode
  /** Where the mode `dispatch` hands its work to. */
  readonly dispatcher: Dispatcher | null
  readonly shadow: Strategy | undefined
  readonly budget: Budget | undefined
  readonly shutdown: Duration.DurationInput
  readonly concurrency: number
  /** Waits until there is time for what need not be done now. */
  readonly calm: Effect.Effect<void>
}

/** Runs learning and compacting for a memory, when the mode says so. */
export interface CompactionSchedule {
  /**
   * Looks at a state that was just written, and starts the work that is due or sets the timer for it. It returns at once,
   * except in mode `inline`, and in mode `dispatch` once the queue has it. It never fails: the write is durable already.
   */
  readonly check: (state: SessionState, strategy: Strategy) => Effect.Effect<void>
  /**
   * Looks at a state that a transaction of the application has written. What is due starts in the background once the log has
   * that state: what is rolled back starts nothing. A transaction that commits after two minutes is looked at by the next write.
   */
  readonly checkOnceCommitted: (state: SessionState, strategy: Strategy) => Effect.Effect<void>
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
  /** What compactions would do to a state; nothing is written. In mode `off`, they do nothing. */
  readonly preview: (
    state: SessionState,
    request: PreviewRequest & { readonly summarizer?: Summarizer | undefined },
  ) => Effect.Effect<PreviewedCompactions>
  /** Waits for compactions while the context is over budget; `undefined` where the options do not ask for that. */
  readonly waitForBudget: (
    session: string,
    strategy: Strategy,
  ) => Effect.Effect<BudgetOutcome | undefined, SessionError>
  /** Whether a compaction is due for a state, and the mode lets it start. */
  readonly isDue: (state: SessionState, strategy: Strategy, now: number) => boolean
  readonly forget: (session: string) => void
}

/** When to look whether a transaction has been committed: soon, then every five seconds, for two minutes. */
const untilCommitted = Schedule.upTo(
  Schedule.union(Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")),
  "2 minutes",
)

/** Waits until the log has a version of a session, or until nobody commits it any more. */
const untilWritten = (
  sessions: ScheduleParts["sessions"],
  { session, version }: SessionState,
): Effect.Effect<unknown, SessionError> =>
  Effect.repeat(
    Effect.map(sessions.head(session), (head) => (head?.version ?? 0) >= version),
    { schedule: untilCommitted, until: (isThere) => isThere },
  )

/** Makes the schedule. Its fibers live in the scope. */
export const make = (parts: ScheduleParts): Effect.Effect<CompactionSchedule, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { sessions, shadow, budget, circumstances } = parts
    const scope = yield* Effect.scope
    const learning = Learning.make(parts, parts.layers)
    const leases = new Leases()
    const compaction: CompactionParts = { ...parts, leases }
    const notes = new WaitingNotes()
    const outbox =
      parts.dispatcher === null || parts.mode !== "dispatch" ? null : yield* makeOutbox(parts.dispatcher)
    const nextChecks = new NextChecks(compaction, (session, request, time) =>
      outbox === null
        ? scheduler.checkAt(session, request, time)
        : outbox.send({ session, time, fill: fillOf(sessions.cached(session), request.strategy, parts) }),
    )

    /** What is due for a state, with the locks that this process respects. */
    const lookAt = (state: SessionState, strategy: Strategy, now: number): Looked => {
      const due = look(state, strategy, { ...circumstances, now, lockedUntil: leases.until(state, now) })
      const isDue = due._tag === "Compact" || learning.isDue(state) || state.damaged.length > 0
      return { due, isDue, strategy, now }
    }

    /** Learns before it compacts: the state no longer has the messages that a summary covers. */
    const learned = <A, E>(session: string, strategy: Strategy, compact: Effect.Effect<A, E>) =>
      Effect.zipRight(learning.learnDue(session, strategy), compact)

    /** One compaction. Other sessions have their turn before the next one. */
    const work = (session: string, take: () => CompactionRequest): Effect.Effect<RunEnd> =>
      Effect.gen(function* () {
        yield* parts.calm
        const began = yield* Clock.currentTimeMillis
        const request = take()
        const outcome = yield* learned(session, request.strategy, runCompaction(compaction, session, request))
        if (outcome._tag === "Idle" || outcome._tag === "Failed") {
          yield* nextChecks.afterIdleRun(session, request.strategy, began)
          return "done" as const
        }
        return yield* lookAgain(session, take)
      }).pipe(
        Effect.catchAllCause((cause) =>
          logBackgroundFailure(session)(cause).pipe(
            Effect.zipRight(nextChecks.afterFailure(session, take().strategy)),
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
    const lookAgain = (session: string, take: () => CompactionRequest): Effect.Effect<RunEnd> =>
      Effect.gen(function* () {
        const state = sessions.cached(session)
        if (state === null) return "more"
        const { strategy } = take()
        const now = yield* Clock.currentTimeMillis
        const { due, isDue } = lookAt(state, strategy, now)
        if (isDue) return "more"
        yield* nextChecks.afterRun(due, strategy, now)
        return "done"
      })

    const check: CompactionSchedule["check"] = (state, strategy) =>
      Effect.gen(function* () {
        // Where nothing starts by itself, the tail grows, and each look would plan a compaction of all of it.
        if (!mode.isAutomatic && shadow === undefined) return
        const looked = lookAt(state, strategy, yield* Clock.currentTimeMillis)
        if (shadow !== undefined)
          yield* compareShadow(shadow, looked.due, { ...circumstances, now: looked.now })
        if (mode.isAutomatic) yield* notes.note(looked.due)
        yield* mode.written(looked)
        // Appends to a store in memory, one after the other, never end the turn of the event loop: what is due would not start, and
        // what runs would get no answer.
        if (looked.isDue || state.running !== null) yield* breathe
      }).pipe(logFailures(state.session), span("memfold.decide"))

    const allDue = (session: string, strategy: Strategy) =>
      learned(session, strategy, compactDue(compaction, session, strategy))
    const mode = modes[parts.mode]({
      sessions,
      scheduler,
      outbox,
      nextChecks,
      fill: (state, strategy) => fillOf(state, strategy, parts),
      // What an append makes due is the work of the memory, and not of whoever appends.
      work: (session, strategy) => as(null)(allDue(session, strategy)),
      check: (session, strategy) =>
        Effect.flatMap(sessions.load(session), (state) => check(state, strategy)).pipe(logFailures(session)),
    })

    return {
      check,
      checkOnceCommitted: (state, strategy) =>
        Effect.gen(function* () {
          if (mode.isInBackground === undefined) return
          const { due, isDue } = lookAt(state, strategy, yield* Clock.currentTimeMillis)
          if (!isDue) return yield* nextChecks.afterLook(due, strategy)
          // Rolled back or not, the check reads what is there. It is one more read at most.
          const wait = Effect.zipRight(
            untilWritten(sessions, state),
            scheduler.checkSoon(state.session, { strategy }),
          )
          yield* Effect.forkIn(wait.pipe(logFailures(state.session), Effect.interruptible), scope)
        }).pipe(logFailures(state.session)),
      compactDue: (session, strategy) => mode.due(allDue(session, strategy), session, strategy),
      compactNow: (session, request) =>
        mode.one(
          learned(
            session,
            request.strategy,
            runCompaction(compaction, session, { ...request, onDemand: true }),
          ),
          session,
          request.strategy,
        ),
      preview: (state, { summarizer = parts.summarizer, ...request }) =>
        parts.mode === "off"
          ? Effect.succeed({ compactions: [], state, idle: "off" })
          : previewCompactions({ ...compaction, summarizer }, state, request),
      waitForBudget: (session, strategy) =>
        budget === undefined || !mode.isAutomatic
          ? Effect.succeed(undefined)
          : waitForBudget(
              { sessions, leases, spend: parts.spend },
              session,
              { ...budget, margin: marginOf(parts.counter) },
              Effect.zipRight(scheduler.checkNow(session, { strategy }), scheduler.whenIdle(session)),
            ),
      isDue: (state, strategy, now) =>
        mode.isAutomatic && lookAt(state, strategy, now).due._tag === "Compact",
      forget: (session) => {
        for (const part of [scheduler, nextChecks, notes, leases, learning]) part.forget(session)
        outbox?.forget(session)
      },
    }
  })
