/** The laws that an event of a log can break, and what it breaks, in words. */
import type {
  BranchSwitched,
  CompactionStarted,
  MessageAppended,
  SummaryCommitted,
  SummarySuperseded,
  ToolOutputsPruned,
} from "../event/Event.js"
import type { RecordedEvent } from "../event/EventCodec.js"
import { render } from "../render/Render.js"
import { boundaryBefore, type SessionState } from "../session/SessionState.js"
import { tiles } from "../summary/Summary.js"
import { orphans } from "./orphans.js"

/**
 * The rule that a finding breaks: a law, or a rule for the form of the log.
 *
 * - `L1`: a session has exactly one active summary after the first commit
 * - `L2`: the tail is never compacted
 * - `L3`: coverage has no holes and never moves back, except by a revert, a clear or an invalidation
 * - `L4`: every message is either covered or uncovered
 * - `L5`: no boundary splits a group, and no context has a call without its result or a result without its call
 * - `L7`: at most one compaction runs at a time
 * - `L12`: a batch is applied once
 * - `decodable`: every event can be decoded
 * - `contiguous`: versions and message indexes have no holes
 * - `prunable`: a pruned tool output exists in an uncovered message
 * - `snapshot`: the snapshot is the folded state of the log
 * - `summaries`: the summary rows of the store follow from the log
 * - `description`: the owner and the title in the store follow from the log
 * - `index`: the full-text index of the store follows from the log
 * - `vectors`: the vectors of the session, if a vector index is given, follow from its messages
 * - `lease`: no running compaction has a lease that only a wrong clock can have set
 */
export type Rule =
  | "L1"
  | "L2"
  | "L3"
  | "L4"
  | "L5"
  | "L7"
  | "L12"
  | "decodable"
  | "contiguous"
  | "prunable"
  | "snapshot"
  | "summaries"
  | "description"
  | "index"
  | "vectors"
  | "lease"

/** A broken rule, and the violation in words. */
export type Problem = readonly [rule: Rule, detail: string]

export interface Before {
  readonly state: SessionState
  readonly started: CompactionStarted | null
  /** The summary that a commit replaced, until it is marked superseded. */
  readonly unmarked: string | null
}

export const none: ReadonlyArray<Problem> = []

/** The problems of an event, with the summary that is to be marked superseded next. */
export const eventProblems = (
  before: Before,
  { event, time }: RecordedEvent,
  after: SessionState,
): { readonly problems: ReadonlyArray<Problem>; readonly unmarked: string | null } => {
  const { state, unmarked } = before
  /** The problems of an event that does not come before the mark. */
  const marked = (...own: ReadonlyArray<Problem>) => ({
    problems: [...unmarkedProblem(before), ...own],
    unmarked: null,
  })
  switch (event._tag) {
    case "MessageAppended":
      return marked(...messageProblems(state, event))
    case "CompactionStarted":
      return marked(...startProblems(state, event, time))
    case "SummaryCommitted":
      return {
        ...marked(...commitProblems(before, event, after), ...contextProblems(after)),
        unmarked: state.summary?.id ?? null,
      }
    case "SummarySuperseded":
      return { problems: supersedeProblems(before, event), unmarked: null }
    case "DamagedSummary":
      return { problems: [["decodable", event.detail]], unmarked: null }
    case "DamagedMessage":
      return marked(["decodable", event.detail])
    case "ToolOutputsPruned":
      return marked(...pruneProblems(state, event))
    case "BranchSwitched":
      return marked(...switchProblems(state, after, event))
    case "SessionCleared":
    case "SummaryInvalidated":
    case "CompactionFailed":
    case "CompactionReleased":
    case "CompactionRenewed":
      return marked()
    case "CompactionPaused":
    case "FactsLearned":
    case "FactRemoved":
    case "FactEnded":
    case "FactRetracted":
    case "FactRedacted":
    case "FactConfirmed":
    case "FactReverted":
    case "FactsRebuilt":
    case "RebuildEnded":
    case "MessageRedacted":
    case "MessageSetAside":
    case "SessionDescribed":
    case "SpendCharged":
    case "SpendCapReached":
    case "AuditNoted":
    case "UnknownEvent":
      return { problems: none, unmarked }
  }
}

export const unmarkedProblem = ({ unmarked }: Pick<Before, "unmarked">): ReadonlyArray<Problem> =>
  unmarked === null ? none : [["L1", `summary ${unmarked} was replaced but never marked as superseded`]]

const messageProblems = ({ total }: SessionState, { index }: MessageAppended): ReadonlyArray<Problem> =>
  index === total ? none : [["contiguous", `message ${index} follows ${total} messages`]]

/** A switch to a state that the log does not have, or that covers more than stays, changes nothing. */
const switchProblems = (
  before: SessionState,
  after: SessionState,
  { version, index }: BranchSwitched,
): ReadonlyArray<Problem> =>
  after.branch.id === before.branch.id
    ? [["L3", `it goes back to message ${index} at event ${version}, which is not there, or covered then`]]
    : none

const cutsGroup = (state: SessionState, boundary: number): boolean =>
  boundaryBefore(state, boundary) !== boundary

const startProblems = (
  state: SessionState,
  started: CompactionStarted,
  at: number,
): ReadonlyArray<Problem> => {
  const { from, to, tailFrom, parts } = started
  const problems: Array<Problem> = []
  const { running } = state
  if (running !== null && at < running.leaseUntil) {
    problems.push(["L7", `compaction ${running.compaction} was still running`])
  }
  if (from !== state.coveredTo)
    problems.push(["L3", `it starts at ${from}, coverage ends at ${state.coveredTo}`])
  if (to > state.total) problems.push(["L3", `it reaches to ${to} of ${state.total} messages`])
  if (cutsGroup(state, to)) problems.push(["L5", `its end ${to} cuts a group`])
  if (to > tailFrom && parts.at(-1)?.kind !== "turn-prefix") {
    problems.push(["L2", `it reaches to ${to}, the tail begins at ${tailFrom}`])
  }
  if (tiles(parts, from) !== to)
    problems.push(["L3", `its parts do not cover [${from},${to}) without a hole`])
  return problems
}

const commitProblems = (
  { state, started }: Before,
  { compaction, coveredTo, segments: written }: SummaryCommitted,
  after: SessionState,
): ReadonlyArray<Problem> => {
  if (state.running?.compaction !== compaction || started === null) {
    return [["L7", `compaction ${compaction} committed without being the running one`]]
  }
  const problems: Array<Problem> = []
  if (coveredTo < state.coveredTo)
    problems.push(["L3", `coverage moves back from ${state.coveredTo} to ${coveredTo}`])
  // A summary may cover less than planned, if a summarizer failed midway, but never more.
  if (coveredTo > started.to)
    problems.push(["L3", `it covers up to ${coveredTo}, the plan was ${started.to}`])
  if (coveredTo <= state.total && cutsGroup(state, coveredTo))
    problems.push(["L5", `its end ${coveredTo} cuts a group`])
  const segments = after.summary?.segments ?? []
  // With summary mode `drop`, no segment covers the dropped messages.
  if (written.length > 0 && tiles(segments, 0) !== coveredTo) {
    problems.push(["L3", `its segments do not cover [0,${coveredTo}) without a hole`])
  }
  if (after.uncovered.length !== after.total - after.coveredTo) {
    problems.push([
      "L4",
      `${after.uncovered.length} uncovered messages instead of ${after.total - after.coveredTo}`,
    ])
  }
  return problems
}

const pruneProblems = (
  { running, uncovered }: SessionState,
  { compaction, outputs }: ToolOutputsPruned,
): ReadonlyArray<Problem> => {
  if (running?.compaction !== compaction) {
    return [["L7", `compaction ${compaction} pruned outputs without being the running one`]]
  }
  const missing = outputs.filter(
    ({ index, part }) => uncovered.at(index)?.message.parts[part]?.type !== "tool-result",
  )
  return missing.map(
    ({ index }) => ["prunable", `message ${index} has no such tool output to prune`] as const,
  )
}

const supersedeProblems = ({ state, unmarked }: Before, event: SummarySuperseded): ReadonlyArray<Problem> =>
  event.summary === unmarked && event.by === state.summary?.id
    ? none
    : [["L1", `summary ${event.summary} was superseded by ${event.by}, which did not replace it`]]

export const contextProblems = (state: SessionState): ReadonlyArray<Problem> =>
  orphans(render(state).messages).map((detail) => ["L5", detail] as const)
