/** Compacting, looking at what compactions did and would do, and taking them back. */
import type { UnknownSummary } from "../../history/revert.js"
import type { SummaryRecord } from "../../projection/summaries.js"
import type { CompactionOutcome } from "../../shell/CompactionOutcome.js"
import type { Timeline } from "../../shell/timeline.js"
import type { Undone } from "../branching.js"
import type { CompactManyOptions, CompactOptions, MemoryError } from "../MemoryOptions.js"
import type { Answer, Face } from "./Face.js"

/** Compactions, and the summaries that they write. */
export interface CompactionOperations<F extends Face> {
  /**
   * Runs compactions, whether they are due or not, unless the mode of the memory is `off`:
   *
   * - `compact(session)`: one compaction, now, whatever the trigger says. The tail stays uncovered all the same
   * - `compact(session, { which: "due" })`: every compaction that is due. Call it after you append a long history at once, with
   *   `compaction: { mode: "manual" }`, or from a job for sessions whose process is gone
   * - `compact(session, { which: "all" })`: takes every compaction back and compacts again from the messages, for example after a
   *   change of strategy. If that fails, the messages stay uncovered; `compact` tries again
   *
   * @param session - the id of the session
   * @param options - for one compaction, `instructions`: a text that is added to the summarizer's prompt; and `takeOver`: takes the
   *   lock from a compaction that runs, for example of a process that was killed; its result will be thrown away. Also a `strategy`
   * @returns the outcome of one compaction: `Committed`, `Pruned`, `Idle` (nothing to compact, another one runs, a veto, or compaction
   *   is off), `Failed` or `Lost` (another process had the lock, or the session changed). For several, their outcomes in order; empty
   *   if nothing was due. A failed compaction is an outcome, not an error
   *
   * @example
   * ```ts
   * const outcome = await memory.compact("chat-1", { instructions: "Keep every order number." })
   * if (outcome._tag === "Committed") console.log(outcome.committed.tokensAfter)
   * const outcomes = await memory.compact("chat-2", { which: "due" })
   * console.log(outcomes.length)
   * ```
   */
  compact(
    session: string,
    options?: F["request"] & Omit<CompactOptions, "strategy">,
  ): Answer<F, CompactionOutcome, MemoryError>
  compact(
    session: string,
    options: F["request"] & Omit<CompactManyOptions, "strategy">,
  ): Answer<F, ReadonlyArray<CompactionOutcome>, MemoryError>
  /**
   * What `compact` would do, with this strategy or another one: the messages and the summary that would be replaced, what would stand
   * in their place, and the contexts before and behind it. It writes nothing, takes no lock, and asks no hook.
   *
   * @param session - the id of the session
   * @param options - `which` and for one compaction `instructions` and `takeOver`, as for `compact`. `summarizer`: writes the
   *   summaries of the preview instead of the memory's, which is asked by default, and costs what it costs. Also a `strategy` to try
   * @returns the compactions in their order, each with its outcome and what it would replace; why nothing more would be done; and both
   *   contexts
   *
   * @example
   * ```ts
   * const { compactions, before, after } = await memory.preview("chat-1", {
   *   strategy: "rounds",
   *   settings: { fullContextTurns: 2 },
   *   summarizer: "extractive",
   * })
   * for (const { outcome, replaced } of compactions) console.log(outcome._tag, replaced.messages)
   * console.log(before.tokens, after.tokens)
   * ```
   */
  preview(session: string, options?: F["previewOptions"]): Answer<F, F["preview"], MemoryError>
  /**
   * Every summary that the session ever had, oldest first, with its status: active, superseded or invalid.
   *
   * @param session - the id of the session
   * @returns the summaries
   *
   * @example
   * ```ts
   * for (const { id, status, text } of await memory.summaries("chat-1")) console.log(id, status, text)
   * ```
   */
  summaries(session: string): Answer<F, ReadonlyArray<SummaryRecord>, MemoryError>
  /**
   * The session through time: every version with the size of its context, and every compaction with its reason, its sizes and what
   * became of it. It reads the whole log once.
   *
   * @param session - the id of the session; a session without events has no versions
   * @returns the versions from 1, and the compactions in the order of their starts
   *
   * @example
   * ```ts
   * const { versions, compactions } = await memory.timeline("chat-1")
   * console.log(Math.max(...versions.map(({ tokens }) => tokens)), compactions.length)
   * const [first] = compactions
   * if (first !== undefined) console.log(await memory.context("chat-1", { atVersion: first.startedAt }))
   * ```
   */
  timeline(session: string): Answer<F, Timeline, MemoryError>
  /**
   * Takes compactions back: to an earlier summary, or to the messages. Automatic compaction is paused until more messages have come,
   * because it would otherwise repeat at once.
   *
   * @param session - the id of the session
   * @param options - `toSummary`: the id of a summary, or `null` (default) for the messages; `pauseFor`: how many messages have to
   *   come before automatic compaction goes on, 0 or more, 20 by default
   * @returns how many compactions were taken back
   * @throws UnknownSummary: the session has no such summary to go back to
   *
   * @example
   * ```ts
   * const [first] = await memory.summaries("chat-1")
   * await memory.revert("chat-1", { toSummary: first?.id ?? null, pauseFor: 10 })
   * ```
   */
  revert(
    session: string,
    options?: { readonly toSummary?: string | null; readonly pauseFor?: number },
  ): Answer<F, number, MemoryError | UnknownSummary>
  /**
   * Takes back the newest compaction, revert, recompaction, edit, regeneration, checkout or clear, and says which. What a revert or a
   * recompaction took back is in force again, unless a message was redacted since; compactions that a recompaction made before the
   * next message are taken back with it. Undoing the undo of anything but a compaction or a clear does it again.
   *
   * @param session - the id of the session
   * @param options - `pauseFor`: after a compaction was taken back, the number of messages without automatic compaction, 20 by
   *   default. Also a `strategy`
   * @returns what was taken back, `null` if there was nothing; and the version of the session
   *
   * @example
   * ```ts
   * await memory.clear("chat-1")
   * const { undone } = await memory.undo("chat-1")
   * console.log(undone) // clear
   * ```
   */
  undo(
    session: string,
    options?: F["request"] & { readonly pauseFor?: number },
  ): Answer<F, Undone, MemoryError>
}
