/**
 * The memory of conversations, and the whole flow on one page:
 *
 * ```text
 * append ─► log ─► fold ─► decide ─► start ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Cause, Clock, Duration, Effect, Layer, Metric, Option, Stream } from "effect"
import {
  type AtOptions,
  Memory,
  type Options,
  type Service,
  type StrategyOptions,
} from "./memory/MemoryService.js"
import { checkCommit, checkCount, checked, checkSession, checkSummary, plain } from "./memory/input.js"
import { awaitBudget } from "./compact/awaitBudget.js"
import * as Background from "./schedule/Scheduler.js"
import type { Dependencies, Outcome, Settings } from "./compact/Compaction.js"
import { defaultSettings, pauseAfter, run } from "./compact/Compaction.js"
import { settle } from "./compact/settle.js"
import { learn } from "./layers/learn.js"
import { due, MemoryLayers } from "./layers/MemoryLayers.js"
import { remember } from "./layers/remember.js"
import { EventLog } from "./log/EventLog.js"
import { guarded, ofMessage, TokenCounter } from "./message/TokenCounter.js"
import { couldNotRun } from "./observe/couldNotRun.js"
import * as metrics from "./observe/metrics.js"
import { lookInShadow } from "./observe/shadow.js"
import { subscribe } from "./observe/subscribe.js"
import { decide, nextLook } from "./policy/decide.js"
import { entering } from "./policy/entering.js"
import type { Strategy } from "./policy/Strategy.js"
import { render } from "./render/Render.js"
import { make as makeSessions } from "./session/Sessions.js"
import type { SessionState } from "./session/SessionState.js"
import { CurrentSummarizer } from "./summarize/CurrentSummarizer.js"
import { fork } from "./history/fork.js"
import { redact } from "./history/redact.js"
import { revert } from "./history/revert.js"

export * from "./memory/MemoryService.js"
export { InvalidInput } from "./memory/input.js"

/** A memory over the event log, the summarizer and the token counter of the context. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const log = yield* EventLog
  const counter = guarded(yield* TokenCounter)
  const summarizer = yield* CurrentSummarizer
  const layers = yield* MemoryLayers
  const { compaction = "background" } = options
  const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
  const settings: Settings = {
    summarizerTimeout: options.summarizerTimeout ?? defaultSettings.summarizerTimeout,
    summarizerRetries: options.summarizerRetries ?? defaultSettings.summarizerRetries,
    lease: options.lease ?? defaultSettings.lease,
    backOff: options.backOff ?? defaultSettings.backOff,
  }
  const worded = (strategy: Strategy): Strategy =>
    options.wording === undefined
      ? strategy
      : { ...strategy, context: { ...strategy.context, wording: options.wording } }
  const ownStrategy = worded(options.strategy)
  const strategyOf = ({ strategy }: StrategyOptions): Strategy =>
    strategy === undefined ? ownStrategy : worded(strategy)
  const dependencies = (strategy: Strategy): Dependencies => ({
    sessions,
    strategy,
    summarizer,
    counter,
    settings,
    hooks: options.hooks ?? {},
  })

  /**
   * How far the layers have failed to learn: the next try comes with the next round. A session of another length was
   * begun anew.
   */
  const failedTo = new Map<string, number>()

  /** What there is to learn now. */
  const toLearn = (state: SessionState) => {
    const range = layers === null ? null : due(state)
    return range === null || range.to === failedTo.get(state.session) ? null : range
  }

  /** Learns before anything is compacted: what a summary covers can only be read in the log. */
  const learnFirst = (session: string) =>
    layers === null
      ? Effect.void
      : Effect.flatMap(sessions.load(session), (state) => {
          const range = toLearn(state)
          if (range === null) return Effect.void
          return learn(sessions, layers, session).pipe(
            Effect.tap((learned) =>
              Effect.sync(() => (learned ? failedTo.delete(session) : failedTo.set(session, range.to))),
            ),
          )
        })
  const work = (session: string, strategy: Strategy) =>
    Effect.zipRight(learnFirst(session), settle(dependencies(strategy), session))

  const background: Background.Background<Strategy> = yield* Background.make<Strategy>(
    (session, strategy) =>
      work(session, strategy).pipe(
        Effect.as(true),
        Effect.catchAllCause((cause) => Effect.as(couldNotRun(session)(cause), false)),
        Effect.tap((done) => afterLooking(session, strategy, done)),
      ),
    { finish: options.shutdown ?? Duration.zero },
  )

  /** Keeps the time for what comes due by time alone, from so many milliseconds on. */
  const lookAgain = (state: SessionState, strategy: Strategy, pause = 0): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const time = nextLook(strategy, state, now)
      return time === null
        ? Effect.void
        : background.lookAt(state.session, strategy, Math.max(time, now + pause))
    })

  /** How often in a row a session could not be looked at. */
  const unlucky = new Map<string, number>()

  /** The store was away, for instance: later it may be there, and nobody need say anything for that. */
  const tryLater = (session: string, strategy: Strategy): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const times = unlucky.get(session) ?? 0
      unlucky.set(session, times + 1)
      return background.lookAt(session, strategy, now + pauseAfter(settings, times))
    })

  const afterLooking = (session: string, strategy: Strategy, done: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!done) return tryLater(session, strategy)
      unlucky.delete(session)
      return sessions.load(session).pipe(
        // Not at once again: a trigger whose time is always now would have it looked at without end.
        Effect.flatMap((state) => lookAgain(state, strategy, 1_000)),
        Effect.catchAll(() => tryLater(session, strategy)),
      )
    }).pipe(forNobody(session))

  /** What goes wrong here is nobody's failure. */
  const forNobody =
    (session: string) =>
    <E>(effect: Effect.Effect<void, E>): Effect.Effect<void> =>
      Effect.catchAllCause(effect, (cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.interrupt : couldNotRun(session)(cause),
      )

  /**
   * Leaves at once when nothing is due, which is nearly always: deciding costs no read. The messages are durable:
   * whatever goes wrong now, a strategy that throws included, is not the append's failure.
   */
  const lookAt = (state: SessionState, strategy: Strategy): Effect.Effect<void> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const decision = decide(strategy, state, { now })
      if (options.shadow !== undefined) yield* lookInShadow(options.shadow, state, decision, now)
      if (compaction === "manual" || compaction === "off") return
      const toCompact = decision._tag === "Due" || decision.why === "running"
      if (!toCompact && toLearn(state) === null && state.damaged.length === 0) {
        return compaction === "background" ? yield* lookAgain(state, strategy) : undefined
      }
      if (compaction === "background") return yield* background.look(state.session, strategy)
      yield* work(state.session, strategy)
    }).pipe(forNobody(state.session), Effect.withSpan("memfold.decide"))

  /**
   * A compaction that was asked for goes on to nothing by itself: what came due while it ran is looked at when it ends,
   * however it ends (law L11).
   */
  const thenLook = <A, E>(session: string, strategy: Strategy, asked: Effect.Effect<A, E>) =>
    compaction === "background"
      ? Effect.ensuring(asked, background.look(session, strategy))
      : Effect.zipLeft(
          asked,
          Effect.flatMap(sessions.load(session), (state) => lookAt(state, strategy)).pipe(forNobody(session)),
        )

  /** Compacts what is due; what time alone will bring about is then looked at in the background. */
  const thenKeepTime = (session: string, strategy: Strategy) =>
    compaction === "background"
      ? Effect.zipLeft(work(session, strategy), afterLooking(session, strategy, true))
      : work(session, strategy)

  const load = (session: string, { at }: AtOptions = {}) =>
    Effect.flatMap(Effect.zipRight(checkSession(session), checkCount(session, "at", at ?? 0)), () =>
      at === undefined ? sessions.load(session) : sessions.at(session, at),
    )

  /** When the event at a version was written. */
  const timeOf = (session: string, { at }: AtOptions) =>
    at === undefined
      ? Effect.succeed(undefined)
      : sessions.events(session, { to: at, reverse: true }).pipe(
          Stream.runHead,
          Effect.map((newest) => Option.getOrUndefined(Option.map(newest, (recorded) => recorded.at))),
        )

  /** Where the messages of a batch stand that had been appended before. */
  const positionsOf = (session: string, from: number, to: number) =>
    sessions.events(session, { from, to }).pipe(
      Stream.filterMap(({ event }) =>
        event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
      ),
      Stream.runFold({ from: Number.POSITIVE_INFINITY, to: 0 }, (range, index) => ({
        from: Math.min(range.from, index),
        to: Math.max(range.to, index + 1),
      })),
    )

  const append: Service["append"] = (session, given, { commit, ...request } = {}) =>
    Effect.gen(function* () {
      const strategy = strategyOf(request)
      yield* checkSession(session)
      if (commit !== undefined) yield* checkCommit(session, commit)
      const messages = yield* checked(session, yield* plain(session, Array.isArray(given) ? given : [given]))
      const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
      const { answer, state, appended } = yield* sessions.transact(
        session,
        (before) => ({
          events: entering(strategy, before, counted),
          answer: { from: before.total, to: before.total + counted.length },
        }),
        { commit },
      )
      yield* lookAt(state, strategy)
      const duplicate = appended?.duplicate === true
      const range = duplicate ? yield* positionsOf(session, appended.from, appended.version) : answer
      yield* duplicate
        ? metrics.count(metrics.duplicateAppends)
        : Metric.incrementBy(metrics.messagesAppended, counted.length)
      return { ...range, version: appended?.version ?? state.version, duplicate }
    }).pipe(
      Metric.trackDurationWith(metrics.appendDuration, Duration.toMillis),
      Effect.withSpan("memfold.append", { attributes: { session } }),
    )

  /** Waits for compactions where the context is too large; a context of the past is what it was. */
  const withinBudget = (session: string, { at }: AtOptions, strategy: Strategy) =>
    options.budget === undefined || at !== undefined || compaction === "off" || compaction === "manual"
      ? Effect.succeed(undefined)
      : awaitBudget(
          sessions,
          session,
          options.budget,
          Effect.zipRight(background.look(session, strategy), background.ended(session)),
        )

  const service: Service = {
    append,
    context: (session, request = {}) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        const strategy = strategyOf(request)
        const budget = yield* withinBudget(session, request, strategy)
        const state = yield* load(session, request)
        const remembered =
          layers === null ? [] : yield* remember(layers, counter, state, yield* timeOf(session, request))
        const context = yield* Effect.withSpan(
          Effect.sync(() => render(state, strategy.context, remembered)),
          "memfold.render",
        )
        yield* Metric.update(metrics.contextTokens, context.tokens)
        return budget === undefined ? context : { ...context, budget }
      }).pipe(Effect.withSpan("memfold.context", { attributes: { session } })),
    state: load,
    events: (session, range) => Stream.flatMap(checkSession(session), () => sessions.events(session, range)),
    subscribe: (session, given) =>
      Stream.flatMap(checkSession(session), () => subscribe(sessions, session, given)),
    summaries: (session) =>
      Effect.flatMap(checkSession(session), () =>
        Effect.map(sessions.history(session), ({ summaries }) => summaries),
      ),
    facts: (session) =>
      Effect.flatMap(load(session), (state) => (layers === null ? Effect.succeed([]) : layers.facts(state))),
    retire: (session, id, { reason = "retired" } = {}) =>
      Effect.flatMap(load(session), (state) =>
        layers === null ? Effect.succeed(false) : layers.retire(state, { id, reason }),
      ),
    settle: (session, request = {}) =>
      Effect.flatMap(load(session), () =>
        compaction === "off" ? Effect.succeed([]) : thenKeepTime(session, strategyOf(request)),
      ),
    compact: (session, { instructions, ...request } = {}) =>
      Effect.flatMap(load(session), () =>
        compaction === "off"
          ? Effect.succeed<Outcome>({ _tag: "Idle", why: "off" })
          : thenLook(
              session,
              strategyOf(request),
              Effect.zipRight(
                learnFirst(session),
                run(dependencies(strategyOf(request)), session, { demanded: true, instructions }),
              ),
            ),
      ),
    revert: (session, { to = null, hold = 20 } = {}) =>
      Effect.gen(function* () {
        yield* load(session)
        yield* checkCount(session, "hold", hold)
        if (to !== null) yield* checkSummary(session, "to", to)
        return yield* revert(sessions, session, { to, hold, reason: "reverted" })
      }),
    recompact: (session, request = {}) =>
      Effect.flatMap(load(session), () =>
        compaction === "off"
          ? Effect.succeed([])
          : revert(sessions, session, { to: null, hold: 0, reason: "recompacted" }).pipe(
              Effect.catchTag("UnknownSummary", Effect.die),
              Effect.zipRight(thenKeepTime(session, strategyOf(request))),
            ),
      ),
    fork: (session, to, { at } = {}) =>
      Effect.zipRight(
        Effect.zipRight(load(session, at === undefined ? {} : { at }), checkSession(to)),
        fork(log, sessions, session, { to, at }),
      ),
    redact: (session, index) =>
      Effect.gen(function* () {
        const state = yield* load(session)
        if (typeof index !== "number") yield* checkCount(session, "index", index)
        const done = yield* redact(log, sessions, counter, session, index)
        if (layers !== null) yield* layers.forget(state, index)
        yield* lookAt(yield* sessions.load(session), ownStrategy)
        return done
      }),
    clear: (session) =>
      Effect.flatMap(load(session), () =>
        sessions.transact(session, ({ total }) => ({
          events: total === 0 ? [] : [{ _tag: "SessionCleared" }],
          answer: undefined,
        })),
      ).pipe(Effect.asVoid),
    delete: (session) =>
      Effect.flatMap(checkSession(session), () => {
        background.forget(session)
        unlucky.delete(session)
        return sessions.delete(session)
      }),
    sessions: log.sessions,
  }
  return service
})

/** Provides the memory. Compactions in the background end with the layer's scope. */
export const layer = (options: Options): Layer.Layer<Memory, never, EventLog> =>
  Layer.scoped(Memory, make(options))
