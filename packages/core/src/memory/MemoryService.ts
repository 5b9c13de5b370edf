/** The interface of a memory: its operations, their errors, and its options. */
import { Context, type Effect, type Stream } from "effect"
import type { AnsweredContext } from "./context.js"
import type { CompactionOutcome } from "../shell/CompactionOutcome.js"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { LayersError } from "../layers/MemoryLayers.js"
import type { LogError, ReadOptions, SessionInfo } from "@memfold/log/EventLog"
import type { Message, ToolCall } from "@memfold/message/Message"
import type { SubscribeOptions } from "../shell/subscribe.js"
import type { Timeline } from "../shell/timeline.js"
import type { Prefix } from "../session/prefix.js"
import type { DescriptionChange } from "../session/description.js"
import type { KnownFact, SessionState } from "../session/SessionState.js"
import type { SummaryRecord } from "../projection/summaries.js"
import type { CannotFork } from "../history/fork.js"
import type { CannotRedact, MessageName, UnknownMessage } from "../history/redact.js"
import type { UnknownSummary } from "../history/revert.js"
import type { IdempotencyKeyReused, OwnerMismatch, VersionMismatch } from "./appendMessages.js"
import type { BranchInfo, Edited, Undone } from "./branching.js"
import type {
  AppendedMessages,
  AtVersionOptions,
  CompactManyOptions,
  CompactOptions,
  ContextOptions,
  MemoryError,
  OwnerRecallOptions,
  RecallOptions,
  StrategyOptions,
} from "./MemoryOptions.js"
import type { SessionPage, SessionPageOptions } from "./ownedSessions.js"
import type { Preview, PreviewOptions } from "./preview.js"
import type { MessagePage, PageOptions, UnknownBranch } from "./readMessages.js"
import type { Trace, Traced, TracedSummary } from "./trace.js"
import type { Rewrite, Rewritten } from "./rewriteMessages.js"
import type { Recalled } from "../recall/recallMessages.js"
import type { OwnedRecalled } from "../recall/recallOwned.js"
import type { VectorIndexError } from "@memfold/log/VectorIndex"

export * from "./MemoryOptions.js"

/** Runs compactions: one outcome for one compaction, and a list of them for several. */
export interface Compact {
  (session: string, options?: CompactOptions): Effect.Effect<CompactionOutcome, MemoryError>
  (session: string, options: CompactManyOptions): Effect.Effect<ReadonlyArray<CompactionOutcome>, MemoryError>
}

/**
 * The operations of a memory that can take part in a transaction of the application. They are committed and rolled back with
 * it. Use it until the transaction ends, one call after the other.
 */
export type TransactionMemory = Pick<
  Service,
  "append" | "edit" | "regenerate" | "describe" | "messages" | "state"
>

/** The operations of a memory. */
export interface Service {
  /**
   * The memory as a transaction of the application sees it, if the store is in the same database: an append is committed or rolled
   * back together with the application's own rows. Compactions that become due start in the background once the transaction is
   * committed. The store says what it takes as a transaction; it fails with `LogError` for anything else.
   */
  readonly within: (transaction: unknown) => Effect.Effect<TransactionMemory, LogError>
  /**
   * Appends messages, all or none. With an `idempotencyKey`, a retry after a lost answer is applied once (law L12); with other messages, it fails with
   * `IdempotencyKeyReused`. A summarizer cannot make it fail and, unless compaction is `inline`, cannot make it wait (law L8).
   *
   * With `ifVersion`, it fails with `VersionMismatch` if the session is at another version, and writes nothing.
   *
   * `owner` and `title` describe the session from then on. A session that belongs to another owner stays as it is, and the append
   * fails with `OwnerMismatch`: only `describe` changes an owner.
   *
   * `prefix` is the `prefix` of the context that the messages answer. It decides whether contexts send signed reasoning
   * back (law L17). Without it, that is decided by the log, and in doubt the reasoning is left out: pass it if several
   * requests of a session run at the same time, if compactions run inline, or with memory layers.
   */
  readonly append: (
    session: string,
    messages: Message | ReadonlyArray<Message>,
    options?: StrategyOptions &
      DescriptionChange & {
        readonly idempotencyKey?: string
        readonly prefix?: Prefix
        readonly ifVersion?: number
      },
  ) => Effect.Effect<AppendedMessages, MemoryError | IdempotencyKeyReused | OwnerMismatch | VersionMismatch>
  /**
   * Returns the messages to send to a model, with their layout: now, or as they were at a version. The `budget` of the
   * result says how the context met the memory's budget, if it has one. It writes nothing: a `strategy` decides how this
   * context is rendered, and no compaction starts by it.
   */
  readonly context: (
    session: string,
    options?: ContextOptions & StrategyOptions,
  ) => Effect.Effect<AnsweredContext, MemoryError>
  /**
   * The conversation as it was said, covered messages included, page by page from its end: for a chat page. It starts at
   * the last clear. With `branch`, it is the conversation on a branch that was left; it fails with `UnknownBranch` if there is
   * none with this id.
   */
  readonly messages: (
    session: string,
    options?: PageOptions,
  ) => Effect.Effect<MessagePage, MemoryError | UnknownBranch>
  /**
   * Searches the messages since the last clear, covered messages included, and returns the best matches for the query,
   * within a budget of tokens and in the order of the conversation. Messages around a good match are returned with it.
   * Groups of tool calls are returned whole. Of a long message, the part that fits is returned: an excerpt. Without an
   * embedder, a query without a word to search for finds nothing.
   *
   * With `atVersion`, a search finds what it would have found then, but nothing from before a later clear.
   */
  readonly recall: (
    session: string,
    query: string,
    options?: RecallOptions & StrategyOptions,
  ) => Effect.Effect<Recalled, MemoryError>
  /**
   * Searches all sessions of an owner as `recall` searches one, within one budget: their messages are ranked together, and
   * each one names its session. The messages of a session come together, in the order of its conversation. Sessions of
   * other owners, or of none, are never found. A session with a damaged event is left out, and named in `unreadable`.
   */
  readonly recallOf: (
    owner: string,
    query: string,
    options?: OwnerRecallOptions,
  ) => Effect.Effect<OwnedRecalled, MemoryError>
  /**
   * Answers a call of a tool of recall (`Recall.toolDefinitions`) by a message with its result: append it like any other
   * tool result. `null` for a call of another tool. `search_memory` searches what the context does not show; a result has
   * at most `tokens` (1,000 by default). Wrong arguments of the model are answered by an error as the result.
   */
  readonly answerToolCall: (
    session: string,
    call: ToolCall,
    options?: StrategyOptions & { readonly tokens?: number },
  ) => Effect.Effect<Message | null, MemoryError>
  /** The state of a session, now or at a version. */
  readonly state: (session: string, options?: AtVersionOptions) => Effect.Effect<SessionState, MemoryError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<RecordedEvent, MemoryError>
  /** The stored events and then new ones as they come, without a gap. The stream does not end by itself. */
  readonly subscribe: (
    session: string,
    options?: SubscribeOptions,
  ) => Stream.Stream<RecordedEvent, MemoryError>
  /** Every summary the session ever had, oldest first, with its status. */
  readonly summaries: (session: string) => Effect.Effect<ReadonlyArray<SummaryRecord>, MemoryError>
  /**
   * The session through time: every version with the size of its context, and every compaction with its reason, its sizes and what
   * became of it. It reads the whole log once; `context` with `atVersion` shows what the model got at one of the versions.
   */
  readonly timeline: (session: string) => Effect.Effect<Timeline, MemoryError>
  /**
   * Which messages each sentence of a text rests on: messages that share its words and identifiers, weighted by how rare they are. A
   * sentence that none supports is marked, and so is one with an identifier that no message has. A summary is traced to the messages
   * that it covers, a text to all messages since the last clear. No model is asked, and the answer is always the same.
   */
  readonly trace: (session: string, what: Traced) => Effect.Effect<Trace, MemoryError | UnknownSummary>
  /**
   * In which summaries a message lives on: every summary that covers it, with the sentences that rest on it. A summary without such
   * a sentence has lost it.
   */
  readonly traceMessage: (
    session: string,
    message: MessageName,
  ) => Effect.Effect<ReadonlyArray<TracedSummary>, MemoryError | UnknownMessage>
  /** The active facts of a session; none without memory layers. */
  readonly facts: (session: string) => Effect.Effect<ReadonlyArray<KnownFact>, MemoryError | LayersError>
  /** Removes a wrong or outdated fact; `false` if the session has no such active fact. */
  readonly removeFact: (
    session: string,
    fact: string,
    options?: { readonly reason?: string },
  ) => Effect.Effect<boolean, MemoryError | LayersError>
  /**
   * Runs compactions, unless the memory's mode is `off`.
   *
   * - `compact(session)` compacts once, now, whatever the trigger says. The tail stays uncovered all the same. If a
   *   compaction runs already, the outcome is `Idle`; with `takeOver`, its lock is taken. Use that when you know that the
   *   process of the other compaction is gone, and its lease is not over yet.
   * - `compact(session, { which: "due" })` runs every compaction that is due, and returns one outcome for each.
   * - `compact(session, { which: "all" })` takes every compaction back and compacts again from the messages, with another
   *   strategy where one is given. If that fails, the messages stay uncovered; `compact` tries again.
   */
  readonly compact: Compact
  /**
   * Looks at a session as a write does: what is due starts, or is dispatched, as the memory's mode says, and what comes due later gets
   * its timer or its look. For sessions whose process was killed between a write and its look. A session whose compactions have
   * failed too often in a row is left alone.
   */
  readonly look: (session: string, options?: StrategyOptions) => Effect.Effect<void, MemoryError>
  /**
   * What `compact` would do, with this strategy or another one: the messages and the summary that would be replaced, what would
   * stand in their place, and the contexts before and behind it. It writes nothing, takes no lock, and asks no hook. It calls the
   * summarizer, unless the options name another one.
   */
  readonly preview: (session: string, options?: PreviewOptions) => Effect.Effect<Preview, MemoryError>
  /**
   * Takes compactions back: to an earlier summary, or to the messages (`null`, the default). Automatic compaction is
   * paused until `pauseFor` more messages have come (20 by default, 0 to not pause). Returns how many compactions were
   * taken back. Fails with `UnknownSummary` if there is no such summary.
   */
  readonly revert: (
    session: string,
    options?: { readonly toSummary?: string | null; readonly pauseFor?: number },
  ) => Effect.Effect<number, MemoryError | UnknownSummary>
  /**
   * Starts the session `to` as a copy of this one, now or at a version. Returns the version of the copy. Fails with
   * `CannotFork` if `to` exists already or this session has no events.
   */
  readonly fork: (
    session: string,
    to: string,
    options?: AtVersionOptions,
  ) => Effect.Effect<number, MemoryError | CannotFork>
  /**
   * Erases a message's text from the log, from the summaries that cover it, and from the facts learned from it
   * (law L15). Those summaries become invalid: the messages that they covered are uncovered, and are compacted again
   * when the strategy finds them due. Returns how many summaries became invalid.
   *
   * The redaction ends when the text is gone from the store's files as well. Fails with `LogError` if that has to wait for too long,
   * for another process that reads the old data; the store finishes it later, and a repeated call waits for it again.
   *
   * Fails with `UnknownMessage` if there is no such message, with `CannotRedact` if the log has events of a newer memfold,
   * with `LayersError` if the facts of the memory layers could not be deleted, and with `VectorIndexError` if the vectors of
   * the message could not be: redact it again then. If the process ends before, the next one deletes them.
   *
   * Messages from before a clear have no index any more: name them by the version of their event. Backups of the store
   * still have the text.
   */
  readonly redact: (
    session: string,
    message: MessageName,
  ) => Effect.Effect<
    { readonly invalidated: number },
    MemoryError | UnknownMessage | CannotRedact | LayersError | VectorIndexError
  >
  /**
   * Sets the owner and the title of a session, or removes them (`null`); what is missing stays. Titles are in the log:
   * `redact` does not erase them. A session that does not exist begins with that.
   */
  readonly describe: (session: string, change: DescriptionChange) => Effect.Effect<void, MemoryError>
  /**
   * Replaces the messages of the conversation, all or nothing: for libraries that take messages back or replace them. The
   * function gets the messages of the branch in force and returns the new list, or `null` to change nothing. It must be pure,
   * because it runs again if another writer was first. If the new list only adds messages at the end, these are appended.
   * Otherwise it is an `edit` behind the messages that both lists begin with. It reads the whole log, unless `last` says how many
   * of the newest messages are enough: then the function gets and returns only these, and the messages before them stay.
   *
   * With an `idempotencyKey`, a retry is applied once; for another rewrite, it fails with `IdempotencyKeyReused`.
   */
  readonly rewrite: (
    session: string,
    rewrite: Rewrite,
    options?: StrategyOptions & { readonly idempotencyKey?: string; readonly last?: number },
  ) => Effect.Effect<Rewritten, MemoryError | IdempotencyKeyReused>
  /**
   * Goes on from an earlier place with other messages: the messages before `from` stay, and `messages` come behind them, in one
   * batch. `from` is the index of a message, or the version of the event that appended it. What was said behind the place stays
   * in the log as a branch, to which `checkout` returns. The summary in force is the newest one that covers nothing beyond the
   * place. Without messages, the conversation is only cut.
   *
   * With an `idempotencyKey`, a retry is applied once; for another edit, it fails with `IdempotencyKeyReused`. It fails with
   * `UnknownMessage` if the branch in force has no such message, and with `VersionMismatch` if the session is not at `ifVersion`.
   */
  readonly edit: (
    session: string,
    from: MessageName,
    messages: Message | ReadonlyArray<Message>,
    options?: StrategyOptions & {
      readonly idempotencyKey?: string
      readonly prefix?: Prefix
      readonly ifVersion?: number
    },
  ) => Effect.Effect<Edited, MemoryError | UnknownMessage | IdempotencyKeyReused | VersionMismatch>
  /**
   * Goes back to before an answer, so that the next context asks for another one: the newest answer, or the answer that the
   * message `from` is part of. An answer is everything behind a user message. The old answer stays in the log, on a branch.
   */
  readonly regenerate: (
    session: string,
    options?: StrategyOptions & {
      readonly from?: MessageName
      readonly idempotencyKey?: string
      readonly ifVersion?: number
    },
  ) => Effect.Effect<Edited, MemoryError | UnknownMessage | IdempotencyKeyReused | VersionMismatch>
  /**
   * The branches of a session: the branch in force, and then up to 1,000 branches that edits, regenerations and checkouts have
   * left since the last clear, newest first.
   */
  readonly branches: (session: string) => Effect.Effect<ReadonlyArray<BranchInfo>, MemoryError>
  /**
   * Returns to a branch that was left: its messages and its summary are in force again. Fails with `UnknownBranch` if there is
   * none with this id.
   */
  readonly checkout: (
    session: string,
    branch: number,
    options?: StrategyOptions,
  ) => Effect.Effect<Edited, MemoryError | UnknownBranch>
  /**
   * Takes back the newest compaction, revert, recompaction, edit, regeneration, checkout or clear, and says which. What a revert or
   * a recompaction took back is committed again, unless a message was redacted since; compactions that a recompaction made before
   * the next message are taken back with it. Undoing the undo of anything but a compaction or a clear does it again. After a
   * compaction was taken back, automatic compaction is paused until `pauseFor` more messages have come (20 by default).
   */
  readonly undo: (
    session: string,
    options?: StrategyOptions & { readonly pauseFor?: number },
  ) => Effect.Effect<Undone, MemoryError>
  /** Starts the session over, without messages. The log keeps the earlier events, and the session its owner and title. */
  readonly clear: (session: string) => Effect.Effect<void, MemoryError>
  /**
   * Deletes the session with its log; `false` if there was none. Fails with `VectorIndexError` if its vectors could not be
   * deleted: delete it again then. If the process ends before, the next one deletes them.
   */
  readonly delete: (session: string) => Effect.Effect<boolean, MemoryError | VectorIndexError>
  /**
   * Deletes everything of an owner: all sessions with their logs, the facts that the memory layers learned in them, and the facts
   * about the user of that name. Returns how many sessions there were. If it fails or the process ends before, delete again: what
   * is left is found. Facts learned in a session that was deleted by itself stay in the log of its scope.
   */
  readonly deleteOf: (owner: string) => Effect.Effect<number, MemoryError | LayersError | VectorIndexError>
  /**
   * Every event of an owner: of all sessions, newest activity first, and of the log with the facts about the user of that name.
   * Each session's events come together, in their order.
   */
  readonly eventsOf: (owner: string) => Stream.Stream<RecordedEvent, MemoryError>
  /** All sessions of the store. */
  readonly sessions: Stream.Stream<SessionInfo, MemoryError>
  /** The sessions of an owner, newest activity first, page by page. */
  readonly sessionsOf: (owner: string, page?: SessionPageOptions) => Effect.Effect<SessionPage, MemoryError>
}

/**
 * The memory, as a service of Effect.
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
 *   const memory = yield* Memory.Memory
 *   yield* memory.append("chat-1", [Message.user("Hello"), Message.assistant("Hello to you")])
 *   return yield* memory.context("chat-1")
 * })
 *
 * const live = Memory.layer({ strategy }).pipe(
 *   Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
 * )
 * const context = await Effect.runPromise(program.pipe(Effect.provide(live)))
 * console.log(context.messages.length, context.layout)
 * ```
 */
export class Memory extends Context.Tag("@memfold/core/Memory")<Memory, Service>() {}
