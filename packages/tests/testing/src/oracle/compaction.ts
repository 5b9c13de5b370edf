/** What a compaction may take, computed from the whole conversation. */
import type { Message, Policy, Session, Strategy, Trigger } from "@memfold/core"
import { viewOf } from "../strategy/viewOf.js"
import { boundaries } from "./groups.js"
import type { Finding } from "./session.js"

/** The tokens of the pinned messages before a message, each with its group: a summary does not replace them. */
const pinnedBefore = ({ pinned, uncovered }: Session.SessionState, before: number): number => {
  const earlier = [...uncovered].filter(({ index }) => index < before)
  const groups = new Set(earlier.filter((entry) => entry.pinned).map(({ group }) => group))
  return [...pinned, ...earlier.filter(({ group }) => groups.has(group))].reduce(
    (sum, { tokens }) => sum + tokens,
    0,
  )
}

/** The part of a plan that says how far it reaches. */
export type Reach = Pick<Policy.Plan, "from" | "to" | "tailFrom" | "parts">

/** The nearest boundary at or before a message index. */
const before = (boundaries: ReadonlyArray<number>, index: number): number =>
  boundaries.findLast((boundary) => boundary <= index) ?? 0

/** Where the tail begins: what the strategy keeps, moved back to a boundary, and never into the summary. */
const tailStart = (
  { keep }: Strategy.Strategy,
  { total, coveredTo }: Session.SessionState,
  view: Trigger.TriggerInput,
  whole: ReadonlyArray<number>,
): number => {
  const asked = Math.floor(keep.from(view))
  const within = Math.min(Math.max(Number.isNaN(asked) ? coveredTo : asked, coveredTo), total)
  return Math.max(before(whole, within), coveredTo)
}

/**
 * Laws that a compaction breaks by where it ends: L5 when it cuts a group, L2 when it takes something of the tail. A
 * tail that is larger than the strategy allows may be split: then its beginning goes as a turn prefix of at most the
 * size that the strategy names, and never the newest group.
 *
 * The compaction was decided on `state` at the time `now`; `messages` are all messages of that state.
 */
export const compactionFindings = (
  strategy: Strategy.Strategy,
  state: Session.SessionState,
  now: number,
  messages: ReadonlyArray<Message.Message>,
  { from, to, tailFrom, parts }: Reach,
): ReadonlyArray<Finding> => {
  const { total } = state
  const whole = boundaries(messages)
  const view = viewOf(state, now)
  const tail = tailStart(strategy, state, view, whole)
  const isPrefix = parts.at(-1)?.kind === "turn-prefix"
  const findings: Array<Finding> = []
  const wrong = (law: string, detail: string) =>
    findings.push({ law, detail: `with ${total} messages, [${from},${to}) is compacted, ${detail}` })

  const cut = [from, to, ...parts.map((part) => part.to)].find((index) => !whole.includes(index))
  if (cut !== undefined) wrong("L5", `and ${cut} is inside a group of tool calls`)
  if (tailFrom !== tail) wrong("L2", `with a tail from ${tailFrom}; what is kept begins at ${tail}`)
  if (to <= tail) {
    if (isPrefix) wrong("L2", `and called a turn prefix, before the tail at ${tail}`)
    return findings
  }
  const { split } = strategy
  const tokens = view.tokens(tail, total)
  if (split === undefined || tokens + pinnedBefore(state, tail) <= split.above) {
    wrong("L2", `and the tail begins at ${tail}`)
    return findings
  }
  const most = split.prefix({ messages: total - tail, tokens })
  const size = view.tokens(tail, to)
  const firstGroup = whole.find((boundary) => boundary > tail)
  if (!isPrefix) wrong("L2", "and what is split off is no turn prefix")
  if (to !== firstGroup && size > most) wrong("L2", `and the prefix takes ${size} tokens of at most ${most}`)
  if (to > before(whole, total - 1)) wrong("L2", "and the newest group is in it")
  return findings
}
