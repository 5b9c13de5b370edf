/** How compactions end. */
import type { CompactionStarted, SummaryCommitted, ToolOutputsPruned } from "../event/Event.js"
import type { Decision } from "../policy/decide.js"
import type { SummarizerError } from "../summarize/Summarizer.js"

/** Nothing was done: no compaction was due, a hook vetoed it, compaction is off, or the spend of the day has reached its cap. */
export type IdleOutcome =
  | Extract<Decision, { _tag: "Idle" }>
  | { readonly _tag: "Idle"; readonly reason: "vetoed" | "off" | "spend-reached" }

const idleInWords: Readonly<Record<string, string>> = {
  "not-due": "no trigger of the strategy fires",
  "nothing-to-take": "the strategy keeps every message that has no summary yet",
  "nothing-to-gain": "the context would hardly be smaller",
  running: "another compaction of the session is running",
  "backing-off": "the wait after a failed compaction is not over",
  paused: "automatic compactions are paused after a revert",
  "turn-running": "the newest turn is still running, and its signed reasoning would be lost",
  "spend-reached": "the spend of the day has reached its cap",
  vetoed: "a hook of the application vetoed it",
  off: "compactions of this memory are off",
} satisfies Readonly<Record<IdleOutcome["reason"], string>>

/** Says in words why nothing was done. A reason that a newer service gives stays as it is. */
export const whyIdle = (reason: string): string => idleInWords[reason] ?? reason

/**
 * How a compaction ended.
 *
 * - `Idle`: nothing was done, for a reason
 * - `Committed`: the new summary is active
 * - `Pruned`: no summary was written; tool outputs were shortened
 * - `Failed`: the summarizers failed, and the messages stay uncovered; the compaction is retried after a pause
 * - `Lost`: the lock was lost, to another process or because the session was changed; the result was thrown away
 */
export type CompactionOutcome =
  | IdleOutcome
  | {
      readonly _tag: "Committed"
      readonly started: CompactionStarted
      readonly committed: SummaryCommitted
      /** The id of the summary that it replaces, if there was one. */
      readonly supersedes: string | null
      /** The tool outputs that were shortened with it, if any. */
      readonly pruned: ToolOutputsPruned | null
    }
  | { readonly _tag: "Pruned"; readonly started: CompactionStarted; readonly pruned: ToolOutputsPruned }
  | { readonly _tag: "Failed"; readonly started: CompactionStarted; readonly error: SummarizerError }
  | { readonly _tag: "Lost"; readonly started: CompactionStarted }
