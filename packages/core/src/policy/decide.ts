/**
 * The decision: whether a compaction is due for a state at a time, and its plan. The functions are pure. A decision
 * takes constant time while nothing is due; making a plan takes time in proportion to the messages it compacts.
 */
import type { PlannedPart } from "../event/Event.js"
import { turnComplete } from "@memfold/message/Structure"
import {
  type SessionState,
  boundaryAfter,
  boundaryBefore,
  clampToBoundary,
  contextTokens,
  pinnedGroups,
  tokensBetween,
  withoutPinned,
} from "../session/SessionState.js"
import { type PlannedPrune, planPruning } from "./Prune.js"
import type { Strategy } from "./Strategy.js"
import * as Input from "./PolicyInput.js"

/** The plan of a compaction: summarize the messages `[from, to)` and shorten tool outputs. */
export interface Plan {
  /** The reason of the trigger; `"demand"` for a compaction on demand. */
  readonly reason: string
  readonly from: number
  /** The end of the range; equal to `from` if only tool outputs are shortened. */
  readonly to: number
  /** The message index where the tail starts. `to` is greater only if the tail is split. */
  readonly tailFrom: number
  /** The segments to write, with the messages that each one covers. */
  readonly parts: ReadonlyArray<PlannedPart>
  /** The tool outputs to shorten. */
  readonly prune: ReadonlyArray<PlannedPrune>
}

/**
 * A plan, or why there is none.
 *
 * - `not-due`: the trigger does not fire
 * - `nothing-to-take`: no message can be compacted and no tool output shortened
 * - `nothing-to-gain`: the context would stay above the size at which it is compacted, and be hardly smaller
 * - `running`: another compaction has the lock
 * - `backing-off`: the wait after a failed compaction is not over
 * - `paused`: automatic compaction is paused after a revert
 * - `turn-running`: the newest turn is still running and has signed reasoning, which a compaction would take from it
 */
export type Decision =
  | { readonly _tag: "Due"; readonly plan: Plan }
  | {
      readonly _tag: "Idle"
      readonly reason:
        | "not-due"
        | "nothing-to-take"
        | "nothing-to-gain"
        | "running"
        | "backing-off"
        | "paused"
        | "turn-running"
    }

const idle = (reason: Extract<Decision, { _tag: "Idle" }>["reason"]): Decision => ({ _tag: "Idle", reason })

/** What all decisions of a memory depend on, beside the strategy, the state and the time. */
export interface Circumstances {
  /** The largest context that is wanted, in tokens: with a larger one, no compaction waits for the end of a turn. */
  readonly budget?: number | undefined
  /** Whether the summarizer asks in context, and reads most of its input from the provider's cache; `false` by default. */
  readonly asksInContext?: boolean | undefined
}

/** Options of a decision. */
export interface DecideOptions extends Circumstances {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number
  /** Ignores the trigger, the wait after a failure, the pause after a revert, and a running turn. */
  readonly onDemand?: boolean
  /**
   * Until when the lock of a running compaction is respected, in milliseconds since the epoch; until the end of its lease
   * by default. A memory passes an earlier time if the clock that set the lease is wrong.
   */
  readonly lockedUntil?: number
}

/**
 * Decides whether a compaction is due. A memory calls it after each append; call it yourself to see in advance what a
 * strategy would do.
 *
 * @example
 * ```ts
 * import { Memory, Policy, type Strategy } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const preview = (strategy: Strategy.Strategy, session: string) =>
 *   Effect.gen(function* () {
 *     const memory = yield* Memory.Memory
 *     return Policy.decide(strategy, yield* memory.state(session), { now: Date.now() })
 *   })
 * ```
 */
export const decide = (
  strategy: Strategy,
  state: SessionState,
  { now, onDemand = false, budget, asksInContext, lockedUntil = state.running?.leaseUntil }: DecideOptions,
): Decision => {
  if (state.running !== null && lockedUntil !== undefined && now < lockedUntil) return idle("running")
  if (isBackingOff(state, now) && !onDemand) return idle("backing-off")

  if (state.total < state.pausedUntil && !onDemand) return idle("paused")

  const input = Input.make(state, now, asksInContext)
  const tailFrom = clampToBoundary(state, strategy.keep.from(input))
  const reason = onDemand ? "demand" : strategy.when.due(Object.assign(input, { tailFrom }))
  if (reason === null) return idle("not-due")
  if (!onDemand && waitsForTurn(state, budget)) return idle("turn-running")

  const from = state.coveredTo
  const words = firstWords(state, tailFrom)
  const asked = strategy.summaryMode === "none" ? from : strategy.batchSize.to(input, tailFrom)
  // If anything is compacted, at least the first group with unpinned messages is. Otherwise a group larger than the
  // batch size, or a run of pinned messages, would block compaction for ever.
  const least = Math.min(boundaryAfter(state, words + 1), tailFrom)
  const historyTo = asked > from ? Math.max(Math.min(clampToBoundary(state, asked), tailFrom), least) : from
  const split = strategy.summaryMode === "none" ? null : splitPoint(strategy, state, input, tailFrom)
  const to = split ?? historyTo
  const covers = to > from && (to > tailFrom || words < to)
  const prune = planPruning(strategy.prune ?? [], state, input, covers ? to : from)
  if (!covers) {
    return prune.length === 0
      ? idle("nothing-to-take")
      : { _tag: "Due", plan: { reason, from, to: from, tailFrom, parts: [], prune } }
  }
  // Shortened outputs gain, too; how much is not known yet. What a smaller plan leaves, the next one takes at once.
  const { gainsTooLittle } = strategy.when
  const takes = split === null ? tailFrom : boundaryBefore(state, state.total - 1)
  if (
    !onDemand &&
    prune.length === 0 &&
    gainsTooLittle?.(Object.assign(input, { tailFrom }), tokensOf(state, from, takes)) === true
  )
    return idle("nothing-to-gain")
  const kind = strategy.summaryMode === "blocks" && !mergesBlocks(strategy, state) ? "block" : "history"
  const parts = partsOf(kind, { from, to, tailFrom, words })
  return { _tag: "Due", plan: { reason, from, to, tailFrom, parts, prune } }
}

/** The tokens of the messages in `[from, to)` that a summary takes the place of; pinned ones stay. */
const tokensOf = (state: SessionState, from: number, to: number): number =>
  withoutPinned(state.uncovered.slice(from, to)).reduce((sum, { tokens }) => sum + tokens, 0)

/** The longest pause after a failed compaction, in milliseconds. */
export const longestPause = 3_600_000

/** Whether a failed compaction waits for its retry. A time that is further away was set by a clock that is ahead. */
const isBackingOff = ({ failures, total }: SessionState, now: number): boolean =>
  failures !== null &&
  total < failures.retryMessages &&
  now < failures.retryTime &&
  failures.retryTime - now <= longestPause

/** A running turn of this many tokens can always wait; a longer one, while it is at most an eighth of the context. */
const shortTurnTokens = 2_000

/**
 * Whether a compaction waits for the end of the newest turn. Within a turn, providers want the reasoning back that led to
 * its tool calls, and a compaction would make it invalid (law L17). A turn that grows without end is compacted all the
 * same, before it has made the context much larger.
 */
const waitsForTurn = (state: SessionState, budget = Number.POSITIVE_INFINITY): boolean => {
  const { prefix, structure, total } = state
  const from = structure.turn?.from
  if (from === undefined || turnComplete(structure)) return false
  if (prefix.boundTo <= Math.max(from, prefix.validFrom)) return false
  const context = contextTokens(state)
  const turn = tokensBetween(state, Math.max(from, state.coveredTo), total)
  return context <= budget && turn <= Math.max(shortTurnTokens, context / 8)
}

/**
 * When to decide again if no message comes: when a lease ends, a failed compaction may be retried, or a trigger becomes
 * due by time. Returns milliseconds since the epoch, or `null` if only a message can change the decision. It takes
 * constant time.
 */
export const nextCheck = (
  strategy: Strategy,
  state: SessionState,
  { now, asksInContext, lockedUntil = state.running?.leaseUntil }: Omit<DecideOptions, "onDemand">,
): number | null => {
  const { running, failures } = state
  if (running !== null && lockedUntil !== undefined && now < lockedUntil) return lockedUntil
  if (failures !== null && isBackingOff(state, now)) return failures.retryTime
  const { when } = strategy
  if (state.total < state.pausedUntil || when.dueTime === undefined) return null
  const input = Input.make(state, now, asksInContext)
  const at = when.dueTime(
    Object.assign(input, { tailFrom: clampToBoundary(state, strategy.keep.from(input)) }),
  )
  return at !== null && at > now ? at : null
}

/** Whether the blocks of the summary have outgrown the room that the strategy gives them. */
const mergesBlocks = ({ mergeBlocks }: Strategy, { summary }: SessionState): boolean =>
  mergeBlocks !== undefined &&
  (summary?.segments.filter(({ kind }) => kind !== "material").length ?? 0) > 1 &&
  (summary?.tokens ?? 0) > mergeBlocks.above

/** The first uncovered message before a position that is not pinned; the position if there is none. */
const firstWords = (state: SessionState, before: number): number => {
  for (let index = state.coveredTo; index < before;) {
    const end = Math.min(boundaryAfter(state, index + 1), before)
    if (hasWords(state, index, end)) return index
    index = end
  }
  return before
}

/** Whether `[from, to)` has a message that is not pinned. */
const hasWords = (state: SessionState, from: number, to: number): boolean =>
  withoutPinned(state.uncovered.slice(from, to)).length > 0

/** The parts of a plan: the messages before the tail, and the first part of a split tail. */
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

/** Where to split the tail; `null` if it is small enough, is a single group, or its first part is pinned. */
const splitPoint = (
  { split }: Strategy,
  state: SessionState,
  input: Input.PolicyInput,
  tailFrom: number,
): number | null => {
  if (split === undefined) return null
  const tail = input.tokens(tailFrom, input.total)
  // Pinned messages stay in the context beside the tail, so they count too.
  const pinned = [...state.pinned, ...pinnedGroups(state.uncovered.slice(state.coveredTo, tailFrom))]
  if (pinned.reduce((sum, entry) => sum + entry.tokens, tail) <= split.above) return null
  const prefix = split.prefix({ messages: input.total - tailFrom, tokens: tail })
  const before = input.tokens(state.coveredTo, tailFrom)
  const start =
    (state.uncovered.at(state.coveredTo)?.cumulativeTokens ?? 0) -
    (state.uncovered.at(state.coveredTo)?.tokens ?? 0)
  const full = state.uncovered.firstWhere((entry) => entry.cumulativeTokens - start - before > prefix)
  // The first group is taken even if it is larger: one huge message must not block the compaction of its turn.
  const first = boundaryAfter(state, tailFrom + 1)
  const cut = clampToBoundary(state, Math.min(Math.max(full, first), boundaryBefore(state, state.total - 1)))
  return hasWords(state, tailFrom, cut) ? cut : null
}
