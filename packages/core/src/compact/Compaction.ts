/**
 * The compaction protocol:
 *
 * 1. start: append `CompactionStarted`, decided on the state it is appended to. The log's compare-and-swap makes it the
 *    session's lock.
 * 2. summarize, outside every lock and transaction
 * 3. commit the summary, only while this compaction still has the lock
 *
 * The lock carries a lease, which is renewed during step 2. When the process is killed, the lease ends soon, and another
 * compaction takes the lock over.
 *
 * If it fails, the messages stay uncovered and the failure is an event.
 */
import { Clock, Duration, Effect, type Fiber } from "effect"
import type { CompactionStarted, Event, SummaryCommitted, ToolOutputsPruned } from "../event/Event.js"
import { nowOf } from "../event/clock.js"
import { withId } from "../event/id.js"
import { text } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { messageOverhead, ofMessage } from "../message/TokenCounter.js"
import type { Decision, Plan } from "../policy/decide.js"
import { decide, longestPause } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { noFiles, shownSegments } from "../summary/Summary.js"
import { texts } from "../summary/Wording.js"
import { type Leases, longestLease } from "../session/Leases.js"
import { retryTransient } from "../session/retry.js"
import type { SessionError, Sessions, Step } from "../session/Sessions.js"
import { prune } from "../session/prune.js"
import { questionIndex } from "../session/question.js"
import type { SessionState } from "../session/SessionState.js"
import { contextTokens, tokensBetween, withoutPinned } from "../session/SessionState.js"
import { chain, type Service as Summarizer, type SummarizerError } from "../summarize/Summarizer.js"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import { smallestRoom } from "./chunks.js"
import { type Hooks, runHook } from "./Hooks.js"
import { invalidateDamaged } from "./invalidateDamaged.js"
import { shownBlocks } from "./shownBlocks.js"
import { filesOf } from "./toolNotes.js"
import type { Budget } from "./waitForBudget.js"
import { watched } from "./watched.js"
import { type Writers, type Written, writeSummary } from "./writeSummary.js"

/** The settings of the protocol. They affect how soon a compaction succeeds, never its correctness. */
export interface Settings {
  /** How long one call of the summarizer may take; 2 minutes by default. */
  readonly summarizerTimeout: Duration.DurationInput
  /** How often a failed call is retried, with growing pauses; twice by default. */
  readonly summarizerRetries: number
  /**
   * How long a compaction owns the session's lock without a sign of life; then others may take over. It is renewed after
   * each half of this time while the compaction is at work. 30 seconds by default, from a second to an hour.
   */
  readonly lease: Duration.DurationInput
  /** The pause after a failed compaction; 1 minute by default. It doubles with each further failure, up to an hour. */
  readonly backOff: Duration.DurationInput
}

/** The settings with the defaults for those that are missing. */
export const withDefaults = (given: Partial<Settings>): Settings => ({
  summarizerTimeout: given.summarizerTimeout ?? "2 minutes",
  summarizerRetries: given.summarizerRetries ?? 2,
  lease: given.lease ?? "30 seconds",
  backOff: given.backOff ?? "1 minute",
})

/** Nothing was done: no compaction was due, a hook vetoed it, or compaction is off. */
type IdleOutcome =
  | Extract<Decision, { _tag: "Idle" }>
  | { readonly _tag: "Idle"; readonly reason: "vetoed" | "off" }

/**
 * How a compaction ended.
 *
 * - `Idle`: nothing was done, for a reason
 * - `Committed`: the new summary is active
 * - `Pruned`: no summary was written; tool outputs were shortened
 * - `Failed`: the summarizers failed, and the messages stay uncovered; the compaction is retried after a pause
 * - `Lost`: the lock was lost, to another process or because the session was changed; the result was thrown away
 */
export type CompactionOutcome =
  | IdleOutcome
  | {
      readonly _tag: "Committed"
      readonly started: CompactionStarted
      readonly committed: SummaryCommitted
      /** The id of the summary that it replaces, if there was one. */
      readonly supersedes: string | null
      /** The tool outputs that were shortened with it, if any. */
      readonly pruned: ToolOutputsPruned | null
    }
  | { readonly _tag: "Pruned"; readonly started: CompactionStarted; readonly pruned: ToolOutputsPruned }
  | { readonly _tag: "Failed"; readonly started: CompactionStarted; readonly error: SummarizerError }
  | { readonly _tag: "Lost"; readonly started: CompactionStarted }

/** The parts of an engine that a compaction needs. */
export interface Dependencies {
  readonly sessions: Sessions
  readonly strategy: Strategy
  readonly summarizer: Summarizer
  readonly counter: TokenCounter
  readonly settings: Settings
  readonly hooks: Hooks
  readonly budget?: Budget | undefined
  readonly leases: Leases
  /** The context of a state, as a model would get it now. */
  readonly contextOf: Writers["contextOf"]
}

/** Options of one run. */
export interface RunOptions {
  /** Compacts now, regardless of the trigger, a pause after a failure, and a pause after a revert. */
  readonly onDemand?: boolean
  /** Instructions for the summarizer. */
  readonly instructions?: string | undefined
  /** Takes the lock from a compaction that runs. That one ends as `Lost`, and its result is thrown away. */
  readonly takeOver?: boolean | undefined
  /**
   * Starts a compaction that is due for the state that this process knows, without asking the store for a newer one: the
   * append of the start asks.
   */
  readonly trustsCache?: boolean | undefined
}

/** Until when a run respects the lock of another compaction, in milliseconds since the epoch. */
const lockedUntil = (
  { leases }: Dependencies,
  { takeOver = false }: RunOptions,
  state: SessionState,
  now: number,
): number => (takeOver ? Number.NEGATIVE_INFINITY : leases.until(state, now))

/** Runs at most one compaction of a session, and returns how it ended or why there was none. */
export const run = (
  dependencies: Dependencies,
  session: string,
  options: RunOptions = {},
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.flatMap(approve(dependencies, session, options), (approved) =>
    "_tag" in approved ? Effect.succeed(approved) : runApproved(dependencies, session, approved),
  ).pipe(span("memfold.compact", { session }))

const runApproved = (
  dependencies: Dependencies,
  session: string,
  approved: Approved,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.withFiberRuntime((fiber) => {
    const startedTime = nowOf(fiber)
    const { afterCompaction } = dependencies.hooks
    return Effect.flatMap(
      protocol(dependencies, session, approved),
      (outcome): Effect.Effect<CompactionOutcome> => {
        if (outcome._tag === "Idle") return Effect.succeed(outcome)
        measure(fiber, outcome, nowOf(fiber) - startedTime)
        return afterCompaction === undefined
          ? Effect.succeed(outcome)
          : Effect.as(
              runHook(session, () => afterCompaction({ session, outcome })),
              outcome,
            )
      },
    )
  })

/** A run that may start: its decision, which the hook saw, and the state it was made on. */
interface Approved extends RunOptions {
  readonly decided: { readonly state: SessionState; readonly decision: Decision }
}

const decideOn = (
  dependencies: Dependencies,
  options: RunOptions,
  state: SessionState,
  now: number,
): Decision =>
  decide(dependencies.strategy, state, {
    now,
    onDemand: options.onDemand ?? false,
    budget: dependencies.budget?.tokens,
    lockedUntil: lockedUntil(dependencies, options, state, now),
  })

/**
 * Decides on the newest state and asks the hook. Nothing waits for the session's writers unless there is something to
 * write.
 */
const approve = (
  dependencies: Dependencies,
  session: string,
  options: RunOptions,
): Effect.Effect<Approved | IdleOutcome, SessionError> =>
  Effect.withFiberRuntime((fiber) => {
    const { sessions, hooks } = dependencies
    const known =
      options.trustsCache === true && hooks.beforeCompaction === undefined ? sessions.cached(session) : null
    if (known !== null && known.damaged.length === 0) {
      const decision = decideOn(dependencies, options, known, nowOf(fiber))
      if (decision._tag === "Due") return asked(dependencies, options, known, decision)
    }
    return Effect.flatMap(invalidateDamaged(sessions, session), (state) =>
      asked(dependencies, options, state, decideOn(dependencies, options, state, nowOf(fiber))),
    )
  })

/** Asks the hook about a decision. */
const asked = (
  { hooks }: Dependencies,
  options: RunOptions,
  state: SessionState,
  decision: Decision,
): Effect.Effect<Approved | IdleOutcome> => {
  if (decision._tag === "Idle") return Effect.succeed(decision)
  const { plan } = decision
  const { session } = state
  const { beforeCompaction } = hooks
  const approved: Approved = { ...options, decided: { state, decision } }
  if (beforeCompaction === undefined) return Effect.succeed(approved)
  return Effect.map(
    runHook(session, () => beforeCompaction({ session, state, plan })),
    (verdict) => {
      if (verdict === undefined) return approved
      if ("veto" in verdict) return { _tag: "Idle", reason: "vetoed" }
      const instructions = [options.instructions, verdict.instructions].filter((one) => one !== undefined)
      return { ...approved, instructions: instructions.join("\n\n") }
    },
  )
}

/**
 * The protocol: start, summarize, commit. The lease is renewed while the summarizer works. Only the summarizer can be
 * interrupted; then the lock is given back.
 */
const protocol = (
  dependencies: Dependencies,
  session: string,
  approved: Approved,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(start(dependencies, session, approved), (lock) => {
      if (lock._tag === "Idle") return Effect.succeed(lock)
      const { started, plan, before } = lock
      const writing = writeSummary(dependencies, before, plan, approved)
      return Effect.matchEffect(restore(watched(writing, keepLease(dependencies, lock))), {
        onSuccess: (written): Effect.Effect<CompactionOutcome, SessionError> =>
          written === "lost"
            ? Effect.succeed({ _tag: "Lost", started })
            : commit(dependencies, lock, written),
        onFailure: (error) => fail(dependencies, started, error),
      }).pipe(
        // Otherwise the session would stay locked until the lease ends.
        Effect.catchAllCause((cause) =>
          Effect.zipRight(
            Effect.ignoreLogged(release(dependencies, session, started)),
            Effect.failCause(cause),
          ),
        ),
      )
    }),
  )

/** Counts a compaction that ended. */
const measure = (
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  outcome: Exclude<CompactionOutcome, IdleOutcome>,
  millis: number,
): void => {
  const { reason, strategy } = outcome.started
  const saved =
    outcome._tag === "Committed"
      ? Math.max(outcome.committed.tokensBefore - outcome.committed.tokensAfter, 0)
      : 0
  metrics.update(fiber, metrics.compactions, 1, {
    outcome: outcome._tag,
    strategy,
    reason: outcome._tag === "Failed" ? outcome.error.reason : reason,
  })
  metrics.update(fiber, metrics.compactionDuration, millis)
  metrics.update(fiber, metrics.tokensSaved, saved)
}

interface Started {
  readonly _tag: "Started"
  readonly started: CompactionStarted
  readonly plan: Plan
  /** The state that the plan was decided on. It still has the messages of the plan. */
  readonly before: SessionState
}

/** The length of a lease, in milliseconds. */
const leaseMillis = ({ lease }: Settings): number =>
  Math.min(Math.max(Duration.toMillis(lease), shortestLease), longestLease)

/** The shortest lease, in milliseconds: a shorter one would be renewed all the time. */
const shortestLease = 1_000

/**
 * The longest time that the work for a plan can take, in milliseconds. It counts each call of each summarizer in the
 * chain, with all retries.
 */
const longestWork = (
  { settings, summarizer }: Dependencies,
  { before, plan }: Pick<Started, "before" | "plan">,
): number => {
  const tokens = tokensBetween(before, plan.from, plan.to)
  const calls = chain(summarizer)
    .map(
      ({ maxInputTokens }) =>
        plan.parts.length + Math.ceil(tokens / (smallestRoom(maxInputTokens) ?? Infinity)),
    )
    .reduce((sum, each) => sum + each, 0)
  const call = (settings.summarizerRetries + 1) * (Duration.toMillis(settings.summarizerTimeout) + 5_000)
  return calls * call
}

/**
 * Renews the lease while the summarizer works. It ends with `lost` when another compaction has the lock; then the rest of
 * the work would be thrown away. The number of renewals is bounded, because the time of the work is.
 */
const keepLease = (dependencies: Dependencies, lock: Started): Effect.Effect<"lost"> =>
  Effect.gen(function* () {
    const { sessions, settings } = dependencies
    const { started, before } = lock
    const { compaction } = started
    const lease = leaseMillis(settings)
    const now = yield* Clock.currentTimeMillis
    // It took a while to get the lock if many writers competed for the session.
    yield* Effect.sleep(Math.max(Math.min(started.leaseUntil - now - lease / 2, lease / 2), 0))
    for (let left = Math.ceil(longestWork(dependencies, lock) / (lease / 2)); left > 0; left--) {
      const renew = (state: SessionState, time: number): Step<boolean> =>
        state.running?.compaction === compaction
          ? { events: [{ _tag: "CompactionRenewed", compaction, leaseUntil: time + lease }], answer: true }
          : { events: [], answer: false }
      const renewed = yield* retryTransient(sessions.transact(before.session, renew)).pipe(
        Effect.map(({ answer }) => answer),
        // The commit will show whether the lock was lost meanwhile.
        Effect.catchAll(() => Effect.succeed(true)),
      )
      if (!renewed) return "lost" as const
      yield* Effect.sleep(lease / 2)
    }
    return yield* Effect.never
  })

/**
 * Takes the session's lock for a plan. The plan is decided on the very state that the lock is appended to, since the
 * append fails at any other version. The decision made before is used if the session has not changed since then; otherwise it
 * is made again.
 */
const start = (
  dependencies: Dependencies,
  session: string,
  approved: Approved,
): Effect.Effect<Started | IdleOutcome, SessionError> =>
  withId((compaction) => {
    const { sessions, strategy, settings } = dependencies
    const { decided } = approved
    let lock: Started | null = null
    const step = (before: SessionState, now: number): Step<Started | IdleOutcome> => {
      // An earlier try was stored, and only its answer was lost.
      if (lock !== null && before.running?.compaction === compaction) return { events: [], answer: lock }
      const decision =
        before === decided.state ? decided.decision : decideOn(dependencies, approved, before, now)
      if (decision._tag === "Idle") return { events: [], answer: decision }
      const { plan } = decision
      const { reason, from, to, tailFrom, parts } = plan
      const started: CompactionStarted = {
        _tag: "CompactionStarted",
        compaction,
        strategy: strategy.name,
        reason,
        from,
        to,
        tailFrom,
        parts,
        leaseUntil: now + leaseMillis(settings),
      }
      lock = { _tag: "Started", started, plan, before }
      const { running } = before
      const takenOver: ReadonlyArray<Event> =
        running === null || now < lockedUntil(dependencies, approved, before, now)
          ? []
          : [{ _tag: "CompactionReleased", compaction: running.compaction }]
      return { events: [...takenOver, started], answer: lock }
    }
    return Effect.map(
      retryTransient(sessions.transact(session, step, { batchId: compaction })),
      ({ answer }) => answer,
    )
  })

/** The event that shortens the tool outputs of a plan, and the tokens it saves; `null` where a plan has none. */
const pruneOutputs = (
  counter: TokenCounter,
  before: SessionState,
  { started, plan }: Started,
): { readonly event: ToolOutputsPruned; readonly saved: number } | null => {
  if (plan.prune.length === 0) return null
  const after = prune(
    before.uncovered,
    plan.prune.map((output) => ({ ...output, tokens: 0 })),
  )
  const outputs = plan.prune.map((output) => {
    const message = after.at(output.index)?.message
    return { ...output, tokens: message === undefined ? 0 : ofMessage(counter, message) }
  })
  const saved = [...new Map(outputs.map((output) => [output.index, output.tokens]))].reduce(
    (sum, [index, tokens]) => sum + (before.uncovered.at(index)?.tokens ?? 0) - tokens,
    0,
  )
  return { event: { _tag: "ToolOutputsPruned", compaction: started.compaction, outputs }, saved }
}

/** Commits the summary, if this compaction still has the lock. */
const commit = (
  { sessions, strategy, counter }: Dependencies,
  lock: Started,
  { carried, segments, calls, coveredTo, by }: Written,
): Effect.Effect<CompactionOutcome, SessionError> =>
  withId((summary) => {
    const { before, started } = lock
    const pruned = pruneOutputs(counter, before, lock)
    const { wording } = strategy.context
    const known = before.summary?.files ?? noFiles
    const files =
      strategy.toolNotes?.files === undefined
        ? known
        : filesOf(
            known,
            before.uncovered.slice(started.from, coveredTo).map(({ message }) => message),
            strategy.toolNotes.files,
          )
    const all = [...(before.summary?.segments.slice(0, carried) ?? []), ...segments]
    const { recallBlocks } = strategy
    const asked = before.uncovered.at(questionIndex(before) ?? -1)?.message
    const shown =
      recallBlocks === undefined
        ? undefined
        : shownBlocks(all, asked === undefined ? "" : text(asked), { counter, wording, ...recallBlocks })
    const segmentsShown = shownSegments({ segments: all, shown })
    const written = texts(wording, { segments: segmentsShown, files })
    const counted = written.reduce((sum, text) => sum + counter.count(text), 0)
    // Whichever form a provider gets: the larger one, so that a trigger is never late.
    const content = Math.max(counted, segmentsShown[0]?.providerData?.tokens ?? 0)
    const tokens = written.length === 0 ? 0 : content + written.length * messageOverhead
    const supersedes = before.summary?.id ?? null
    const tokensBefore = contextTokens({ ...before, reported: null })
    const replaced = withoutPinned(before.uncovered.slice(started.from, coveredTo))
    const gone = replaced.reduce((sum, entry) => sum + entry.tokens, 0) + (pruned?.saved ?? 0)

    const committed: SummaryCommitted = {
      _tag: "SummaryCommitted",
      compaction: started.compaction,
      summary,
      coveredTo,
      carried,
      segments,
      ...(shown === undefined ? {} : { shown }),
      files,
      wording,
      summarizer: by,
      calls,
      tokens,
      tokensBefore,
      tokensAfter: tokensBefore - gone - (before.summary?.tokens ?? 0) + tokens,
    }
    const events: ReadonlyArray<Event> = [
      ...(pruned === null ? [] : [pruned.event]),
      ...(started.parts.length === 0 ? [] : [committed]),
      ...(started.parts.length === 0 || supersedes === null
        ? []
        : [{ _tag: "SummarySuperseded" as const, summary: supersedes, by: summary }]),
    ]
    const outcome: CompactionOutcome =
      started.parts.length === 0 && pruned !== null
        ? { _tag: "Pruned", started, pruned: pruned.event }
        : { _tag: "Committed", started, committed, supersedes, pruned: pruned?.event ?? null }

    const end = (state: SessionState): Step<CompactionOutcome> => {
      if (state.running?.compaction === started.compaction) return { events, answer: outcome }
      // If an earlier try was stored and only its answer was lost, the summary is active already.
      return { events: [], answer: state.summary?.id === summary ? outcome : { _tag: "Lost", started } }
    }
    return Effect.map(
      retryTransient(sessions.transact(before.session, end, { batchId: summary })),
      ({ answer }) => answer,
    )
  }).pipe(span("memfold.commit"))

/**
 * The number of messages after which a failed compaction is retried before its pause is over: a fast conversation must
 * not outgrow a limit that forces a compaction. A try costs as much as there are uncovered
 * messages, so the number grows with them, and the cost of an append stays the same on average.
 */
const retryAfter = (failures: number, uncovered: number): number =>
  Math.max(8 * 2 ** Math.min(failures, 3), Math.ceil(uncovered / 4))

/** The pause after a failure, in milliseconds, where `failures` counts the failures in a row before it. */
export const pauseAfter = ({ backOff }: Pick<Settings, "backOff">, failures: number): number =>
  Math.min(Duration.toMillis(backOff) * 2 ** failures, longestPause)

/** Records the failure and when to retry, if this compaction still has the lock. */
const fail = (
  { sessions, settings }: Dependencies,
  started: CompactionStarted,
  error: SummarizerError,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.gen(function* () {
    yield* Effect.logWarning("a compaction failed").pipe(
      Effect.annotateLogs({ session: error.session, reason: error.reason }),
    )
    const end = (state: SessionState, time: number): Step<void> => {
      const failures = state.failures?.count ?? 0
      const pause = pauseAfter(settings, failures)
      return {
        events:
          state.running?.compaction !== started.compaction
            ? []
            : [
                {
                  _tag: "CompactionFailed",
                  compaction: started.compaction,
                  reason: error.reason,
                  detail: error.detail,
                  retryTime: time + pause,
                  retryMessages: state.total + retryAfter(failures, state.uncovered.length),
                },
              ],
        answer: undefined,
      }
    }
    yield* retryTransient(sessions.transact(error.session, end))
    return { _tag: "Failed", started, error }
  })

/** Gives back the lock, if this compaction still has it. */
const release = ({ sessions }: Dependencies, session: string, { compaction }: CompactionStarted) =>
  sessions.transact(session, (state) => ({
    events: state.running?.compaction === compaction ? [{ _tag: "CompactionReleased", compaction }] : [],
    answer: undefined,
  }))
