/** Going on from an earlier place of the conversation. */
import type { BranchSwitched } from "../event/Event.js"
import { batchIdOf, type RecordedEvent } from "../event/EventCodec.js"
import { type Branch, gapsBehind, type LeftBranch } from "./branches.js"
import { countEntries } from "./counts.js"
import { inputFromOf } from "./prefix.js"
import { mostBranches, type SessionState } from "./SessionState.js"

/** States by their versions, which events go back to. */
export type States = ReadonlyMap<number, SessionState>

/** Keeps the state before an event that leaves a branch or clears the conversation: mostly, a later switch goes back to such a state. */
export const keepTip = (
  states: Map<number, SessionState>,
  before: SessionState,
  { event }: RecordedEvent,
): void => {
  if (event._tag === "BranchSwitched" || event._tag === "SessionCleared") states.set(before.version, before)
}

/**
 * Whether a state has the first `index` messages, with a summary that covers nothing beyond them. A call that was abandoned later
 * on, and is covered for that, is open again if it is the end: then a summary before it is needed.
 */
export const reaches = ({ coveredTo, total, covered }: SessionState, index: number): boolean =>
  index === total ||
  (coveredTo <= index && index < total && (coveredTo < index || covered.structure.open === null))

/** Whether of the first `index` messages the last one is not covered, so that a context has it. */
export const shows = ({ coveredTo }: SessionState, index: number): boolean => coveredTo < index || index === 0

/** Up to where facts have been learned from the first `index` messages: not from a turn that is cut. */
const learnedOf = ({ learnedTo, turnStarts, covered }: SessionState, index: number): number => {
  if (learnedTo <= index) return learnedTo
  const starts = turnStarts.slice().filter((start) => start <= index)
  return starts.at(-1) ?? Math.min(covered.structure.turn?.from ?? index, index)
}

/** The last cut of a state: a switch is tried before it is written, and a long conversation is counted once for both. */
const cuts = new WeakMap<SessionState, { readonly index: number; readonly cut: SessionState }>()

/** The state as if only its first `index` messages had been appended. It must reach them: see {@link reaches}. */
const cutTo = (state: SessionState, index: number): SessionState => {
  if (index === state.total) return state
  const known = cuts.get(state)
  if (known?.index === index) return known.cut
  const cut = cutAnew(state, index)
  cuts.set(state, { index, cut })
  return cut
}

/** The facts of the first `index` messages. What was ended behind them has not ended. */
const factsOf = (state: SessionState, index: number): SessionState["facts"] => {
  const last = placeOf(state, index)
  return state.facts.flatMap((fact) => {
    if (fact.to > index) return []
    const { ended, ...begun } = fact
    return ended?.source !== undefined && ended.source.event > last ? [begun] : [fact]
  })
}

const cutAnew = (state: SessionState, index: number): SessionState => {
  const entries = state.uncovered.slice(state.coveredTo, index)
  const { version: _version, ...counts } = countEntries(state.covered, entries)
  const learnedTo = learnedOf(state, index)
  return {
    ...state,
    ...counts,
    total: index,
    uncovered: state.uncovered.dropFrom(index),
    turnStarts: state.turnStarts.dropFrom(state.turnStarts.firstWhere((start) => start >= index)),
    running: state.running !== null && state.running.to <= index ? state.running : null,
    failures: null,
    pausedUntil: Math.max(state.pausedUntil - (state.total - index), 0),
    totalAtCommit: Math.min(state.totalAtCommit, index),
    reported: state.reported !== null && state.reported.index < index ? state.reported : null,
    learnedTo,
    facts: factsOf(state, index),
    unreadable: state.unreadable.filter((one) => one.index < index),
  }
}

/** The version at which the last of the first `index` messages was appended. */
export const placeOf = ({ coveredTo, covered, uncovered }: SessionState, index: number): number =>
  (index > coveredTo ? uncovered.at(index - 1)?.version : undefined) ?? covered.version

/** The branches that are left once `left` is, without the branch that is taken up. A branch without messages is forgotten. */
const leave = (
  branches: ReadonlyArray<LeftBranch>,
  left: LeftBranch,
  taken: Branch,
): ReadonlyArray<LeftBranch> => {
  const others = branches.filter(({ id }) => id !== taken.id && id !== left.id)
  return (left.total === 0 ? others : [...others, left]).slice(-mostBranches)
}

/** Whether a state is of the conversation that goes on, and not from before a clear that the switch takes back. */
const isOfConversation = (before: SessionState, { clears, branch, branches }: SessionState): boolean =>
  before.clears === clears || [branch, ...branches].some(({ id }) => id === before.branch.id)

/** Facts of another branch, with what people have said of them since: that holds on every branch. What was said in a message does not. */
const withChanges = (facts: SessionState["facts"], now: SessionState["facts"]): SessionState["facts"] => {
  const changed = new Map(now.map((fact) => [fact.id, fact]))
  return facts.map((fact) => {
    const { retracted, confirmed, ended, notEnded } = changed.get(fact.id) ?? fact
    const { ended: then, ...open } = fact
    const isTakenBack = notEnded?.some(
      ({ source }) => source?.event === then?.source?.event && source?.session === then?.source?.session,
    )
    return {
      ...(isTakenBack ? open : fact),
      ...(notEnded === undefined ? {} : { notEnded }),
      ...(retracted === true ? { retracted } : {}),
      ...(confirmed === true ? { confirmed } : {}),
      ...(ended !== undefined && ended.source === undefined ? { ended } : {}),
    }
  })
}

/**
 * The state after a switch; the state itself if the event names a state that is not known, or that does not reach the place.
 *
 * @param states - the states that the event may go back to, besides the given one
 */
export const switchBranch = (
  state: SessionState,
  { version, index, branch }: BranchSwitched,
  recorded: RecordedEvent,
  states: States,
): SessionState => {
  const before = version === state.version ? state : states.get(version)
  if (before === undefined || !reaches(before, index)) return state
  const cut = cutTo(before, index)
  const place = placeOf(before, index)
  const left = { ...state.branch, version: state.version, total: state.total, time: recorded.time }
  const next =
    branch === before.branch.id
      ? before.branch
      : { id: recorded.version, parent: before.branch.id, from: index }
  // A clear forgets the branches; to go back to before it brings them back.
  const isSame = isOfConversation(before, state)
  return {
    ...cut,
    clears: isSame ? state.clears : state.clears + 1,
    description: state.description,
    facts: withChanges(cut.facts, state.facts),
    redactions: state.redactions,
    damaged: state.damaged,
    invalidatedAt: state.invalidatedAt,
    setAside: state.setAside,
    supersededCount: state.supersededCount,
    lastCompactionTime: state.lastCompactionTime,
    running: before === state ? cut.running : null,
    failures: null,
    prefix: {
      ...cut.prefix,
      changedAt: recorded.version,
      validFrom: Math.min(cut.prefix.validFrom, index),
      swappedAt: recorded.version,
      swappedTotal: index,
      boundTo: Math.min(cut.prefix.boundTo, index),
      batch: batchIdOf(recorded),
      batchFrom: index,
      inputFrom: inputFromOf(cut),
    },
    branch: next,
    branches: leave(isSame ? state.branches : before.branches, left, next),
    gaps: gapsBehind(before.gaps, place, recorded.version),
  }
}
