/**
 * The decision: from a strategy, a state and a time to a plan, or to the reason why there is none. Pure, and in
 * constant time; only a plan itself costs what it folds.
 */
import type { PlannedPart, PrunedOutput } from "../event/Event.js"
import { results } from "../message/Message.js"
import type { SessionState } from "../session/SessionState.js"
import { boundaryAfter, boundaryBefore, pinnedGroups, withoutPinned } from "../session/SessionState.js"
import type { Prune } from "./Prune.js"
import { note } from "./Prune.js"
import type { Strategy } from "./Strategy.js"
import * as View from "./View.js"

/** A tool output to be shortened; what its message takes afterwards is counted when it is done. */
export type PlannedPrune = Omit<PrunedOutput, "tokens">

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
      readonly why: "not-due" | "nothing-to-take" | "running" | "backing-off" | "held"
    }

const idle = (why: Extract<Decision, { _tag: "Idle" }>["why"]): Decision => ({ _tag: "Idle", why })

/** Options of a decision. `demanded` skips trigger and back-off: somebody asked for a compaction by hand. */
export interface DecideOptions {
  readonly now: number
  readonly demanded?: boolean
}

/** What the strategy says about this state now. */
export const decide = (
  strategy: Strategy,
  state: SessionState,
  { now, demanded = false }: DecideOptions,
): Decision => {
  const { running, failures } = state
  if (running !== null && now < running.leaseUntil) return idle("running")
  const backingOff = failures !== null && now < failures.retryAt && state.total < failures.retryTotal
  if (backingOff && !demanded) return idle("backing-off")

  if (state.total < state.heldUntil && !demanded) return idle("held")

  const view = View.make(state, now)
  const tailFrom = within(state, strategy.keep.from(view))
  const reason = demanded ? "demand" : strategy.when.due({ ...view, tailFrom })
  if (reason === null) return idle("not-due")

  const from = state.through
  const words = firstWords(state, tailFrom)
  const asked = strategy.fold === "none" ? from : strategy.take.to(view, tailFrom)
  // If anything goes, the first group with words in it goes, however little was asked for: a group larger than
  // that, or a stretch of pinned messages, must not be in the way for ever.
  const least = Math.min(boundaryAfter(state, words + 1), tailFrom)
  const historyTo = asked > from ? Math.max(Math.min(within(state, asked), tailFrom), least) : from
  const split = strategy.fold === "none" ? null : splitPoint(strategy, state, view, tailFrom)
  const to = split ?? historyTo
  const covers = to > from && (to > tailFrom || words < to)
  const prune = outputsToPrune(strategy, state, view, covers ? to : from)
  if (!covers) {
    return prune.length === 0
      ? idle("nothing-to-take")
      : { _tag: "Due", plan: { reason, from, to: from, tailFrom, parts: [], prune } }
  }
  const kind = strategy.fold === "blocks" ? "block" : "history"
  const parts = partsOf(kind, { from, to, tailFrom, words })
  return { _tag: "Due", plan: { reason, from, to, tailFrom, parts, prune } }
}

/**
 * When the decision may be another one although nobody says anything: a lease has run out, a failed compaction may be
 * tried again, a trigger goes by the clock. `null` where only a message can change it. In constant time.
 */
export const nextLook = (strategy: Strategy, state: SessionState, now: number): number | null => {
  const { running, failures } = state
  if (running !== null && now < running.leaseUntil) return running.leaseUntil
  if (failures !== null && now < failures.retryAt && state.total < failures.retryTotal)
    return failures.retryAt
  const { when } = strategy
  if (state.total < state.heldUntil || when.dueAt === undefined) return null
  const view = View.make(state, now)
  const at = when.dueAt({ ...view, tailFrom: within(state, strategy.keep.from(view)) })
  return at !== null && at > now ? at : null
}

/** The outputs that the rules of a strategy cut down, in the messages from a position on. */
const outputsToPrune = (
  { prune = [] }: Strategy,
  state: SessionState,
  view: View.View,
  from: number,
): ReadonlyArray<PlannedPrune> => {
  const before = prune.map((rule) => within(state, rule.keep.from(view)))
  return withoutPinned(state.raw.slice(from, Math.max(from, ...before))).flatMap((entry) => {
    const rule = prune.findLast((_rule, position) => entry.index < (before[position] ?? 0))
    if (rule === undefined || results(entry.message).length === 0) return []
    return entry.message.parts.flatMap((part, position) => {
      const cut = part.type === "tool-result" ? cutOf(part.output, rule) : null
      return cut === null ? [] : [{ index: entry.index, part: position, ...cut }]
    })
  })
}

/**
 * How an output is cut down by a rule; `null` where that would not make it shorter. Nor is less cut out than a note
 * may take: that is all there is between the ends of what was cut before.
 */
const cutOf = (output: string, rule: Prune): Omit<PlannedPrune, "index" | "part"> | null => {
  if (output.length <= rule.above) return null
  // Never between the two halves of a surrogate pair.
  const head = isHighSurrogate(output, rule.head - 1) ? rule.head - 1 : rule.head
  const splitsPair = rule.tail > 0 && isHighSurrogate(output, output.length - rule.tail - 1)
  const tail = splitsPair ? rule.tail - 1 : rule.tail
  const cut = output.length - head - tail
  if (cut <= note(rule.method, Number.MAX_SAFE_INTEGER).length) return null
  return { method: rule.method, originalLength: output.length, head, tail, note: note(rule.method, cut) }
}

const isHighSurrogate = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdbff
}

/** The first raw message before a position that is not shown verbatim anyhow; the position if there is none. */
const firstWords = (state: SessionState, before: number): number => {
  for (let index = state.through; index < before;) {
    const end = Math.min(boundaryAfter(state, index + 1), before)
    if (hasWords(state, index, end)) return index
    index = end
  }
  return before
}

/** Whether there is anything in `[from, to)` for a summary to say. */
const hasWords = (state: SessionState, from: number, to: number): boolean =>
  withoutPinned(state.raw.slice(from, to)).length > 0

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

/**
 * A position a policy asked for, within the raw messages and moved back to where it cuts no group. What is no
 * number at all takes nothing.
 */
const within = (state: SessionState, position: number): number => {
  const asked = Number.isNaN(position) ? state.through : Math.floor(position)
  return Math.max(boundaryBefore(state, Math.min(Math.max(asked, state.through), state.total)), state.through)
}

/** Where a tail that is too large is cut; `null` if it is not, is one group, or has only pinned ones to give. */
const splitPoint = (
  { split }: Strategy,
  state: SessionState,
  view: View.View,
  tailFrom: number,
): number | null => {
  if (split === undefined) return null
  const tail = view.tokens(tailFrom, view.total)
  // The total less what can be summarized (reference design 3): what is pinned stays beside the tail, too.
  const pinned = [...state.pinned, ...pinnedGroups(state.raw.slice(state.through, tailFrom))]
  if (pinned.reduce((sum, entry) => sum + entry.tokens, tail) <= split.above) return null
  const prefix = split.prefix({ messages: view.total - tailFrom, tokens: tail })
  const before = view.tokens(state.through, tailFrom)
  const start = (state.raw.at(state.through)?.cumulative ?? 0) - (state.raw.at(state.through)?.tokens ?? 0)
  const full = state.raw.firstWhere((entry) => entry.cumulative - start - before > prefix)
  // A first group above that goes all the same: one huge message must not keep a turn from being compacted.
  const first = boundaryAfter(state, tailFrom + 1)
  const cut = within(state, Math.min(Math.max(full, first), boundaryBefore(state, state.total - 1)))
  return hasWords(state, tailFrom, cut) ? cut : null
}
