/**
 * The compaction protocol: start (the log's compare-and-swap is the lock), summarize outside every lock, commit
 * only while still the running one. Whatever goes wrong, the messages stay raw and the failure is an event.
 */
import { Clock, Duration, Effect, Metric } from "effect"
import type { CompactionStarted, Event, SummaryCommitted, ToolOutputsPruned } from "../event/Event.js"
import { makeId } from "../event/id.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { messageOverhead, ofMessage } from "../message/TokenCounter.js"
import type { Decision, Plan } from "../policy/decide.js"
import { decide } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { noFiles } from "../summary/Summary.js"
import { write } from "../summary/Wording.js"
import { persistently, type SessionError, type Sessions, type Step } from "../session/Sessions.js"
import { prune } from "../session/prune.js"
import type { SessionState } from "../session/SessionState.js"
import { contextTokens, tokensBetween, withoutPinned } from "../session/SessionState.js"
import { chain, type Service as Summarizer, type SummarizerError } from "../summarize/Summarizer.js"
import * as metrics from "../observe/metrics.js"
import { guardedHook, type Hooks } from "./Hooks.js"
import { smallestRoom } from "./pieces.js"
import { filesOf } from "./toolNotes.js"
import { type Written, writeSummary } from "./writeSummary.js"

/** The settings of the protocol. All of them decide liveness only, never safety. */
export interface Settings {
  /** How long one call of the summarizer may take. */
  readonly summarizerTimeout: Duration.DurationInput
  /** How often a failed call is tried again, with growing pauses in between. */
  readonly summarizerRetries: number
  /** After this at the earliest, others may take over a compaction that never ended. */
  readonly lease: Duration.DurationInput
  /** The pause after a failed compaction; it doubles with every further failure, up to an hour. */
  readonly backOff: Duration.DurationInput
}

export const defaultSettings: Settings = {
  summarizerTimeout: "2 minutes",
  summarizerRetries: 2,
  lease: "10 minutes",
  backOff: "1 minute",
}

/** Nothing was done, and why: the strategy's reasons, a hook's veto, or compaction is off altogether. */
type IdleOutcome =
  | Extract<Decision, { _tag: "Idle" }>
  | { readonly _tag: "Idle"; readonly why: "vetoed" | "off" }

/** How one run of the protocol ended. */
export type Outcome =
  | IdleOutcome
  | {
      readonly _tag: "Committed"
      readonly started: CompactionStarted
      readonly committed: SummaryCommitted
      /** The summary that gave way. */
      readonly supersedes: string | null
      /** The tool outputs that were shortened with it, if there were any. */
      readonly pruned: ToolOutputsPruned | null
    }
  /** Nothing was summarized; tool outputs were shortened. */
  | { readonly _tag: "Pruned"; readonly started: CompactionStarted; readonly pruned: ToolOutputsPruned }
  | { readonly _tag: "Failed"; readonly started: CompactionStarted; readonly error: SummarizerError }
  /** Another writer took over, or the session was cleared; the result was thrown away. */
  | { readonly _tag: "Lost"; readonly started: CompactionStarted }

/** The parts of an engine that a compaction needs. */
export interface Dependencies {
  readonly sessions: Sessions
  readonly strategy: Strategy
  readonly summarizer: Summarizer
  readonly counter: TokenCounter
  readonly settings: Settings
  readonly hooks: Hooks
}

/** Options of one run. */
export interface RunOptions {
  /** Compact now, whatever trigger and back-off say. */
  readonly demanded?: boolean
  /** What the summarizer should watch. */
  readonly instructions?: string | undefined
}

/** Runs the protocol once for a session: at most one compaction, or the reason why there was none. */
export const run = (
  dependencies: Dependencies,
  session: string,
  options: RunOptions = {},
): Effect.Effect<Outcome, SessionError> =>
  Effect.gen(function* () {
    const allowed = yield* ask(dependencies, session, options)
    if ("_tag" in allowed) return allowed
    const began = yield* Clock.currentTimeMillis
    const outcome = yield* protocol(dependencies, session, allowed)
    yield* measure(outcome, (yield* Clock.currentTimeMillis) - began)
    const { afterCompaction } = dependencies.hooks
    if (outcome._tag !== "Idle" && afterCompaction !== undefined) {
      yield* guardedHook(session, () => afterCompaction({ session, outcome }))
    }
    return outcome
  }).pipe(Effect.withSpan("memfold.compact", { attributes: { session } }))

/** What the hook says to a compaction that is due; without a hook, nobody is asked. */
const ask = (
  { sessions, strategy, hooks }: Dependencies,
  session: string,
  options: RunOptions,
): Effect.Effect<RunOptions | IdleOutcome, SessionError> =>
  Effect.gen(function* () {
    const { beforeCompaction } = hooks
    if (beforeCompaction === undefined) return options
    const state = yield* sessions.load(session)
    const decision = decide(strategy, state, {
      now: yield* Clock.currentTimeMillis,
      demanded: options.demanded ?? false,
    })
    if (decision._tag === "Idle") return decision
    const { plan } = decision
    const verdict = yield* guardedHook(session, () => beforeCompaction({ session, state, plan }))
    if (verdict === undefined) return options
    if ("veto" in verdict) return { _tag: "Idle", why: "vetoed" }
    const instructions = [options.instructions, verdict.instructions].filter((one) => one !== undefined)
    return { ...options, instructions: instructions.join("\n\n") }
  })

/** The protocol: lock, summarize, commit. */
const protocol = (
  dependencies: Dependencies,
  session: string,
  options: RunOptions,
): Effect.Effect<Outcome, SessionError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const begun = yield* start(dependencies, session, options)
      if (begun._tag === "Idle") return begun
      const { started, plan, before } = begun

      return yield* restore(writeSummary(dependencies, before, plan, options)).pipe(
        Effect.matchEffect({
          onSuccess: (written) => commit(dependencies, begun, written),
          onFailure: (error) => fail(dependencies, started, error),
        }),
        // A lock whose holder is gone for good would only be freed by its lease.
        Effect.onError(() => Effect.ignoreLogged(release(dependencies, session, started))),
      )
    }),
  )

const measure = (outcome: Outcome, millis: number): Effect.Effect<void> => {
  if (outcome._tag === "Idle") return Effect.void
  const { reason, strategy } = outcome.started
  const saved =
    outcome._tag === "Committed"
      ? Math.max(outcome.committed.tokensBefore - outcome.committed.tokensAfter, 0)
      : 0
  return Effect.all(
    [
      metrics.count(metrics.compactions, {
        outcome: outcome._tag,
        strategy,
        reason: outcome._tag === "Failed" ? outcome.error.reason : reason,
      }),
      Metric.update(metrics.compactionDuration, millis),
      Metric.incrementBy(metrics.tokensSaved, saved),
    ],
    { discard: true },
  )
}

interface Started {
  readonly _tag: "Started"
  readonly started: CompactionStarted
  readonly plan: Plan
  /** The state that was decided on; it still has the messages of the plan. */
  readonly before: SessionState
}

/**
 * How long the work may take at the most, so that nobody takes over what is still being done: each call of each
 * summarizer in the chain, with all its tries. At least the setting.
 */
const leaseMillis = ({ settings, summarizer }: Dependencies, before: SessionState, plan: Plan): number => {
  const tokens = tokensBetween(before, plan.from, plan.to)
  const calls = chain(summarizer)
    .map(
      ({ maxInputTokens }) =>
        plan.parts.length + Math.ceil(tokens / (smallestRoom(maxInputTokens) ?? Infinity)),
    )
    .reduce((sum, each) => sum + each, 0)
  const call = (settings.summarizerRetries + 1) * (Duration.toMillis(settings.summarizerTimeout) + 5_000)
  return Math.min(Math.max(Duration.toMillis(settings.lease), calls * call), longestLease)
}

/** A year. A lease without an end would be no lease, and no number that JSON can hold. */
const longestLease = 365 * 24 * 3_600_000

const start = (
  dependencies: Dependencies,
  session: string,
  { demanded = false }: RunOptions,
): Effect.Effect<Started | IdleOutcome, SessionError> =>
  Effect.gen(function* () {
    const { sessions, strategy } = dependencies
    const now = yield* Clock.currentTimeMillis
    const compaction = yield* makeId
    let begun: Started | null = null
    const step = (before: SessionState): Step<Started | IdleOutcome> => {
      // The answer to an earlier try got lost on its way: the lock is ours already.
      if (begun !== null && before.running?.compaction === compaction) return { events: [], answer: begun }
      const decision = decide(strategy, before, { now, demanded })
      if (decision._tag === "Idle") return { events: [], answer: decision }
      const { plan } = decision
      const { prune: _prune, ...range } = plan
      const started: CompactionStarted = {
        _tag: "CompactionStarted",
        compaction,
        strategy: strategy.name,
        leaseUntil: now + leaseMillis(dependencies, before, plan),
        ...range,
      }
      begun = { _tag: "Started", started, plan, before }
      return { events: [started], answer: begun }
    }
    const { answer } = yield* persistently(sessions.transact(session, step, { commit: compaction }))
    return answer
  })

/** The outputs of a plan, cut down and counted; `null` where a plan has none. */
const pruneOutputs = (
  counter: TokenCounter,
  before: SessionState,
  { started, plan }: Started,
): { readonly event: ToolOutputsPruned; readonly saved: number } | null => {
  if (plan.prune.length === 0) return null
  const after = prune(
    before.raw,
    plan.prune.map((output) => ({ ...output, tokens: 0 })),
  )
  const outputs = plan.prune.map((output) => {
    const message = after.at(output.index)?.message
    return { ...output, tokens: message === undefined ? 0 : ofMessage(counter, message) }
  })
  const saved = [...new Map(outputs.map((output) => [output.index, output.tokens]))].reduce(
    (sum, [index, tokens]) => sum + (before.raw.at(index)?.tokens ?? 0) - tokens,
    0,
  )
  return { event: { _tag: "ToolOutputsPruned", compaction: started.compaction, outputs }, saved }
}

const commit = (
  { sessions, strategy, counter }: Dependencies,
  begun: Started,
  { carried, segments, calls, through, by }: Written,
): Effect.Effect<Outcome, SessionError> =>
  Effect.gen(function* () {
    const { before, started } = begun
    const summary = yield* makeId
    const pruned = pruneOutputs(counter, before, begun)
    const { wording } = strategy.context
    const known = before.summary?.files ?? noFiles
    const files =
      strategy.notes?.files === undefined
        ? known
        : filesOf(
            known,
            before.raw.slice(started.from, through).map(({ message }) => message),
            strategy.notes.files,
          )
    const all = [...(before.summary?.segments.slice(0, carried) ?? []), ...segments]
    const text = write(wording, { segments: all, files })
    const tokens = text === "" ? 0 : counter.count(text) + messageOverhead
    const supersedes = before.summary?.id ?? null
    const tokensBefore = contextTokens({ ...before, reported: null })
    const replaced = withoutPinned(before.raw.slice(started.from, through))
    const gone = replaced.reduce((sum, entry) => sum + entry.tokens, 0) + (pruned?.saved ?? 0)

    const committed: SummaryCommitted = {
      _tag: "SummaryCommitted",
      compaction: started.compaction,
      summary,
      through,
      carried,
      segments,
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
    const outcome: Outcome =
      started.parts.length === 0 && pruned !== null
        ? { _tag: "Pruned", started, pruned: pruned.event }
        : { _tag: "Committed", started, committed, supersedes, pruned: pruned?.event ?? null }

    const end = (state: SessionState): Step<Outcome> => {
      if (state.running?.compaction === started.compaction) return { events, answer: outcome }
      // It is in already, when only the answer of an earlier try got lost.
      return { events: [], answer: state.summary?.id === summary ? outcome : { _tag: "Lost", started } }
    }
    const { answer } = yield* persistently(sessions.transact(before.session, end, { commit: summary }))
    return answer
  }).pipe(Effect.withSpan("memfold.commit"))

/**
 * The messages after which a failed compaction is tried again, for a conversation that is faster than the clock: a
 * limit that forces a compaction must not be put off for ever (reference design 1). A try costs what is raw, so the
 * tries become rarer with it, and an append costs the same on average.
 */
const retryAfter = (failures: number, raw: number): number =>
  Math.max(8 * 2 ** Math.min(failures, 3), Math.ceil(raw / 4))

/** How long to wait after something went wrong that had gone wrong so often before, in milliseconds. */
export const pauseAfter = ({ backOff }: Pick<Settings, "backOff">, failures: number): number =>
  Math.min(Duration.toMillis(backOff) * 2 ** failures, 3_600_000)

const fail = (
  { sessions, settings }: Dependencies,
  started: CompactionStarted,
  error: SummarizerError,
): Effect.Effect<Outcome, SessionError> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* Effect.logWarning("a compaction failed").pipe(
      Effect.annotateLogs({ session: error.session, reason: error.reason }),
    )
    const end = (state: SessionState): Step<void> => {
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
                  retryAt: now + pause,
                  retryTotal: state.total + retryAfter(failures, state.raw.length),
                },
              ],
        answer: undefined,
      }
    }
    yield* persistently(sessions.transact(error.session, end))
    return { _tag: "Failed", started, error }
  })

/** Gives the lock back, if this compaction still has it. */
const release = ({ sessions }: Dependencies, session: string, { compaction }: CompactionStarted) =>
  sessions.transact(session, (state) => ({
    events: state.running?.compaction === compaction ? [{ _tag: "CompactionReleased", compaction }] : [],
    answer: undefined,
  }))
