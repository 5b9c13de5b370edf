/**
 * The events of a compaction, as plain functions of states: how it takes the session's lock, renews it, commits, fails, or gives
 * the lock back. What it appends is decided on the very state that it is appended to. Without the lock, it appends nothing.
 */
import type {
  CompactionReleased,
  CompactionStarted,
  Event,
  SummaryCommitted,
  SummaryInvalidated,
  ToolOutputsPruned,
} from "../event/Event.js"
import { text } from "@memfold/message/Message"
import { isBelow } from "@memfold/message/Origin"
import { ofMessage, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import { longestPause, type Plan } from "../policy/decide.js"
import { type Strategy, wordingOf } from "../policy/Strategy.js"
import { prune } from "../session/prune.js"
import { questionIndex } from "../session/question.js"
import { contextTokens, type SessionState, withoutPinned } from "../session/SessionState.js"
import { noFiles, type Segment, shownSegments } from "../summary/Summary.js"
import { shownBlocks } from "./shownBlocks.js"
import { summarySize } from "./summarySize.js"
import { filesOf } from "./toolNotes.js"

/** The lock of a compaction that has begun. */
export interface Lock {
  readonly started: CompactionStarted
  readonly plan: Plan
  /** The state that the compaction began on. It still has the messages of the plan. */
  readonly before: SessionState
}

/** A written summary: its new segments, how many older ones it carries over, and what it covers and cost. */
export interface WrittenSummary {
  readonly carried: number
  readonly segments: ReadonlyArray<Segment>
  /** Where its coverage ends: before the end of the plan if the summarizers failed midway. */
  readonly coveredTo: number
  readonly calls: number
  /** The names of the summarizers that wrote parts of it. */
  readonly by: string
}

/** The events of a commit, and what it says about itself. */
export interface Commit {
  readonly events: ReadonlyArray<Event>
  /** `null` if the plan has no messages to cover, and only shortens tool outputs. */
  readonly committed: SummaryCommitted | null
  /** The id of the summary that it replaces, if there was one. */
  readonly supersedes: string | null
  /** The tool outputs that were shortened with it, if any. */
  readonly pruned: ToolOutputsPruned | null
}

/** Whether a compaction has the lock of the session. */
export const hasLock = ({ running }: SessionState, { compaction }: CompactionStarted): boolean =>
  running?.compaction === compaction

/** Gives the lock of whatever compaction runs back; no event if none runs. */
export const releaseRunning = ({
  running,
}: Pick<SessionState, "running">): ReadonlyArray<CompactionReleased> =>
  running === null ? [] : [{ _tag: "CompactionReleased", compaction: running.compaction }]

/**
 * Takes the lock for a plan that was made on this state. A compaction that still has the lock is released: its lease is over, or
 * the caller takes it over.
 */
export const begin = (
  before: SessionState,
  plan: Plan,
  {
    compaction,
    strategy,
    leaseUntil,
  }: { readonly compaction: string; readonly strategy: Strategy; readonly leaseUntil: number },
): { readonly lock: Lock; readonly events: ReadonlyArray<Event> } => {
  const { reason, from, to, tailFrom, parts } = plan
  const started: CompactionStarted = {
    _tag: "CompactionStarted",
    compaction,
    strategy: strategy.name,
    reason,
    from,
    to,
    tailFrom,
    parts,
    leaseUntil,
  }
  return { lock: { started, plan, before }, events: [...releaseRunning(before), started] }
}

/** Renews the lease of a compaction that has the lock; no event without it. */
export const renew = (
  state: SessionState,
  started: CompactionStarted,
  leaseUntil: number,
): ReadonlyArray<Event> =>
  hasLock(state, started) ? [{ _tag: "CompactionRenewed", compaction: started.compaction, leaseUntil }] : []

/** Gives the lock of a compaction back; no event if it has no lock any more. */
export const release = (state: SessionState, started: CompactionStarted): ReadonlyArray<Event> =>
  hasLock(state, started) ? releaseRunning(state) : []

/** The event that shortens the tool outputs of a plan, and the tokens it saves; `null` where a plan has none. */
const pruneOutputs = (
  counter: TokenCounter,
  { started, plan, before }: Lock,
): { readonly event: ToolOutputsPruned; readonly saved: number } | null => {
  if (plan.prune.length === 0) return null
  const after = prune(
    before.uncovered,
    plan.prune.map((output) => ({ ...output, tokens: 0 })),
  )
  const outputs = plan.prune.map((output) => {
    const message = after.at(output.index)?.message
    return { ...output, tokens: message === undefined ? 0 : ofMessage(counter, message) }
  })
  const saved = [...new Map(outputs.map((output) => [output.index, output.tokens]))].reduce(
    (sum, [index, tokens]) => sum + (before.uncovered.at(index)?.tokens ?? 0) - tokens,
    0,
  )
  return { event: { _tag: "ToolOutputsPruned", compaction: started.compaction, outputs }, saved }
}

/**
 * The commit of a written summary. Append its events while the compaction has the lock (see {@link hasLock}).
 *
 * @param lock - the lock of the compaction
 * @param written - the summary
 * @param parts - the id of the new summary, the strategy and the token counter
 */
export const commit = (
  lock: Lock,
  { carried, segments, calls, coveredTo, by }: WrittenSummary,
  {
    summary,
    strategy,
    counter,
  }: { readonly summary: string; readonly strategy: Strategy; readonly counter: TokenCounter },
): Commit => {
  const { before, started } = lock
  const pruned = pruneOutputs(counter, lock)
  const previous = before.summary
  if (started.parts.length === 0)
    return {
      events: pruned === null ? [] : [pruned.event],
      committed: null,
      supersedes: null,
      pruned: pruned?.event ?? null,
    }
  const wording = wordingOf(strategy.context)
  const covered = before.uncovered.slice(started.from, coveredTo)
  const known = previous?.files ?? noFiles
  const { files: fileNotes } = strategy.toolNotes ?? {}
  const files =
    fileNotes === undefined
      ? known
      : filesOf(
          known,
          // The lists have the origin of tools, so no name in them is from below.
          covered
            .map(({ message }) => message)
            .filter(({ role, origin = "tool" }) => role === "tool" || !isBelow(origin, "tool")),
          fileNotes,
        )
  const all = [...(previous?.segments.slice(0, carried) ?? []), ...segments]
  const { recallBlocks } = strategy
  const question = before.uncovered.at(questionIndex(before) ?? -1)?.message
  const shown =
    recallBlocks === undefined
      ? undefined
      : shownBlocks(all, question === undefined ? "" : text(question), { counter, wording, ...recallBlocks })
  const tokens = summarySize(counter, wording, { segments: shownSegments({ segments: all, shown }), files })
  const tokensBefore = contextTokens({ ...before, reported: null })
  const gone = withoutPinned(covered).reduce((sum, entry) => sum + entry.tokens, 0) + (pruned?.saved ?? 0)
  const committed: SummaryCommitted = {
    _tag: "SummaryCommitted",
    compaction: started.compaction,
    summary,
    coveredTo,
    carried,
    segments,
    ...(shown === undefined ? {} : { shown }),
    files,
    wording,
    summarizer: by,
    calls,
    tokens,
    tokensBefore,
    tokensAfter: tokensBefore - gone - (previous?.tokens ?? 0) + tokens,
  }
  return {
    events: [
      ...(pruned === null ? [] : [pruned.event]),
      committed,
      ...(previous === null
        ? []
        : [{ _tag: "SummarySuperseded" as const, summary: previous.id, by: summary }]),
    ],
    committed,
    supersedes: previous?.id ?? null,
    pruned: pruned?.event ?? null,
  }
}

/**
 * The number of messages after which a failed compaction is retried before its pause is over: a fast conversation must
 * not outgrow a limit that forces a compaction. A try costs as much as there are uncovered
 * messages, so the number grows with them, and the cost of an append stays the same on average.
 */
const messagesUntilRetry = (failures: number, uncovered: number): number =>
  Math.max(8 * 2 ** Math.min(failures, 3), Math.ceil(uncovered / 4))

/** The pause after a failure, in milliseconds; `failures` counts the failures in a row before it. */
export const pauseAfter = (backOff: number, failures: number): number =>
  Math.min(backOff * 2 ** failures, longestPause)

/**
 * Records a failure and when to retry; no event if the compaction has no lock any more.
 *
 * @param failure - `time` is now and `backOff` the first pause, both in milliseconds
 */
export const fail = (
  state: SessionState,
  started: CompactionStarted,
  {
    reason,
    detail,
    time,
    backOff,
  }: { readonly reason: string; readonly detail: string; readonly time: number; readonly backOff: number },
): ReadonlyArray<Event> => {
  if (!hasLock(state, started)) return []
  const failures = state.failures?.count ?? 0
  return [
    {
      _tag: "CompactionFailed",
      compaction: started.compaction,
      reason,
      detail,
      retryTime: time + pauseAfter(backOff, failures),
      retryMessages: state.total + messagesUntilRetry(failures, state.uncovered.length),
    },
  ]
}

/**
 * Marks stored summaries as invalid that cannot be used: a summary that cannot be decoded, and one whose predecessor is
 * missing. The fold has skipped them already, so their messages are uncovered, and the strategy has them summarized again.
 */
export const invalidateDamaged = ({
  damaged,
}: Pick<SessionState, "damaged">): ReadonlyArray<SummaryInvalidated> =>
  damaged.map(({ version, summary }) => ({ _tag: "SummaryInvalidated", version, summary, reason: "damaged" }))
