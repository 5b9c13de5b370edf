/**
 * The memory of conversations, with all of its operations in one file:
 *
 * ```text
 * append ─► log ─► fold ─► look ─► begin ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Effect, Layer, type Scope, Stream } from "effect"
import type { EventLog, ReadOptions } from "@memfold/log/EventLog"
import { sessions as allSessions } from "@memfold/log/pages"
import { appendMessages } from "./memory/appendMessages.js"
import { branchesOf, checkout, edit, regenerate, undo } from "./memory/branching.js"
import { compact } from "./memory/compact.js"
import { contextOf } from "./memory/context.js"
import {
  appendedFor,
  auditOwner,
  auditSession,
  describeSession,
  eraseOwner,
  holdSubject,
  restoreOwner,
} from "./memory/govern.js"
import { withAudit } from "./memory/withAudit.js"
import { clearSession, deleteOwned, deleteSession, redactMessage } from "./memory/erase.js"
import { guarded } from "./memory/entrance.js"
import {
  changeFact,
  endRebuild,
  factsIn,
  factsOfOwner,
  rebuildFacts,
  rebuiltFacts,
  removeFact,
} from "./memory/facts.js"
import { forkTo, revertTo } from "./memory/goBack.js"
import { lookAt } from "./memory/look.js"
import {
  checkConsumer,
  checkFeed,
  checkRange,
  checkSession,
  checkSubscription,
  type InvalidInput,
} from "./memory/input.js"
import { makeParts, type MemoryParts } from "./memory/MemoryParts.js"
import {
  type AtVersionOptions,
  type Compact,
  type KnownMemory,
  Memory,
  type Options,
  type Service,
  type StrategyOptions,
} from "./memory/MemoryService.js"
import { eventsOfOwned, ownedSessions } from "./memory/ownedSessions.js"
import { previewOf } from "./memory/preview.js"
import { knownPage, readMessages } from "./memory/readMessages.js"
import { readState } from "./memory/readState.js"
import { answerToolCall, recall, recallOf } from "./memory/recall.js"
import { traceMessageOf, traceOf } from "./memory/trace.js"
import { rewriteMessages } from "./memory/rewriteMessages.js"
import { inTransaction } from "./memory/inTransaction.js"
import * as metrics from "./observe/metrics.js"
import { span } from "./observe/spans.js"
import type { Strategy } from "./policy/Strategy.js"
import { sourceOf } from "./recall/readLog.js"
import type { Overloaded } from "./shell/Load.js"
import type { Answered, Sessions } from "./shell/Sessions.js"
import { consume, feed } from "./memory/feed.js"
import { raceFirst } from "./shell/raceFirst.js"
import { subscribe } from "./shell/subscribe.js"
import type { Summarizer } from "./summarize/Summarizer.js"

export * from "./memory/MemoryService.js"
export { InvalidInput } from "./memory/input.js"
export { type LoadOptions, Overloaded } from "./shell/Load.js"
export type { CompactionMode } from "./shell/modes.js"
export {
  consume,
  type ConsumeOptions,
  type Consumer,
  ConsumerFailed,
  type Done,
  type FedEvent,
  type FeedRange,
  redeliver,
  type Redelivered,
} from "./memory/feed.js"
export { webhook, WebhookFailed, type WebhookOptions } from "./memory/webhook.js"
export type { CompactionSettings } from "./shell/CompactionSettings.js"
export type { SessionPage, SessionPageOptions } from "./memory/ownedSessions.js"
export { type EraseOptions, NotSealed } from "./memory/govern.js"
export { UnknownBranch } from "./memory/readMessages.js"
export type { BranchInfo, Edited, Undone } from "./memory/branching.js"
export type { Preview, PreviewedCompaction, PreviewOptions, Replaced } from "./memory/preview.js"
export { rehearse, type Rehearsal } from "./memory/rehearse.js"
export type { Timeline, TimelineCompaction, TimelineVersion } from "./shell/timeline.js"
export type { SupportingMessage, Trace, Traced, TracedSentence, TracedSummary } from "./memory/trace.js"
export type { Sentence } from "./trace/sentences.js"
export type { MessagePage, PageOptions } from "./memory/readMessages.js"
export type { Rewrite, Rewritten } from "./memory/rewriteMessages.js"
export { type AnyMemory, asPromise, knownOf, type Neutral, neutralBy, neutralOf } from "./memory/Neutral.js"
export type * from "./memory/operations/Operations.js"
export { promised, type Runner } from "./memory/operations/promised.js"
export { type Operation, type OperationName, operations, wrongOptions } from "./memory/operations/table.js"
export { actedBy } from "./memory/operations/actedBy.js"
export { withPrefix } from "./memory/operations/withPrefix.js"
export type { AnsweredContext } from "./memory/context.js"
export {
  type CallPrice,
  dayOf,
  spendLog,
  type SpendCap,
  type SpendOptions,
  type SpendReached,
  type SpendScope,
} from "./shell/Spend.js"
export { checkOptions, compactionOptions, InvalidOption, memoryOptions } from "./memory/options.js"

/** The operations of a memory over its parts. A transaction of the application has some of them, over parts of its own. */
const operations = (parts: MemoryParts): Service => {
  const { log, sessions, schedule, underWay, strategyOf, mode, reading } = parts
  const { appending, searching } = parts.load
  const load = (session: string, at?: AtVersionOptions) => readState(sessions, session, at)

  /** A range with an end is compared with the head: what is lost at the end of the log is said. */
  const events = (session: string, range?: ReadOptions) =>
    sessions.events(session, { ...range, toVersion: range?.toVersion ?? Number.MAX_SAFE_INTEGER })

  /**
   * Runs a write, and looks at the state behind it. When the memory is closed, the look ends, and an inline compaction is
   * interrupted; the write is finished before.
   */
  const write = <A, E>(
    operation: string,
    session: string,
    request: StrategyOptions | undefined,
    run: (strategy: Strategy) => Effect.Effect<Answered<A>, E>,
  ): Effect.Effect<A, E | InvalidInput | Overloaded> =>
    Effect.gen(function* () {
      yield* checkSession(session)
      const strategy = yield* strategyOf(session, request)
      const { answer, state } = yield* appending(session, run(strategy))
      yield* reading.upkeep.written(sourceOf(sessions, state))
      const checked = schedule.check(state, strategy)
      yield* mode === "inline" ? raceFirst(checked, underWay.closing) : checked
      return answer
    }).pipe(underWay.finished, span(`memfold.${operation}`, { session }))

  return {
    within: (transaction) =>
      Effect.map(inTransaction(parts, transaction), (inside) => {
        const { append, edit, regenerate, describe, messages, state } = operations(inside)
        return { append, edit, regenerate, describe, messages, state }
      }),
    append: (session, messages, request = {}) =>
      write("append", session, request, (strategy) =>
        appendedFor(parts, session, request.owner).pipe(
          Effect.zipRight(appendMessages(parts, session, messages, { ...request, strategy })),
        ),
      ).pipe(metrics.recordAppend),
    rewrite: (session, rewrite, request = {}) =>
      write("rewrite", session, request, (strategy) =>
        rewriteMessages(parts, session, rewrite, { ...request, strategy }),
      ),
    edit: (session, from, messages, request = {}) =>
      write("edit", session, request, (strategy) =>
        edit(parts, session, from, messages, { ...request, strategy }),
      ),
    regenerate: (session, request = {}) =>
      write("regenerate", session, request, (strategy) =>
        regenerate(parts, session, { ...request, strategy }),
      ),
    branches: (session) => Effect.map(load(session), branchesOf),
    checkout: (session, branch, request) =>
      write("checkout", session, request, () => checkout(parts, session, branch)),
    undo: (session, request = {}) => write("undo", session, request, () => undo(parts, session, request)),
    describe: (session, change) => describeSession(parts, session, change),

    context: (session, request) => contextOf(parts, session, request),
    messages: (session, page) => readMessages(sessions, session, page),
    recall: (session, query, request) =>
      Effect.zipRight(searching(session), recall(parts, session, query, request)),
    recallOf: (owner, query, request) => Effect.zipRight(searching(), recallOf(parts, owner, query, request)),
    answerToolCall: (session, call, request) => answerToolCall(parts, session, call, request),

    state: load,
    events: (session, range) =>
      Stream.flatMap(
        Effect.tap(checkSession(session), () => checkRange(session, range)),
        () => events(session, range),
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
    timeline: (session) => Effect.zipRight(checkSession(session), sessions.timeline(session)),
    trace: (session, what) => traceOf(parts, session, what),
    traceMessage: (session, name) => traceMessageOf(parts, session, name),
    sessions: allSessions(log),
    sessionsOf: (owner, page) => ownedSessions(log, owner, page),
    consume: (group, handle, how) =>
      Effect.zipRight(checkConsumer(group, how), consume(log, group, handle, how)),
    feed: (from) => Stream.flatMap(checkFeed(from), () => feed(log, from)),
    eventsOf: (owner) => eventsOfOwned(parts, owner, events),
    facts: (session, query) => factsIn(parts, session, query),
    factsOf: (owner, query) => factsOfOwner(parts, owner, query),
    removeFact: (session, fact, how) => removeFact(parts, session, fact, how),
    confirmFact: (session, fact) => changeFact(parts, session, { fact, as: "confirmed", reason: "" }),
    revertFact: (session, fact) => changeFact(parts, session, { fact, as: "reverted", reason: "" }),
    rebuildFacts: (id, request) => rebuildFacts(parts, id, request),
    diffFacts: (id, request) => rebuiltFacts(parts, id, request),
    takeFacts: (id, request) => endRebuild(parts, "taken", id, request),
    dropFacts: (id, request) => endRebuild(parts, "dropped", id, request),

    // What `which` says decides between one outcome and a list, which only the type of `Compact` can tell.
    compact: ((session, request) => compact(parts, session, request)) as Compact,
    look: (session, request) => underWay.finished(lookAt(parts, session, request)),
    preview: (session, request) => previewOf(parts, session, request),

    revert: (session, request) => revertTo(parts, session, request),
    fork: (session, to, request) => forkTo(parts, session, to, request),
    redact: (session, name) => redactMessage(parts, session, name),
    clear: (session) => clearSession(parts, session),
    delete: (session) => deleteSession(parts, session),
    deleteOf: (owner) => deleteOwned(parts, owner),

    erase: (owner, request) => eraseOwner(parts, owner, request),
    restore: (owner, request) => restoreOwner(parts, owner, request),
    hold: (session, reason) => holdSubject(parts, { session }, reason),
    holdOf: (owner, reason) => holdSubject(parts, { owner }, reason),
    audit: (session) => auditSession(parts, session),
    auditOf: (owner) => auditOwner(parts, owner),
  }
}

/** The reads of sessions as this process knows them. What is known is answered at once, and takes no fiber. */
const knownOperations = (parts: MemoryParts): KnownMemory => {
  const { sessions } = parts
  const load: Sessions["load"] = (session) =>
    Effect.suspend(() => {
      const state = sessions.cached(session)
      return state === null ? sessions.load(session) : Effect.succeed(state)
    })
  const { branches, context, messages } = operations({ ...parts, sessions: { ...sessions, load } })
  return {
    asStored: (session, given) =>
      parts.beforeAppend === undefined
        ? Effect.succeed(given)
        : Effect.map(guarded(parts, session, given), (list) => list.map(({ message }) => message)),
    branches: (session) => {
      const state = sessions.cached(session)
      return state === null ? branches(session) : Effect.succeed(branchesOf(state))
    },
    context,
    messages: (session, page) => {
      const state = sessions.cached(session)
      const known = state === null ? null : knownPage(sessions, state, page)
      return known === null ? messages(session, page) : Effect.succeed(known)
    },
    version: (session) => Effect.succeed(sessions.cached(session)?.version ?? null),
  }
}

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
  Effect.map(makeParts(options), (parts) =>
    withAudit(parts.log, options.audit, { ...operations(parts), known: knownOperations(parts) }),
  )

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
