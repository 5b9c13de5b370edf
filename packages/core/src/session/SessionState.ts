/**
 * What a session is, as a fold of its log.
 *
 * The state holds what the next decision and the next context need: the messages that no summary covers, the
 * pinned ones, the active summary. It is bounded by tail and backlog, never by the length of the history.
 */
import type { Fact } from "../event/Event.js"
import type { Message } from "../message/Message.js"
import type { Files, Segment } from "../summary/Summary.js"
import * as Structure from "../message/Structure.js"
import type { Wording } from "../summary/Wording.js"
import { Sequence } from "./Sequence.js"

/** A message in its place. */
export interface Entry {
  readonly index: number
  readonly message: Message
  readonly tokens: number
  /** The tokens of all messages of the session up to this one, itself included. */
  readonly cumulativeTokens: number
  /** The index at which its group starts. */
  readonly group: number
  readonly pinned: boolean
}

/** The one active summary; it covers `[0, coveredTo)`. */
export interface Summary {
  readonly id: string
  /** The event that committed it. */
  readonly version: number
  readonly coveredTo: number
  /** How many messages there were when it was committed. */
  readonly total: number
  /** How many of its segments it took over unchanged from the summary before it. */
  readonly carried: number
  readonly segments: ReadonlyArray<Segment>
  /** The files that tools read and changed in the messages it covers. */
  readonly files: Files
  readonly wording: Wording
  /** What it takes in a context, wording included. */
  readonly tokens: number
  /** When it was committed, in milliseconds since the epoch. */
  readonly time: number
}

/** The compaction that holds the session's lock. */
export interface Running {
  readonly compaction: string
  readonly from: number
  readonly to: number
  readonly leaseUntil: number
}

/** A fact that is in force, and when it was learned. */
export interface KnownFact extends Fact {
  readonly time: number
}

/** The failures since the last success, and when another try is due: at a time, or with so many messages. */
export interface Failures {
  readonly count: number
  readonly reason: string
  readonly retryTime: number
  readonly retryMessages: number
}

/** The state of one session at one version. */
export interface SessionState {
  readonly session: string
  /** The last sequence number folded in. */
  readonly version: number
  /** How many messages there are since the start or the last clear. */
  readonly total: number
  /** Coverage: the active summary stands for `[0, coveredTo)`. */
  readonly coveredTo: number
  /** How many rounds begin in `[0, coveredTo)` (the name is reference design 2's). */
  readonly compressedThroughRound: number
  /** The time of the first message and of the last one, in milliseconds since the epoch. */
  readonly startTime: number | null
  readonly lastMessageTime: number | null
  /** When the last compaction ended well. */
  readonly lastCompactionTime: number | null
  /** The messages in `[coveredTo, total)`. */
  readonly uncovered: Sequence<Entry>
  /** Where the rounds start that begin in `[coveredTo, total)`. */
  readonly turnStarts: Sequence<number>
  readonly structure: Structure.Structure
  /** Whether only system messages have come so far: those are pinned. */
  readonly preamble: boolean
  /** The pinned messages among the covered ones. */
  readonly pinned: ReadonlyArray<Entry>
  /** The tokens of all messages in `[0, coveredTo)`. */
  readonly coveredTokens: number
  /** The tokens of all messages as they were appended, whatever has been pruned since. */
  readonly appendedTokens: number
  readonly summary: Summary | null
  /** How many summaries have been superseded. */
  readonly supersededCount: number
  /** Commits that cannot be used and have not been declared invalid yet. */
  readonly damaged: ReadonlyArray<{ readonly version: number; readonly summary: string | null }>
  readonly running: Running | null
  readonly failures: Failures | null
  /** Nothing is compacted by itself before there are so many messages: somebody took a compaction back. */
  readonly pausedUntil: number
  /**
   * The newest message that asked something of the model (any but the assistant's own), and where the last commit
   * found the conversation: an answer to an older prompt tells the size of a context that is gone.
   */
  readonly lastPromptIndex: number
  readonly totalAtCommit: number
  /**
   * What a provider last reported as the size of a whole context, and the message it was reported with. Usage
   * from before a commit says nothing about the context after it, so a commit resets it.
   */
  readonly reported: { readonly index: number; readonly tokens: number } | null
  /** Up to where the rounds have been looked through for facts. */
  readonly learnedTo: number
  /** How often the session was cleared: message 3 after a clear is another one than before. */
  readonly clears: number
  /** The facts in force that were learned into this log, oldest first; of each layer the newest {@link mostFacts}. */
  readonly facts: ReadonlyArray<KnownFact>
}

/** So many facts of a layer are kept at hand; older ones stay in the log. */
export const mostFacts = 1_000

/** A session of which nothing is known yet. */
export const empty = (session: string): SessionState => ({
  session,
  version: 0,
  total: 0,
  coveredTo: 0,
  compressedThroughRound: 0,
  startTime: null,
  lastMessageTime: null,
  lastCompactionTime: null,
  uncovered: Sequence.of(),
  turnStarts: Sequence.of(),
  structure: Structure.empty,
  preamble: true,
  pinned: [],
  coveredTokens: 0,
  appendedTokens: 0,
  summary: null,
  supersededCount: 0,
  damaged: [],
  running: null,
  failures: null,
  pausedUntil: 0,
  lastPromptIndex: -1,
  totalAtCommit: 0,
  reported: null,
  learnedTo: 0,
  clears: 0,
  facts: [],
})

/** The tokens of the messages in `[from, to)`, for `coveredTo <= from <= to <= total`. Constant time. */
export const tokensBetween = (state: SessionState, from: number, to: number): number =>
  cumulativeBefore(state, to) - cumulativeBefore(state, from)

const cumulativeBefore = (state: SessionState, index: number): number =>
  state.uncovered.at(index - 1)?.cumulativeTokens ?? state.coveredTokens

/**
 * The tokens of the next context: what the provider reported last and all that came after it; without a report,
 * pinned messages, summary and raw messages as counted.
 */
export const contextTokens = (state: SessionState): number =>
  state.reported === null
    ? state.pinned.reduce((sum, entry) => sum + entry.tokens, 0) +
      (state.summary?.tokens ?? 0) +
      tokensBetween(state, state.coveredTo, state.total)
    : state.reported.tokens + tokensBetween(state, state.reported.index + 1, state.total)

/** The nearest boundary at or before `index` that cuts no group; a group that still waits for results is whole. */
export const boundaryBefore = (state: SessionState, index: number): number =>
  index >= state.total
    ? (state.structure.open?.from ?? state.total)
    : (state.uncovered.at(index)?.group ?? index)

/** The nearest boundary at or after `index` that cuts no group. */
export const boundaryAfter = (state: SessionState, index: number): number => {
  let boundary = index
  while (boundary < state.total && boundaryBefore(state, boundary) !== boundary) boundary++
  return boundary
}

/**
 * A message index that a policy asked for, clamped to the uncovered messages and moved back to the nearest boundary
 * that cuts no group. `NaN` counts as the start.
 */
export const clampToBoundary = (state: SessionState, index: number): number => {
  const asked = Number.isNaN(index) ? state.coveredTo : Math.floor(index)
  return Math.max(
    boundaryBefore(state, Math.min(Math.max(asked, state.coveredTo), state.total)),
    state.coveredTo,
  )
}

/** The pinned ones among entries. A pinned message takes its whole group along: half a group is an orphan call. */
export const pinnedGroups = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const groups = new Set(entries.filter((entry) => entry.pinned).map((entry) => entry.group))
  return groups.size === 0 ? [] : entries.filter((entry) => groups.has(entry.group))
}

/** The entries without those that are shown verbatim anyhow. */
export const withoutPinned = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const shown = new Set(pinnedGroups(entries))
  return shown.size === 0 ? entries : entries.filter((entry) => !shown.has(entry))
}
