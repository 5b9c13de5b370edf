/** What a memory can do, and what it is made with. */
import { Context, type Duration, type Effect, type Stream } from "effect"
import type { Budget, BudgetOutcome } from "../compact/awaitBudget.js"
import type { Outcome, RunOptions, Settings } from "../compact/Compaction.js"
import type { Hooks } from "../compact/Hooks.js"
import type { Recorded } from "../event/EventCodec.js"
import type { LayersError } from "../layers/MemoryLayers.js"
import type { ReadOptions, SessionInfo } from "../log/EventLog.js"
import type { Message } from "../message/Message.js"
import type { SubscribeOptions } from "../observe/subscribe.js"
import type { Strategy } from "../policy/Strategy.js"
import type { Context as RenderedContext } from "../render/Render.js"
import type { Wording } from "../summary/Wording.js"
import type { SessionError } from "../session/Sessions.js"
import type { KnownFact, SessionState } from "../session/SessionState.js"
import type { SummaryRecord } from "../session/summaries.js"
import type { CannotFork } from "../history/fork.js"
import type { CannotRedact, UnknownMessage } from "../history/redact.js"
import type { UnknownSummary } from "../history/revert.js"
import type { InvalidInput } from "./input.js"

/** What every operation can fail with: bad input, a store that cannot work, a damaged log. */
export type MemoryError = InvalidInput | SessionError

/** The messages `[from, to)` are durable, at this version of the session. */
export interface Appended {
  readonly from: number
  readonly to: number
  readonly version: number
  /** The commit id had been applied before; nothing was written this time. */
  readonly duplicate: boolean
}

/** An operation on the past: as things were at this sequence number. */
export interface AtOptions {
  readonly at?: number
}

/** For one request: another strategy than the memory's. The session does not remember it. */
export interface StrategyOptions {
  readonly strategy?: Strategy | undefined
}

/** How a memory works. */
export interface Options extends Partial<Settings> {
  readonly strategy: Strategy
  /** How summaries are worded from now on, in place of the strategy's own way. */
  readonly wording?: Wording
  /**
   * When compactions run.
   *
   * - `background` (default): beside the conversation; `append` returns once the messages are durable. What comes due
   *   by time alone (idle time, a retry, the lease of a process that is gone) is looked at when it is time.
   * - `inline`: `append` returns when nothing is due any more
   * - `manual`: only through `settle` and `compact`
   * - `off`: not at all, whoever asks; every message stays raw
   */
  readonly compaction?: "background" | "inline" | "manual" | "off"
  /**
   * A size above which `context` does not answer at once: it waits for compactions, and says how that went. A model's
   * window, for instance, less what the answer needs.
   */
  readonly budget?: Budget
  /** What is asked before compactions, and told after them. */
  readonly hooks?: Hooks
  /**
   * A strategy that decides alongside and does nothing, to be compared: the metric `memfold_shadow_decisions` counts
   * how often it would have decided otherwise, and each such decision is logged at debug level.
   */
  readonly shadow?: Strategy
  /**
   * How long compactions may take to end when the memory is closed; what is not done by then is given up, and nothing
   * is lost. At once by default.
   */
  readonly shutdown?: Duration.DurationInput
  /** How many sessions are kept in memory between calls; 1,000 by default. */
  readonly cachedSessions?: number
}

/** The operations of a memory. */
export interface Service {
  /**
   * Appends messages, all or none. With a `commit` id of your own, a retry after a lost answer is applied once
   * (law L12). No summarizer can make it fail or, unless compaction is inline, wait (law L8).
   */
  readonly append: (
    session: string,
    messages: Message | ReadonlyArray<Message>,
    options?: StrategyOptions & { readonly commit?: string },
  ) => Effect.Effect<Appended, MemoryError>
  /** The messages a model should get now, with their layout; or those it would have got at a version. */
  readonly context: (
    session: string,
    options?: AtOptions & StrategyOptions,
  ) => Effect.Effect<RenderedContext & { readonly budget?: BudgetOutcome }, MemoryError>
  /** The folded state, now or at a version. */
  readonly state: (session: string, options?: AtOptions) => Effect.Effect<SessionState, MemoryError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<Recorded, MemoryError>
  /** The events that are there, and then those that come, without a gap; it does not end by itself. */
  readonly subscribe: (session: string, options?: SubscribeOptions) => Stream.Stream<Recorded, MemoryError>
  /** Every summary the session ever had, oldest first, with what has become of each. */
  readonly summaries: (session: string) => Effect.Effect<ReadonlyArray<SummaryRecord>, MemoryError>
  /** The facts that the memory layers know for a session; none without layers. */
  readonly facts: (session: string) => Effect.Effect<ReadonlyArray<KnownFact>, MemoryError | LayersError>
  /** Takes a wrong or outdated fact out of force; `false` if the session knows no such fact. */
  readonly retire: (
    session: string,
    fact: string,
    options?: { readonly reason?: string },
  ) => Effect.Effect<boolean, MemoryError | LayersError>
  /** Runs every compaction that is due, and answers with what was done. */
  readonly settle: (
    session: string,
    options?: StrategyOptions,
  ) => Effect.Effect<ReadonlyArray<Outcome>, MemoryError>
  /** Compacts now, whatever the trigger says; the tail stays raw all the same. */
  readonly compact: (
    session: string,
    options?: StrategyOptions & Pick<RunOptions, "instructions">,
  ) => Effect.Effect<Outcome, MemoryError>
  /**
   * Takes compactions back: to an earlier summary, or to the raw messages (`null`, the default). Nothing is compacted
   * by itself before `hold` more messages have come (20). Answers with how many commits were taken back.
   */
  readonly revert: (
    session: string,
    options?: { readonly to?: string | null; readonly hold?: number },
  ) => Effect.Effect<number, MemoryError | UnknownSummary>
  /**
   * Takes every compaction back and compacts anew from the raw log, under another strategy where one is given. Should
   * that fail, the session goes on with its raw messages; `compact` tries again.
   */
  readonly recompact: (
    session: string,
    options?: StrategyOptions,
  ) => Effect.Effect<ReadonlyArray<Outcome>, MemoryError>
  /**
   * Begins the session `to` with the events of this one, up to a version where one is given, and answers with the
   * version the new one has.
   */
  readonly fork: (
    session: string,
    to: string,
    options?: AtOptions,
  ) => Effect.Effect<number, MemoryError | CannotFork>
  /**
   * Forgets a message (law L15): its words leave the log, the summaries that cover it, and the facts learned from it.
   * What was summarized with it is raw again, and compacted anew by the policy. Messages from before a clear cannot be
   * named any more: delete the session. Answers with how many summaries that
   * concerned. Copies of the store made before still have it.
   */
  readonly redact: (
    session: string,
    index: number,
  ) => Effect.Effect<
    { readonly invalidated: number },
    MemoryError | UnknownMessage | CannotRedact | LayersError
  >
  /** Starts the session over. The log keeps what was. */
  readonly clear: (session: string) => Effect.Effect<void, MemoryError>
  /** Removes the session with its log; `false` if there was none. */
  readonly delete: (session: string) => Effect.Effect<boolean, MemoryError>
  /** Every session of the store. */
  readonly sessions: Stream.Stream<SessionInfo, MemoryError>
}

/**
 * The memory.
 *
 * @example
 * ```ts
 * import { Fold, InMemoryEventLog, Keep, Memory, Message, Strategy, Trigger } from "@memfold/core"
 * import { Effect, Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   fold: Fold.rolling,
 * })
 *
 * const program = Effect.gen(function* () {
 *   const memory = yield* Memory.Memory
 *   yield* memory.append("chat-1", [Message.user("Hello"), Message.assistant("Hello to you")])
 *   return yield* memory.context("chat-1")
 * })
 *
 * const live = Memory.layer({ strategy }).pipe(Layer.provide(InMemoryEventLog.layer))
 * const context = await Effect.runPromise(program.pipe(Effect.provide(live)))
 * console.log(context.messages.length, context.layout)
 * ```
 */
export class Memory extends Context.Tag("@memfold/core/Memory")<Memory, Service>() {}
