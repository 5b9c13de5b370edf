/**
 * The memory of conversations, with the whole flow in one file:
 *
 * ```text
 * append ─► log ─► fold ─► decide ─► start ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Clock, Duration, Effect, Exit, type Fiber, Layer, Stream } from "effect"
import { withDefaults } from "./shell/Compaction.js"
import { fork } from "./history/fork.js"
import { redact } from "./history/redact.js"
import { revert } from "./history/revert.js"
import { MemoryLayers } from "./layers/MemoryLayers.js"
import { recallFacts } from "./layers/recallFacts.js"
import { nowOf } from "./shell/clock.js"
import { EventLog } from "./log/EventLog.js"
import {
  appendMessages,
  checkAppend,
  describeAppend,
  type IdempotencyKeyReused,
} from "./memory/appendMessages.js"
import {
  checkCount,
  checkDescription,
  checkIdempotencyKey,
  checkMessageName,
  checkOwner,
  checkRange,
  checkRecall,
  checkSearched,
  checkSession,
  checkSubscription,
  checkSummary,
  checkText,
  checkWithout,
} from "./memory/input.js"
import { checkOptions } from "./memory/options.js"
import {
  type AppendedMessages,
  type AtVersionOptions,
  Memory,
  type MemoryError,
  type Options,
  type Service,
} from "./memory/MemoryService.js"
import { namesOfOwned, ownedSessions } from "./memory/ownedSessions.js"
import { readMessages } from "./memory/readMessages.js"
import { readState, timeOf } from "./memory/readState.js"
import { rewriteMessages } from "./memory/rewriteMessages.js"
import { Embedder } from "./recall/Embedder.js"
import { FullTextIndex } from "./recall/FullTextIndex.js"
import { inProcess } from "./recall/inProcess.js"
import { inStore } from "./recall/inStore.js"
import { make as makeMeaning } from "./recall/Meaning.js"
import { recalledSection } from "./recall/recalledSection.js"
import { readRange, recallMessages } from "./recall/recallMessages.js"
import { recallOwned } from "./recall/recallOwned.js"
import { answerCall } from "./recall/tools.js"
import { VectorIndex } from "./recall/VectorIndex.js"
import { vectorsInProcess } from "./recall/vectorsInProcess.js"
import * as UnderWay from "./shell/UnderWay.js"
import { requestStrategy } from "./memory/requestStrategy.js"
import { guarded, marginOf, TokenCounter } from "./message/TokenCounter.js"
import * as metrics from "./observe/metrics.js"
import { span } from "./observe/spans.js"
import { contextStyle } from "./policy/contextStyle.js"
import type { Strategy } from "./policy/Strategy.js"
import { subscribe } from "./shell/subscribe.js"
import { type Additions, type AdditionsBefore, addTo, noAdditions } from "./render/Additions.js"
import { headOf, render, shownIndexes } from "./render/Render.js"
import { withMargin } from "./policy/withMargin.js"
import * as CompactionSchedule from "./shell/CompactionSchedule.js"
import { describe } from "./session/description.js"
import { make as makeSessions } from "./shell/Sessions.js"
import type { SessionState } from "./session/SessionState.js"
import type { Restore } from "./shell/Turns.js"
import { CurrentSummarizer } from "./summarize/CurrentSummarizer.js"

export * from "./memory/MemoryService.js"
export { InvalidInput } from "./memory/input.js"
export type { SessionPage, SessionPageOptions } from "./memory/ownedSessions.js"
export type { MessagePage, PageOptions } from "./memory/readMessages.js"
export type { Rewrite, Rewritten } from "./memory/rewriteMessages.js"
export { type AnyMemory, type Neutral, neutralOf } from "./memory/Neutral.js"
export { checkOptions, InvalidOption } from "./memory/options.js"

/**
 * Makes a memory from the event log, the summarizer, the token counter and the memory layers in the context. Its
 * background work ends with the scope. Most programs use {@link layer}. It dies with an {@link InvalidOption} if an option
 * has a value that is not allowed.
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
  const tokenCounter = yield* TokenCounter
  const summarizer = yield* CurrentSummarizer
  const embedder = yield* Embedder
  const wrong = checkOptions({
    ...options,
    tokenCounter,
    summarizer,
    ...(embedder === null ? {} : { embedder }),
  })
  if (wrong !== null) return yield* Effect.die(wrong)
  const counter = guarded(tokenCounter)
  const layers = yield* MemoryLayers
  const stored = options.fullTextIndex === "process" ? undefined : log.fullText
  const fullText = (yield* FullTextIndex) ?? (stored === undefined ? inProcess() : inStore(stored))
  const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
  const mode = options.compaction ?? "background"
  const boundReasoning = options.boundReasoning ?? "leave-out"
  const styleOf = (strategy: Strategy, state: SessionState, now: number) =>
    contextStyle(strategy, state, {
      now,
      budget: options.budget?.tokens,
      compactions: mode === "manual" || mode === "off" ? mode : "automatic",
    })
  /** A context without recalled messages, and what it takes to render it again with them. */
  const contextOf = (
    state: SessionState,
    strategy: Strategy,
    { now, untilTime }: { readonly now: number; readonly untilTime?: number | undefined },
  ) =>
    Effect.gen(function* () {
      const { maxMessages } = styleOf(strategy, state, now)
      const { factsInFront } = strategy.context
      const facts =
        layers === null
          ? noAdditions
          : yield* recallFacts(layers, counter, state, { factsInFront, maxMessages, untilTime })
      const rendered = (additions: Additions) =>
        Effect.sync(() => render(state, { maxMessages, boundReasoning }, additions)).pipe(
          span("memfold.render"),
        )
      return {
        plain: yield* rendered(facts),
        withRecalled: (recalled: AdditionsBefore) => rendered(addTo(facts, recalled)),
      }
    })
  const schedule = yield* CompactionSchedule.make({
    sessions,
    summarizer,
    counter,
    layers,
    mode,
    settings: withDefaults(options),
    hooks: options.hooks ?? {},
    shadow: options.shadow === undefined ? undefined : withMargin(options.shadow, marginOf(counter)),
    budget: options.budget,
    shutdown: options.shutdown ?? Duration.zero,
    concurrentCompactions: options.concurrentCompactions ?? 8,
    contextOf: (state, strategy) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.map(contextOf(state, strategy, { now }), ({ plain }) => plain),
      ),
  })
  const underWay = yield* UnderWay.make
  const strategyOf = requestStrategy(options, marginOf(counter))
  const givenVectors = yield* VectorIndex
  const meaning = yield* makeMeaning({
    sessions,
    embedder,
    index: givenVectors ?? (embedder === null ? null : vectorsInProcess()),
    patience: options.embedderTimeout ?? "5 seconds",
  })
  // What an earlier process could not tell the index before it ended.
  if (givenVectors !== null) yield* Effect.forkScoped(meaning.forgetErased)
  const reading = { sessions, index: fullText, meaning, counter }
  // Whether contexts of this memory had recalled messages. Which ones, only the context knows.
  let recalls = false
  const load = (session: string, at?: AtVersionOptions) => readState(sessions, session, at)

  /**
   * Checks the state after messages were stored; `null` if nothing is left to do. When the memory is closed, this answers, and
   * an inline compaction is interrupted.
   */
  const checkAfterwards = (
    fiber: Fiber.RuntimeFiber<unknown, unknown>,
    state: SessionState,
    strategy: Strategy,
  ): Effect.Effect<void> | null => {
    const checked = schedule.checkAtOnce(fiber, state, strategy)
    return checked !== null && mode === "inline" ? Effect.raceFirst(checked, underWay.closing) : checked
  }

  const append = (
    fiber: Fiber.RuntimeFiber<unknown, unknown>,
    restore: Restore,
    ...[session, given, options = {}]: Parameters<Service["append"]>
  ): Effect.Effect<AppendedMessages, MemoryError | IdempotencyKeyReused> => {
    const began = nowOf(fiber)
    const checked = checkAppend(session, given, options)
    if (Exit.isFailure(checked)) return Effect.failCause(checked.cause)
    const strategy = strategyOf(session, options)
    if (Exit.isFailure(strategy)) return Effect.failCause(strategy.cause)
    const appended = appendMessages({ sessions, counter }, session, checked.value, {
      strategy: strategy.value,
      idempotencyKey: options.idempotencyKey,
      description: { owner: options.owner, title: options.title },
      // Which facts and messages were recalled, only the context knows.
      origin: (before) => ({
        prefix: options.prefix,
        head:
          layers === null && !recalls ? headOf(before, styleOf(strategy.value, before, began)) : undefined,
      }),
      restore,
    })
    return Effect.flatMap(appended, (batch) => {
      const answer = describeAppend(batch)
      const finish = () => {
        metrics.recordAppend(fiber, began, answer)
        return Effect.succeed(answer)
      }
      const checked = checkAfterwards(fiber, batch.state, strategy.value)
      return checked === null ? finish() : Effect.flatMap(restore(checked), finish)
    })
  }

  const recall: Service["recall"] = (session, query, options = {}) =>
    Effect.gen(function* () {
      const { tokens = 1_000, messages = "all" } = options
      const state = yield* load(session, options)
      const strategy = yield* strategyOf(session, options)
      yield* checkText(session, "query", query)
      yield* checkCount(session, "tokens", tokens)
      yield* checkSearched(session, messages)
      const shown =
        messages === "outside-context"
          ? shownIndexes(render(state, styleOf(strategy, state, yield* Clock.currentTimeMillis)))
          : new Set<number>()
      return yield* recallMessages(reading, state, {
        query,
        tokens,
        before: state.total,
        without: (index) => shown.has(index),
      })
    }).pipe(span("memfold.recall", { session }))

  const service: Service = {
    append: (session, given, options = {}) =>
      underWay
        .finished((restore) =>
          Effect.withFiberRuntime<AppendedMessages, MemoryError | IdempotencyKeyReused>((fiber) =>
            append(fiber, restore, session, given, options),
          ),
        )
        .pipe(span("memfold.append", { session })),

    context: (session, request = {}) =>
      Effect.gen(function* () {
        const { recall } = request
        yield* checkSession(session)
        if (recall !== undefined) yield* checkRecall(session, recall)
        const strategy = yield* strategyOf(session, request)
        // As with an append, a strategy of the request's own also says whether a compaction is due now.
        if (request.strategy !== undefined && request.atVersion === undefined)
          yield* schedule.check(yield* load(session), strategy)
        // A context of the past does not change, so there is nothing to wait for.
        const budget =
          request.atVersion === undefined ? yield* schedule.waitForBudget(session, strategy) : undefined
        const state = yield* load(session, request)
        const then = yield* timeOf(sessions, session, request)
        const now = then ?? (yield* Clock.currentTimeMillis)
        const { plain, withRecalled } = yield* contextOf(state, strategy, { now, untilTime: then })
        const recalled =
          recall === undefined
            ? null
            : yield* recalledSection(reading, state, shownIndexes(plain), recall.tokens ?? 1_000)
        if (recalled !== null) recalls = true
        const context = recalled === null ? plain : yield* withRecalled(recalled)
        yield* metrics.record(metrics.contextTokens, context.tokens)
        return budget === undefined ? context : { ...context, budget }
      }).pipe(span("memfold.context", { session })),

    compactDue: (session, request = {}) =>
      Effect.gen(function* () {
        yield* load(session)
        return yield* schedule.compactDue(session, yield* strategyOf(session, request))
      }),

    compact: (session, { instructions, takeOver, ...request } = {}) =>
      Effect.gen(function* () {
        yield* load(session)
        const strategy = yield* strategyOf(session, request)
        if (instructions !== undefined) yield* checkText(session, "instructions", instructions)
        return yield* schedule.compactNow(session, strategy, { instructions, takeOver: takeOver === true })
      }),

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
        const strategy = yield* strategyOf(session, request)
        if (mode === "off") return []
        yield* revert(sessions, session, { toSummary: null, pauseFor: 0, reason: "recompacted" }).pipe(
          Effect.catchTag("UnknownSummary", Effect.die),
        )
        return yield* schedule.compactDue(session, strategy)
      }),

    fork: (session, to, request = {}) =>
      Effect.gen(function* () {
        yield* load(session, request)
        yield* checkSession(to)
        return yield* fork(log, sessions, session, { to, atVersion: request.atVersion })
      }),

    redact: (session, name) =>
      Effect.gen(function* () {
        yield* load(session)
        yield* checkMessageName(session, name)
        const { invalidated, message } = yield* redact(log, sessions, counter, session, name)
        yield* fullText.forget(session)
        const forgotten = yield* Effect.either(meaning.forget(session, message.version))
        // The state at its version knows since which clear its index counts.
        if (layers !== null)
          yield* layers.forgetMessage(yield* load(session, { atVersion: message.version }), message.index)
        yield* schedule.check(yield* sessions.load(session), yield* strategyOf(session))
        // Also for a message that was redacted before: that time, this may have failed.
        yield* log.finishRewrites?.(session) ?? Effect.void
        yield* forgotten
        return { invalidated }
      }),

    describe: (session, change) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        yield* checkDescription(session, change)
        yield* sessions.transact(session, (before) => ({
          events: describe(before.description, change),
          answer: undefined,
        }))
      }),

    rewrite: (session, rewrite, { idempotencyKey, ...request } = {}) => {
      const rewriting = Effect.gen(function* () {
        yield* checkSession(session)
        const strategy = yield* strategyOf(session, request)
        if (idempotencyKey !== undefined) yield* checkIdempotencyKey(session, idempotencyKey)
        const { rewritten, state } = yield* rewriteMessages({ sessions, counter }, session, rewrite, {
          strategy,
          idempotencyKey,
        })
        yield* Effect.withFiberRuntime((fiber) => checkAfterwards(fiber, state, strategy) ?? Effect.void)
        return rewritten
      })
      return underWay.finished((restore) => restore(rewriting)).pipe(span("memfold.rewrite", { session }))
    },

    clear: (session) =>
      Effect.gen(function* () {
        yield* load(session)
        yield* sessions.transact(session, ({ total }) => ({
          events: total === 0 ? [] : [{ _tag: "SessionCleared" }],
          answer: undefined,
        }))
        // The log keeps what was said, so a failure hurts nobody: the next search drops the vectors.
        yield* Effect.ignore(meaning.forget(session))
      }),

    delete: (session) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        const deleted = yield* sessions.delete(session)
        schedule.forget(session)
        yield* fullText.forget(session)
        yield* meaning.forget(session)
        return deleted
      }),

    facts: (session) =>
      Effect.flatMap(load(session), (state) => (layers === null ? Effect.succeed([]) : layers.facts(state))),
    removeFact: (session, id, { reason = "removed" } = {}) =>
      Effect.flatMap(load(session), (state) =>
        layers === null ? Effect.succeed(false) : layers.remove(state, { id, reason }),
      ),

    messages: (session, page) => readMessages(sessions, session, page),
    recall,
    recallOf: (owner, query, { tokens = 1_000, without = [] } = {}) =>
      Effect.gen(function* () {
        yield* checkOwner(owner)
        yield* checkText("", "query", query)
        yield* checkCount("", "tokens", tokens)
        yield* checkWithout(without)
        const left = new Set(without)
        const names = (yield* namesOfOwned(log, owner)).filter((name) => !left.has(name))
        return yield* recallOwned(reading, names, { owner, query, tokens })
      }).pipe(span("memfold.recallOf")),
    answerToolCall: (session, call, { tokens = 1_000, ...request } = {}) =>
      Effect.gen(function* () {
        const state = yield* load(session)
        yield* checkCount(session, "tokens", tokens)
        const search = (query: string) =>
          recall(session, query, { ...request, tokens, messages: "outside-context" })
        return yield* answerCall(
          {
            search: (query) => Effect.map(search(query), ({ text }) => text),
            read: (from, to) =>
              Effect.map(readRange(reading, state, { from, to, tokens }), ({ text }) => text),
          },
          call,
        )
      }),
    state: load,
    events: (session, range) =>
      Stream.flatMap(
        Effect.tap(checkSession(session), () => checkRange(session, range)),
        () => sessions.events(session, range),
      ),
    subscribe: (session, from) =>
      Stream.flatMap(
        Effect.tap(checkSession(session), () => checkSubscription(session, from)),
        () => subscribe(sessions, session, from),
      ),
    summaries: (session) =>
      Effect.gen(function* () {
        yield* checkSession(session)
        return (yield* sessions.history(session)).summaries
      }),
    sessions: log.sessions,
    sessionsOf: (owner, page) => ownedSessions(log, owner, page),
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
