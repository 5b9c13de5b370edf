/** The options of a memory and of its operations, and the errors of every operation. */
import type { Duration } from "effect"
import type { Message, Origin } from "@memfold/message/Message"
import type { BeforeAppend } from "../guard/Guard.js"
import type { Strategy, Trust } from "../policy/Strategy.js"
import type { TimeOptions } from "../recall/timed.js"
import type { BoundReasoning } from "../render/Render.js"
import type { CompactionMode } from "../shell/modes.js"
import type { CompactionSettings } from "../shell/CompactionSettings.js"
import type { Hooks } from "../shell/Hooks.js"
import type { SessionError } from "../shell/Sessions.js"
import type { LoadOptions, Overloaded } from "../shell/Load.js"
import type { SpendOptions } from "../shell/Spend.js"
import type { Budget } from "../shell/waitForBudget.js"
import type { Wording } from "../summary/Wording.js"
import type { InvalidInput } from "./input.js"

/** The errors of every operation: an invalid argument, a store that fails, a damaged log, more appends than may wait. */
export type MemoryError = InvalidInput | SessionError | Overloaded

/** The result of an append: the messages have the indexes `[from, to)`. */
export interface AppendedMessages {
  readonly from: number
  readonly to: number
  /** The version of the session after the append. */
  readonly version: number
  /** The idempotency key had been used before, and nothing was written. The range is the range of the first append. */
  readonly duplicate: boolean
}

/** Options of operations that can read the past. */
export interface AtVersionOptions {
  /** The version of the session to read, from 0 to the newest, which is the default. */
  readonly atVersion?: number
}

/** Options of a search in the messages of a session. */
export interface RecallOptions extends AtVersionOptions, TimeOptions {
  /** The most tokens of the result, 0 or more; 1,000 by default. */
  readonly tokens?: number
  /** Which messages are searched: `all` (default), or only messages that the next context does not show word for word. */
  readonly messages?: "all" | "outside-context"
}

/** Options of a search in all sessions of an owner. */
export interface OwnerRecallOptions extends TimeOptions {
  /** The most tokens of the result, 0 or more; 1,000 by default. */
  readonly tokens?: number
  /** The ids of sessions that are not searched, such as the session that is going on. */
  readonly without?: ReadonlyArray<string>
}

/** Messages that are not appended yet: for a request that is written to the log once it is answered. */
export interface Draft {
  /** The messages; none are allowed. */
  readonly messages: Message | ReadonlyArray<Message>
  /** The index of the message in whose place they stand, as for `edit`; by default, they stand behind the newest message. */
  readonly from?: number
}

/** Options of a context. */
export interface ContextOptions extends AtVersionOptions {
  /**
   * Renders the context as it would be with these messages. Nothing is written. Then append the messages and the answer to them in
   * one batch, or `edit` with them, and pass the `prefix` of this context. Not together with `atVersion`.
   */
  readonly draft?: Draft
  /**
   * Searches the earlier messages for the newest user message, and shows what is relevant and not in the context already
   * as one message right before it: a section `recalled` of at most `tokens` (1,000 by default). If nothing is relevant,
   * nothing is added. The contexts of one turn recall the same. Pass the `prefix` of the context to `append` with the
   * answer: signed reasoning is bound to what was recalled.
   */
  readonly recall?: { readonly tokens?: number }
}

/** Options for one request. The session does not remember them. */
export interface StrategyOptions {
  /** The strategy to use instead of the memory's own. */
  readonly strategy?: Strategy | undefined
}

/**
 * When and how compactions run.
 *
 * @example
 * ```ts
 * import { type Memory } from "@memfold/core"
 *
 * export const compaction: Memory.CompactionOptions = { mode: "inline", summarizerTimeout: "30 seconds" }
 * ```
 */
export interface CompactionOptions extends Partial<CompactionSettings> {
  /**
   * When compactions run.
   *
   * - `background` (default): in the background; `append` returns once the messages are stored. Timers run what comes
   *   due without a message: by idle time, a retry, or the end of the lease of a process that is gone.
   * - `dispatch`: in other processes. `append` returns once the messages are stored and a queue has the session; a worker
   *   (`memfold worker`, or `Dispatcher.work`) compacts it. For functions that are frozen after their answer, and for
   *   servers that only answer. It needs a `Dispatcher`. A `budget` is kept all the same: `context` compacts by itself
   *   where it has to.
   * - `inline`: within `append`, which returns when nothing is due any more
   * - `manual`: only through `compact`
   * - `off`: never, not even through `compact`; every message stays uncovered
   */
  readonly mode?: CompactionMode
  /** Functions of the application that run before and after each compaction. */
  readonly hooks?: Hooks
  /**
   * How many sessions are compacted in the background at once, in this process; 8 by default. Others wait for their turn,
   * in the order in which they came due.
   */
  readonly concurrency?: number
  /**
   * How long running compactions may take to end when the memory is closed; zero by default. Then they are interrupted,
   * and no message is lost.
   */
  readonly shutdown?: Duration.DurationInput
}

/** What the audit trails have beside erasures and holds: exports and deletions. */
export interface AuditOptions {
  /** Also reads: contexts, searches, messages, events. Each is one more write. */
  readonly reads?: boolean
}

/** The options of a memory. Only the strategy is required. */
export interface Options {
  /** Decides when to compact, what to keep, and how contexts are rendered. */
  readonly strategy: Strategy
  /** How new summaries are worded, instead of the strategy's own wording. */
  readonly wording?: Wording
  /** Whether summaries keep material apart, instead of what the strategy says (see `ContextStyle.trust`). */
  readonly trust?: Trust
  /** The lowest origin in contexts besides messages, instead of what the strategy says (see `ContextStyle.minimumOrigin`). */
  readonly minimumOrigin?: Origin
  /**
   * A strategy to compare with: it decides alongside and changes nothing. The metric `memfold_shadow_decisions` counts
   * its decisions by whether they agree, and each difference is logged at debug level.
   */
  readonly shadow?: Strategy
  /** When and how compactions run; in the background by default. */
  readonly compaction?: CompactionOptions
  /**
   * The largest context that is answered at once. `context` waits for compactions while it is larger, and says in
   * `budget` how that ended. Use the model's window less the room for its answer.
   */
  readonly budget?: Budget
  /**
   * Notes in audit trails what is no event: exports of owners and deletions, and with `reads` each read of a session. A read that cannot
   * be noted fails. Erasures and holds are noted always. Off by default.
   */
  readonly audit?: AuditOptions
  /**
   * What happens to signed reasoning, and to other bound parts, once its prefix has changed: by a compaction, a revert or
   * a redaction. Providers refuse or drop it then.
   *
   * - `leave-out` (default): contexts leave it out, and the layout names it
   * - `keep`: contexts keep it. For models that do not check it, and for requests that let the provider drop it
   *   (Anthropic: `thinking.block_binding.prefix_mismatch_behavior: "drop_block"`).
   */
  readonly boundReasoning?: BoundReasoning
  /**
   * The guard: it sees each message and each title before it is stored, whatever way it comes in, and says what of it is stored. `@memfold/guard` has one
   * for secrets and numbers of cards. By default, all is stored as it comes.
   */
  readonly beforeAppend?: BeforeAppend
  /** What the calls of summarizer, embedder and extractor may cost in a day; any amount by default. */
  readonly spend?: SpendOptions
  /**
   * Whether the full-text index of a session with more than 1,024 events is written in the background as the session grows, for the
   * first search of another process; `true` by default. Otherwise, searches write it.
   */
  readonly indexAhead?: boolean
  /** How many appends may wait before others are refused with `Overloaded`: 10,000 in the process, and 1,000 in a session by default. */
  readonly load?: LoadOptions
  /** How many sessions keep their state in memory between calls; 1,000 by default. */
  readonly cachedSessions?: number
}

/** One compaction. */
export interface CompactOptions extends StrategyOptions {
  /** `next` (default): one compaction, now, whatever the trigger says. */
  readonly which?: "next"
  /** Instructions for the summarizer. */
  readonly instructions?: string | undefined
  /** Takes the lock from a compaction that runs. That compaction ends as `Lost`, and its result is thrown away. */
  readonly takeOver?: boolean | undefined
}

/** Several compactions. */
export interface CompactManyOptions extends StrategyOptions {
  /**
   * - `due`: every compaction that is due
   * - `all`: takes every compaction back, and compacts again from the messages
   */
  readonly which: "due" | "all"
}
