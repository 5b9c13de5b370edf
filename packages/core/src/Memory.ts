/**
 * The memory of conversations, with the whole flow in one file:
 *
 * ```text
 * append ─► log ─► fold ─► decide ─► start ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Duration, Effect, Layer, Metric, Stream } from "effect"
import { withDefaults } from "./compact/Compaction.js"
import { fork } from "./history/fork.js"
import { redact } from "./history/redact.js"
import { revert } from "./history/revert.js"
import { MemoryLayers } from "./layers/MemoryLayers.js"
import { recallFacts } from "./layers/recallFacts.js"
import { EventLog } from "./log/EventLog.js"
import { appendMessages, describeAppend } from "./memory/appendMessages.js"
import { checkIdempotencyKey, checkCount, checkMessages, checkSession, checkSummary } from "./memory/input.js"
import { type AtVersionOptions, Memory, type Options, type Service } from "./memory/MemoryService.js"
import { readState, timeOf } from "./memory/readState.js"
import { requestStrategy } from "./memory/requestStrategy.js"
import { guarded, TokenCounter } from "./message/TokenCounter.js"
import * as metrics from "./observe/metrics.js"
import { subscribe } from "./observe/subscribe.js"
import { render } from "./render/Render.js"
import * as CompactionSchedule from "./schedule/CompactionSchedule.js"
import { make as makeSessions } from "./session/Sessions.js"
import { CurrentSummarizer } from "./summarize/CurrentSummarizer.js"

export * from "./memory/MemoryService.js"
export { InvalidInput } from "./memory/input.js"

/**
 * Makes a memory from the event log, the summarizer, the token counter and the memory layers in the context. Its
 * background work ends with the scope. Most programs use {@link layer}.
 *
 * @param options - The strategy, and options with defaults.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * const program = Effect.gen(function* () {
 *   const memory = yield* Memory.make({ strategy })
 *   return yield* memory.append("chat-1", Message.user("Hello"))
 * })
 *
 * console.log(await Effect.runPromise(Effect.scoped(Effect.provide(program, InMemoryEventLog.layer))))
 * ```
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const log = yield* EventLog
  const counter = guarded(yield* TokenCounter)
  const layers = yield* MemoryLayers
  const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
  const mode = options.compaction ?? "background"
  const schedule = yield* CompactionSchedule.make({
    sessions,
    summarizer: yield* CurrentSummarizer,
    counter,
    layers,
    mode,
    settings: withDefaults(options),
    hooks: options.hooks ?? {},
    shadow: options.shadow,
    budget: options.budget,
    shutdown: options.shutdown ?? Duration.zero,
  })
  const strategyOf = requestStrategy(options)
  const load = (session: string, at?: AtVersionOptions) => readState(sessions, session, at)

  const service: Service = {
    append: (session, given, { idempotencyKey, ...request } = {}) =>
      Effect.gen(function* () {
        const strategy = strategyOf(request)
        yield* checkSession(session)
        if (idempotencyKey !== undefined) yield* checkIdempotencyKey(session, idempotencyKey)
        const messages = yield* checkMessages(session, given)
        const batch = yield* appendMessages({ sessions, counter }, session, messages, {
          strategy,
          idempotencyKey,
        })
        yield* schedule.check(batch.state, strategy)
        return yield* describeAppend(batch)
      }).pipe(
        Metric.trackDurationWith(metrics.appendDuration, Duration.toMillis),
        Effect.withSpan("memfold.append", { attributes: { session } }),
      ),

    context: (session, request = {}) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        const strategy = strategyOf(request)
        // A context of the past does not change, so there is nothing to wait for.
        const budget =
          request.atVersion === undefined ? yield* schedule.waitForBudget(session, strategy) : undefined
        const state = yield* load(session, request)
        const memory =
          layers === null
            ? []
            : yield* recallFacts(layers, counter, state, yield* timeOf(sessions, session, request))
        const context = yield* Effect.withSpan(
          Effect.sync(() => render(state, strategy.context, memory)),
          "memfold.render",
        )
        yield* Metric.update(metrics.contextTokens, context.tokens)
        return budget === undefined ? context : { ...context, budget }
      }).pipe(Effect.withSpan("memfold.context", { attributes: { session } })),

    compactDue: (session, request = {}) =>
      Effect.flatMap(load(session), () => schedule.compactDue(session, strategyOf(request))),

    compact: (session, { instructions, ...request } = {}) =>
      Effect.flatMap(load(session), () =>
        schedule.compactNow(session, strategyOf(request), { instructions }),
      ),

    revert: (session, { toSummary = null, pauseFor = 20 } = {}) =>
      Effect.gen(function* () {
        yield* load(session)
        yield* checkCount(session, "pauseFor", pauseFor)
        if (toSummary !== null) yield* checkSummary(session, "toSummary", toSummary)
        return yield* revert(sessions, session, { toSummary, pauseFor, reason: "reverted" })
      }),

    recompact: (session, request = {}) =>
      Effect.gen(function* () {
        yield* load(session)
        if (mode === "off") return []
        yield* revert(sessions, session, { toSummary: null, pauseFor: 0, reason: "recompacted" }).pipe(
          Effect.catchTag("UnknownSummary", Effect.die),
        )
        return yield* schedule.compactDue(session, strategyOf(request))
      }),

    fork: (session, to, request = {}) =>
      Effect.gen(function* () {
        yield* load(session, request)
        yield* checkSession(to)
        return yield* fork(log, sessions, session, { to, atVersion: request.atVersion })
      }),

    redact: (session, index) =>
      Effect.gen(function* () {
        const state = yield* load(session)
        if (typeof index !== "number") yield* checkCount(session, "index", index)
        const done = yield* redact(log, sessions, counter, session, index)
        if (layers !== null) yield* layers.forgetMessage(state, index)
        yield* schedule.check(yield* sessions.load(session), strategyOf())
        return done
      }),

    clear: (session) =>
      Effect.gen(function* () {
        yield* load(session)
        yield* sessions.transact(session, ({ total }) => ({
          events: total === 0 ? [] : [{ _tag: "SessionCleared" }],
          answer: undefined,
        }))
      }),

    delete: (session) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        schedule.forget(session)
        return yield* sessions.delete(session)
      }),

    facts: (session) =>
      Effect.flatMap(load(session), (state) => (layers === null ? Effect.succeed([]) : layers.facts(state))),
    removeFact: (session, id, { reason = "retired" } = {}) =>
      Effect.flatMap(load(session), (state) =>
        layers === null ? Effect.succeed(false) : layers.remove(state, { id, reason }),
      ),

    state: load,
    events: (session, range) => Stream.flatMap(checkSession(session), () => sessions.events(session, range)),
    subscribe: (session, from) =>
      Stream.flatMap(checkSession(session), () => subscribe(sessions, session, from)),
    summaries: (session) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        return (yield* sessions.history(session)).summaries
      }),
    sessions: log.sessions,
  }
  return service
})

/**
 * A layer that provides the memory. Its background work ends with the layer's scope.
 *
 * @param options - The strategy, and options with defaults.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * export const live = Memory.layer({ strategy, compaction: "inline" }).pipe(
 *   Layer.provide(InMemoryEventLog.layer),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<Memory, never, EventLog> =>
  Layer.scoped(Memory, make(options))
