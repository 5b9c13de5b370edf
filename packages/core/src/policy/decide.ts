/**
 * The decision: from a strategy, a state and a time to a plan, or to the reason why there is none. Pure, and in
 * constant time; only a plan itself costs what it folds.
 */
import type { PlannedPart } from "../event/Event.js"
import type { SessionState } from "../session/SessionState.js"
import {
  boundaryAfter,
  boundaryBefore,
  clampToBoundary,
  pinnedGroups,
  withoutPinned,
} from "../session/SessionState.js"
import { type PlannedPrune, planPruning } from "./Prune.js"
import type { Strategy } from "./Strategy.js"
import * as View from "./PolicyInput.js"

/** What a compaction is to do: fold `[from, to)`, in these parts, and shorten these outputs. */
export interface Plan {
  readonly reason: string
  readonly from: number
  readonly to: number
  /** Where the policy's tail began. `to` is beyond it only when the tail was split. */
  readonly tailFrom: number
  readonly parts: ReadonlyArray<PlannedPart>
  readonly prune: ReadonlyArray<PlannedPrune>
}

/** A plan, or why nothing is to be done now. */
export type Decision =
  | { readonly _tag: "Due"; readonly plan: Plan }
  | {
      readonly _tag: "Idle"
      readonly reason: "not-due" | "nothing-to-take" | "running" | "backing-off" | "paused"
    }

const idle = (reason: Extract<Decision, { _tag: "Idle" }>["reason"]): Decision => ({ _tag: "Idle", reason })

/** Options of a decision. `demanded` skips trigger and back-off: somebody asked for a compaction by hand. */
export interface DecideOptions {
  readonly now: number
  readonly onDemand?: boolean
}

/** What the strategy says about this state now. */
export const decide = (
  strategy: Strategy,
  state: SessionState,
  { now, onDemand = false }: DecideOptions,
): Decision => {
  const { running, failures } = state
  if (running !== null && now < running.leaseUntil) return idle("running")
  const backingOff = failures !== null && now < failures.retryTime && state.total < failures.retryMessages
  if (backingOff && !onDemand) return idle("backing-off")

  if (state.total < state.pausedUntil && !onDemand) return idle("paused")

  const view = View.make(state, now)
  const tailFrom = clampToBoundary(state, strategy.keep.from(view))
  const reason = onDemand ? "demand" : strategy.when.due({ ...view, tailFrom })
  if (reason === null) return idle("not-due")

  const from = state.coveredTo
  const words = firstWords(state, tailFrom)
  const asked = strategy.summaryMode === "none" ? from : strategy.batchSize.to(view, tailFrom)
  // If anything goes, the first group with words in it goes, however little was asked for: a group larger than
  // that, or a stretch of pinned messages, must not be in the way for ever.
  const least = Math.min(boundaryAfter(state, words + 1), tailFrom)
  const historyTo = asked > from ? Math.max(Math.min(clampToBoundary(state, asked), tailFrom), least) : from
  const split = strategy.summaryMode === "none" ? null : splitPoint(strategy, state, view, tailFrom)
  const to = split ?? historyTo
  const covers = to > from && (to > tailFrom || words < to)
  const prune = planPruning(strategy.prune ?? [], state, view, covers ? to : from)
  if (!covers) {
    return prune.length === 0
      ? idle("nothing-to-take")
      : { _tag: "Due", plan: { reason, from, to: from, tailFrom, parts: [], prune } }
  }
  const kind = strategy.summaryMode === "blocks" ? "block" : "history"
  const parts = partsOf(kind, { from, to, tailFrom, words })
  return { _tag: "Due", plan: { reason, from, to, tailFrom, parts, prune } }
}

/**
 * When to decide again although no message has come: when a lease ends, a failed compaction may be retried, or a
 * trigger's time comes. In milliseconds since the epoch; `null` where only a message can change the decision. In
 * constant time.
 */
export const nextCheck = (strategy: Strategy, state: SessionState, now: number): number | null => {
  const { running, failures } = state
  if (running !== null && now < running.leaseUntil) return running.leaseUntil
  if (failures !== null && now < failures.retryTime && state.total < failures.retryMessages)
    return failures.retryTime
  const { when } = strategy
  if (state.total < state.pausedUntil || when.dueTime === undefined) return null
  const view = View.make(state, now)
  const at = when.dueTime({ ...view, tailFrom: clampToBoundary(state, strategy.keep.from(view)) })
  return at !== null && at > now ? at : null
}

/** The first raw message before a position that is not shown verbatim anyhow; the position if there is none. */
const firstWords = (state: SessionState, before: number): number => {
  for (let index = state.coveredTo; index < before;) {
    const end = Math.min(boundaryAfter(state, index + 1), before)
    if (hasWords(state, index, end)) return index
    index = end
  }
  return before
}

/** Whether there is anything in `[from, to)` for a summary to say. */
const hasWords = (state: SessionState, from: number, to: number): boolean =>
  withoutPinned(state.uncovered.slice(from, to)).length > 0

/** The parts of a plan: what lies before the tail, and the split-off beginning of the tail. */
const partsOf = (
  kind: "history" | "block",
  { from, to, tailFrom, words }: Pick<Plan, "from" | "to" | "tailFrom"> & { readonly words: number },
): ReadonlyArray<PlannedPart> => {
  if (to <= tailFrom) return [{ kind, from, to }]
  return words < tailFrom
    ? [
        { kind, from, to: tailFrom },
        { kind: "turn-prefix", from: tailFrom, to },
      ]
    : [{ kind: "turn-prefix", from, to }]
}

/** Where a tail that is too large is cut; `null` if it is not, is one group, or has only pinned ones to give. */
const splitPoint = (
  { split }: Strategy,
  state: SessionState,
  view: View.PolicyInput,
  tailFrom: number,
): number | null => {
  if (split === undefined) return null
  const tail = view.tokens(tailFrom, view.total)
  // The total less what can be summarized (reference design 3): what is pinned stays beside the tail, too.
  const pinned = [...state.pinned, ...pinnedGroups(state.uncovered.slice(state.coveredTo, tailFrom))]
  if (pinned.reduce((sum, entry) => sum + entry.tokens, tail) <= split.above) return null
  const prefix = split.prefix({ messages: view.total - tailFrom, tokens: tail })
  const before = view.tokens(state.coveredTo, tailFrom)
  const start =
    (state.uncovered.at(state.coveredTo)?.cumulativeTokens ?? 0) -
    (state.uncovered.at(state.coveredTo)?.tokens ?? 0)
  const full = state.uncovered.firstWhere((entry) => entry.cumulativeTokens - start - before > prefix)
  // A first group above that goes all the same: one huge message must not keep a turn from being compacted.
  const first = boundaryAfter(state, tailFrom + 1)
  const cut = clampToBoundary(state, Math.min(Math.max(full, first), boundaryBefore(state, state.total - 1)))
  return hasWords(state, tailFrom, cut) ? cut : null
}
