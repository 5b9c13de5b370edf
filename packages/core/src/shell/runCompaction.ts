/**
 * Carries out a compaction: begins it, has the summary written outside every lock and transaction, and commits it while the
 * compaction still has the session's lock. `engine/compaction.ts` says what is appended.
 *
 * The lock carries a lease, which is renewed while the summary is written. When the process is killed, the lease ends soon, and
 * another compaction takes the lock over.
 */
import { Clock, Duration, Effect } from "effect"
import {
  begin,
  type Commit,
  commit,
  fail,
  hasLock,
  invalidateDamaged,
  type Lock,
  release,
  renew,
  type WrittenSummary,
} from "../engine/compaction.js"
import { maxInputOf, smallestRoom } from "../engine/chunks.js"
import type { DueCompaction } from "../engine/look.js"
import { breathe } from "@memfold/log/breathe"
import { logError, warn } from "../observe/logs.js"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import { failuresUntilCap } from "../policy/contextStyle.js"
import { type Circumstances, type Decision, decide } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { type SessionState, tokensBetween } from "../session/SessionState.js"
import { chain, type SummarizerError } from "../summarize/Summarizer.js"
import type { CompactionOutcome, IdleOutcome } from "./CompactionOutcome.js"
import { decisionOf, type Hooks, runHook } from "./Hooks.js"
import { makeId } from "./id.js"
import { type Leases, longestLease } from "./Leases.js"
import { raceFirst } from "./raceFirst.js"
import { retryTransient } from "./retry.js"
import type { SessionError, Sessions } from "./Sessions.js"
import { writeSummary } from "./writeSummary.js"
import type { SummaryWriters } from "./writeText.js"

export interface CompactionParts extends SummaryWriters {
  readonly sessions: Sessions
  readonly hooks: Hooks
  readonly circumstances: Circumstances
  readonly leases: Leases
}

export interface CompactionRequest {
  readonly strategy: Strategy
  /** What was found due before. It begins as it is, unless the session has changed meanwhile. */
  readonly due?: DueCompaction | undefined
  /** Compacts now, regardless of the trigger, a pause after a failure, and a pause after a revert. */
  readonly onDemand?: boolean | undefined
  readonly instructions?: string | undefined
  /** Takes the lock from a compaction that runs. That one ends as `Lost`, and its result is thrown away. */
  readonly takeOver?: boolean | undefined
}

/** The compaction that is due for a state, as this process respects the locks of others; or why none is. */
export const dueFor = (
  { circumstances, leases }: Pick<CompactionParts, "circumstances" | "leases">,
  { strategy, onDemand = false, takeOver = false }: CompactionRequest,
  state: SessionState,
  now: number,
): DueCompaction | Extract<Decision, { readonly _tag: "Idle" }> => {
  const decision = decide(strategy, state, {
    now,
    onDemand,
    ...circumstances,
    lockedUntil: takeOver ? Number.NEGATIVE_INFINITY : leases.until(state, now),
  })
  return decision._tag === "Due" ? { _tag: "Compact", state, plan: decision.plan } : decision
}

/** The newest state of a session. Damaged summaries in it are declared invalid first. */
const loadSound = (sessions: Sessions, session: string): Effect.Effect<SessionState, SessionError> =>
  Effect.gen(function* () {
    const loaded = yield* sessions.load(session)
    if (loaded.damaged.length === 0) return loaded
    const { answer, state } = yield* sessions.transact(session, (state) => ({
      events: invalidateDamaged(state),
      answer: state.damaged.length,
    }))
    if (answer > 0)
      yield* logError("a damaged summary was invalidated; it is rebuilt from the log", {
        session,
        summaries: answer,
      })
    return state
  })

/** Runs at most one compaction of a session, and returns how it ended or why there was none. */
export const runCompaction = (
  parts: CompactionParts,
  session: string,
  given: CompactionRequest,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.gen(function* () {
    const { sessions, hooks } = parts
    const known = given.due?.state.damaged.length === 0 ? given.due : undefined
    const due =
      known ?? dueFor(parts, given, yield* loadSound(sessions, session), yield* Clock.currentTimeMillis)
    if (due._tag === "Idle") return due
    const request = yield* approved(hooks, session, { ...given, due })
    if (request === "vetoed") return { _tag: "Idle", reason: "vetoed" } as const
    const isPaid = asksModels(parts.summarizer) && due.plan.parts.length > 0
    if (isPaid && !(yield* parts.spend.mayStart(session))) return spendReached
    const began = yield* Clock.currentTimeMillis
    const outcome = yield* carryOut(parts, session, request)
    if (outcome._tag === "Idle") return outcome
    yield* measure(outcome, (yield* Clock.currentTimeMillis) - began)
    const { afterCompaction } = hooks
    if (afterCompaction !== undefined) yield* runHook(session, () => afterCompaction({ session, outcome }))
    return outcome
  }).pipe(span("memfold.compact", { session }))

/** The work waits until the next day. */
const spendReached: IdleOutcome = { _tag: "Idle", reason: "spend-reached" }

/** Whether summaries cost something. Otherwise no cap holds them up. */
const asksModels = (summarizer: CompactionParts["summarizer"]): boolean =>
  chain(summarizer).some(({ isFree }) => isFree !== true)

/** Asks the hook about a plan: the request with its instructions, or a veto. */
const approved = (
  { beforeCompaction }: Hooks,
  session: string,
  request: CompactionRequest & { readonly due: DueCompaction },
): Effect.Effect<CompactionRequest | "vetoed"> =>
  Effect.gen(function* () {
    if (beforeCompaction === undefined) return request
    const { state, plan } = request.due
    const answer = yield* runHook(session, () => beforeCompaction({ session, state, plan }))
    const decision = yield* decisionOf(session, answer)
    if (decision === undefined) return request
    if ("veto" in decision) return "vetoed"
    const instructions = [request.instructions, decision.instructions].filter((one) => one !== undefined)
    return { ...request, instructions: instructions.join("\n\n") }
  })

const measure = (outcome: Exclude<CompactionOutcome, IdleOutcome>, millis: number): Effect.Effect<void> => {
  const { reason, strategy } = outcome.started
  const saved =
    outcome._tag === "Committed"
      ? Math.max(outcome.committed.tokensBefore - outcome.committed.tokensAfter, 0)
      : 0
  return Effect.all(
    [
      metrics.record(metrics.compactions, 1, {
        outcome: outcome._tag,
        strategy,
        reason: outcome._tag === "Failed" ? outcome.error.reason : reason,
      }),
      metrics.record(metrics.compactionDuration, millis),
      metrics.record(metrics.tokensSaved, saved),
    ],
    { discard: true },
  )
}

/** Begin, write, commit. Only the writing can be interrupted; then the lock is given back. */
const carryOut = (
  parts: CompactionParts,
  session: string,
  request: CompactionRequest,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const lock = yield* takeLock(parts, session, request)
      if ("_tag" in lock) return lock
      const writing = writeSummary(parts, lock, request)
      const keeping = Effect.interruptible(keepLease(parts, lock, request.strategy))
      return yield* restore(raceFirst(writing, keeping)).pipe(
        Effect.matchEffect({
          onSuccess: (written): Effect.Effect<CompactionOutcome, SessionError> =>
            written === "lost"
              ? Effect.succeed({ _tag: "Lost", started: lock.started })
              : commitSummary(parts, lock, written, request),
          // A cap is no failure of the summarizer: the work goes on when the day turns.
          onFailure: (error): Effect.Effect<CompactionOutcome, SessionError> =>
            error.reason === "spend-reached"
              ? Effect.as(giveBack(parts, lock), spendReached)
              : recordFailure(parts, lock, error),
        }),
        // Otherwise the session would stay locked until the lease ends.
        Effect.tapErrorCause(() => Effect.ignoreLogged(giveBack(parts, lock))),
      )
    }),
  )

/** The length of a lease, in milliseconds. A shorter one than a second would be renewed all the time. */
const leaseMillis = ({ settings: { lease } }: CompactionParts): number =>
  Math.min(Math.max(Duration.toMillis(lease), 1_000), longestLease)

/**
 * Takes the session's lock for what is due. The plan was made on the very state that the lock is appended to, since the append
 * fails at any other version: only if the session has changed meanwhile, it is made again.
 */
const takeLock = (
  parts: CompactionParts,
  session: string,
  request: CompactionRequest,
): Effect.Effect<Lock | IdleOutcome, SessionError> =>
  Effect.gen(function* () {
    const { sessions } = parts
    const compaction = yield* makeId
    let taken: Lock | null = null
    const { answer } = yield* retryTransient(
      sessions.transact<Lock | IdleOutcome>(
        session,
        (before, now) => {
          // An earlier try was stored, and only its answer was lost.
          if (taken !== null && hasLock(before, taken.started)) return { events: [], answer: taken }
          const due = request.due?.state === before ? request.due : dueFor(parts, request, before, now)
          if (due._tag === "Idle") return { events: [], answer: due }
          const { lock, events } = begin(before, due.plan, {
            compaction,
            strategy: request.strategy,
            leaseUntil: now + leaseMillis(parts),
          })
          taken = lock
          return { events, answer: lock }
        },
        compaction,
      ),
    )
    return answer
  })

/**
 * The longest time that the work for a plan can take, in milliseconds. It counts each call of each summarizer in the
 * chain, with all retries.
 */
const longestWork = (
  { settings, summarizer }: CompactionParts,
  { before, plan }: Lock,
  strategy: Strategy,
): number => {
  const tokens = tokensBetween(before, plan.from, plan.to)
  const calls = chain(summarizer)
    .map(
      (one) => plan.parts.length + Math.ceil(tokens / (smallestRoom(maxInputOf(one, strategy)) ?? Infinity)),
    )
    .reduce((sum, each) => sum + each, 0)
  return calls * (settings.summarizerRetries + 1) * (Duration.toMillis(settings.summarizerTimeout) + 5_000)
}

/**
 * Renews the lease while the summary is written. It ends with `lost` when another compaction has the lock; then the rest of
 * the work would be thrown away. The number of renewals is bounded, because the time of the work is.
 */
const keepLease = (parts: CompactionParts, lock: Lock, strategy: Strategy): Effect.Effect<"lost"> =>
  Effect.gen(function* () {
    const { started, before } = lock
    const lease = leaseMillis(parts)
    const now = yield* Clock.currentTimeMillis
    // Getting the lock took a while if many writers competed for the session.
    yield* Effect.sleep(Math.max(Math.min(started.leaseUntil - now - lease / 2, lease / 2), 0))
    for (let left = Math.ceil(longestWork(parts, lock, strategy) / (lease / 2)); left > 0; left--) {
      const renewed = yield* retryTransient(
        parts.sessions.transact(before.session, (state, time) => ({
          events: renew(state, started, time + lease),
          answer: hasLock(state, started),
        })),
      ).pipe(
        Effect.map(({ answer }) => answer),
        // The commit will show whether the lock was lost meanwhile.
        Effect.catchAll(() => Effect.succeed(true)),
      )
      if (!renewed) return "lost" as const
      yield* Effect.sleep(lease / 2)
    }
    return yield* Effect.never
  })

/** How a compaction ends that still has the lock; `null` if its plan has come to nothing. */
export const endOf = (
  { started }: Lock,
  { committed, supersedes, pruned }: Commit,
): Extract<CompactionOutcome, { readonly _tag: "Committed" | "Pruned" }> | null =>
  committed !== null
    ? { _tag: "Committed", started, committed, supersedes, pruned }
    : pruned === null
      ? null
      : { _tag: "Pruned", started, pruned }

/** Commits the summary, if this compaction still has the lock. */
const commitSummary = (
  { sessions, counter }: CompactionParts,
  lock: Lock,
  written: WrittenSummary,
  { strategy }: CompactionRequest,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.gen(function* () {
    const { started, before } = lock
    const summary = yield* makeId
    // To make the commit, and to fold it, each goes through all messages that it covers.
    yield* breathe
    const done = commit(lock, written, { summary, strategy, counter })
    const { events } = done
    yield* breathe
    const lost: CompactionOutcome = { _tag: "Lost", started }
    const outcome: CompactionOutcome = endOf(lock, done) ?? lost
    const { answer } = yield* retryTransient(
      sessions.transact(
        before.session,
        (state) => {
          if (hasLock(state, started)) return { events, answer: outcome }
          // If an earlier try was stored and only its answer was lost, the summary is active already.
          return { events: [], answer: state.summary?.id === summary ? outcome : lost }
        },
        summary,
      ),
    )
    return answer
  }).pipe(span("memfold.commit"))

/** Records the failure and when to retry, if this compaction still has the lock. */
const recordFailure = (
  { sessions, settings }: CompactionParts,
  { started }: Lock,
  error: SummarizerError,
): Effect.Effect<CompactionOutcome, SessionError> =>
  Effect.gen(function* () {
    const { session, reason, detail } = error
    yield* warn("a compaction failed", { session, reason })
    const backOff = Duration.toMillis(settings.backOff)
    const { state } = yield* retryTransient(
      sessions.transact(session, (state, time) => ({
        events: fail(state, started, { reason, detail, time, backOff }),
        answer: undefined,
      })),
    )
    if (state.failures?.count === failuresUntilCap)
      yield* logError(
        "compactions fail again and again; where the strategy has a cap, contexts now leave out the oldest messages that no summary covers",
        { session, reason, failures: failuresUntilCap },
      )
    return { _tag: "Failed", started, error }
  })

/** Gives the lock back, if this compaction still has it. */
const giveBack = ({ sessions }: CompactionParts, { before: { session }, started }: Lock) =>
  sessions.transact(session, (state) => ({ events: release(state, started), answer: undefined }))

/**
 * Compacts until nothing is due, and returns one outcome for each compaction. It always ends: every commit moves the
 * coverage forward, and the first failure stops it, since a failed compaction is retried only after a pause (law L9).
 */
export const compactDue = (
  parts: CompactionParts,
  session: string,
  strategy: Strategy,
): Effect.Effect<ReadonlyArray<CompactionOutcome>, SessionError> =>
  Effect.gen(function* () {
    const outcomes: Array<CompactionOutcome> = []
    for (;;) {
      const outcome = yield* runCompaction(parts, session, { strategy })
      if (outcome._tag === "Idle") return outcomes
      outcomes.push(outcome)
      if (outcome._tag === "Failed") return outcomes
    }
  })
