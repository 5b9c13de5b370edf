/**
 * The memory of conversations, with all of its operations in one file:
 *
 * ```text
 * append ─► log ─► fold ─► look ─► begin ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Clock, Effect, Layer, type Scope, Stream } from "effect"
import { fork } from "./history/fork.js"
import { revert } from "./history/revert.js"
import type { EventLog } from "./log/EventLog.js"
import { sessions as allSessions } from "./log/pages.js"
import { appendMessages, checkAppend, describeAppend } from "./memory/appendMessages.js"
import { atAnswer, atMessage, branchesOf, checkout, edit, undo } from "./memory/branching.js"
import { compact } from "./memory/compact.js"
import { contextOf } from "./memory/context.js"
import { clearSession, deleteSession, redactMessage } from "./memory/erase.js"
import {
  checkCount,
  checkDescription,
  checkIdempotencyKey,
  checkMessageName,
  checkRange,
  checkSession,
  checkSubscription,
  checkSummary,
} from "./memory/input.js"
import { makeParts } from "./memory/MemoryParts.js"
import {
  type AtVersionOptions,
  type Compact,
  Memory,
  type Options,
  type Service,
} from "./memory/MemoryService.js"
import { ownedSessions } from "./memory/ownedSessions.js"
import { readMessages } from "./memory/readMessages.js"
import { readState } from "./memory/readState.js"
import { answerToolCall, recall, recallOf } from "./memory/recall.js"
import { rewriteMessages } from "./memory/rewriteMessages.js"
import * as metrics from "./observe/metrics.js"
import { span } from "./observe/spans.js"
import type { Strategy } from "./policy/Strategy.js"
import { describe } from "./session/description.js"
import type { SessionState } from "./session/SessionState.js"
import { raceFirst } from "./shell/raceFirst.js"
import { subscribe } from "./shell/subscribe.js"
import type { Summarizer } from "./summarize/Summarizer.js"

export * from "./memory/MemoryService.js"
export { InvalidInput } from "./memory/input.js"
export type { SessionPage, SessionPageOptions } from "./memory/ownedSessions.js"
export { UnknownBranch } from "./memory/readMessages.js"
export type { BranchInfo, Edited, Undone } from "./memory/branching.js"
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
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Effect, Layer } from "effect"
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
 * const parts = Layer.merge(InMemoryEventLog.layer, ExtractiveSummarizer.layer())
 * console.log(await Effect.runPromise(Effect.scoped(Effect.provide(program, parts))))
 * ```
 */
export const make = (options: Options): Effect.Effect<Service, never, EventLog | Summarizer | Scope.Scope> =>
  Effect.map(makeParts(options), (parts): Service => {
    const { log, sessions, schedule, underWay, strategyOf, layers, mode } = parts
    const load = (session: string, at?: AtVersionOptions) => readState(sessions, session, at)

    /** Looks at a state after a write. When the memory is closed, this ends, and an inline compaction is interrupted. */
    const checkAfterwards = (state: SessionState, strategy: Strategy): Effect.Effect<void> => {
      const checked = schedule.check(state, strategy)
      return mode === "inline" ? raceFirst(checked, underWay.closing) : checked
    }

    return {
      append: (session, given, request = {}) =>
        Effect.gen(function* () {
          const began = yield* Clock.currentTimeMillis
          const messages = yield* checkAppend(session, given, request)
          const strategy = yield* strategyOf(session, request)
          const done = yield* appendMessages(parts, session, messages, { ...request, strategy })
          yield* checkAfterwards(done.state, strategy)
          const answer = describeAppend(done)
          yield* metrics.recordAppend(answer, (yield* Clock.currentTimeMillis) - began)
          return answer
        }).pipe(underWay.finished, span("memfold.append", { session })),
      rewrite: (session, rewrite, { idempotencyKey, last, ...request } = {}) =>
        Effect.gen(function* () {
          yield* checkSession(session)
          const strategy = yield* strategyOf(session, request)
          if (idempotencyKey !== undefined) yield* checkIdempotencyKey(session, idempotencyKey)
          const { rewritten, state } = yield* rewriteMessages(parts, session, rewrite, {
            strategy,
            idempotencyKey,
            last,
          })
          yield* checkAfterwards(state, strategy)
          return rewritten
        }).pipe(underWay.finished, span("memfold.rewrite", { session })),
      edit: (session, from, given, request = {}) =>
        Effect.gen(function* () {
          const messages = yield* checkAppend(session, given, request)
          yield* checkMessageName(session, from)
          const strategy = yield* strategyOf(session, request)
          const done = yield* edit(parts, session, atMessage(parts, from), { ...request, messages, strategy })
          yield* checkAfterwards(done.state, strategy)
          return done.edited
        }).pipe(underWay.finished, span("memfold.edit", { session })),
      regenerate: (session, { from, ...request } = {}) =>
        Effect.gen(function* () {
          const messages = yield* checkAppend(session, [], request)
          if (from !== undefined) yield* checkMessageName(session, from)
          const strategy = yield* strategyOf(session, request)
          const done = yield* edit(parts, session, atAnswer(parts, from), { ...request, messages, strategy })
          yield* checkAfterwards(done.state, strategy)
          return done.edited
        }).pipe(underWay.finished, span("memfold.regenerate", { session })),
      branches: (session) => Effect.map(load(session), branchesOf),
      checkout: (session, branch, request) =>
        Effect.gen(function* () {
          yield* checkSession(session)
          yield* checkCount(session, "branch", branch)
          const strategy = yield* strategyOf(session, request)
          const done = yield* checkout(parts, session, branch)
          yield* checkAfterwards(done.state, strategy)
          return done.edited
        }).pipe(underWay.finished, span("memfold.checkout", { session })),
      undo: (session, { pauseFor = 20, ...request } = {}) =>
        Effect.gen(function* () {
          yield* checkSession(session)
          yield* checkCount(session, "pauseFor", pauseFor)
          const strategy = yield* strategyOf(session, request)
          const done = yield* undo(parts, session, pauseFor)
          yield* checkAfterwards(done.state, strategy)
          return done.undone
        }).pipe(underWay.finished, span("memfold.undo", { session })),
      describe: (session, change) =>
        Effect.gen(function* () {
          yield* checkSession(session)
          yield* checkDescription(session, change)
          yield* sessions.transact(session, (before) => ({
            events: describe(before.description, change),
            answer: undefined,
          }))
        }),

      context: (session, request) => contextOf(parts, session, request),
      messages: (session, page) => readMessages(sessions, session, page),
      recall: (session, query, request) => recall(parts, session, query, request),
      recallOf: (owner, query, request) => recallOf(parts, owner, query, request),
      answerToolCall: (session, call, request) => answerToolCall(parts, session, call, request),

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
        Effect.zipRight(
          checkSession(session),
          Effect.map(sessions.history(session), ({ summaries }) => summaries),
        ),
      sessions: allSessions(log),
      sessionsOf: (owner, page) => ownedSessions(log, owner, page),
      facts: (session) =>
        Effect.flatMap(load(session), (state) => layers?.facts(state) ?? Effect.succeed([])),
      removeFact: (session, id, { reason = "removed" } = {}) =>
        Effect.flatMap(
          load(session),
          (state) => layers?.remove(state, { id, reason }) ?? Effect.succeed(false),
        ),

      // What `which` says decides between one outcome and a list, which only the type of `Compact` can tell.
      compact: ((session, request) => compact(parts, session, request)) as Compact,

      revert: (session, { toSummary = null, pauseFor = 20 } = {}) =>
        Effect.gen(function* () {
          yield* load(session)
          yield* checkCount(session, "pauseFor", pauseFor)
          if (toSummary !== null) yield* checkSummary(session, "toSummary", toSummary)
          return yield* revert(sessions, session, { toSummary, pauseFor, reason: "reverted" })
        }),
      fork: (session, to, request = {}) =>
        Effect.gen(function* () {
          yield* load(session, request)
          yield* checkSession(to)
          return yield* fork(log, sessions, session, { to, atVersion: request.atVersion })
        }),
      redact: (session, name) => redactMessage(parts, session, name),
      clear: (session) => clearSession(parts, session),
      delete: (session) => deleteSession(parts, session),
    }
  })

/**
 * A layer that provides the memory. Its background work ends with the layer's scope.
 *
 * @param options - The strategy, and options with defaults.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * export const live = Memory.layer({ strategy, compaction: { mode: "inline" } }).pipe(
 *   Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<Memory, never, EventLog | Summarizer> =>
  Layer.scoped(Memory, make(options))
