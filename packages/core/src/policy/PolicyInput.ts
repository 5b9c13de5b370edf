/**
 * What a policy may look at: positions, counts and times of a session, never the texts. Every question is
 * answered in constant or logarithmic time, however long the history or the tail is.
 */
import { turnComplete } from "../message/Structure.js"
import type { SessionState } from "../session/SessionState.js"
import { contextTokens, tokensBetween } from "../session/SessionState.js"

/** A session as a policy sees it. All positions are message indices. */
export interface PolicyInput {
  /** The number of messages. */
  readonly total: number
  /** Coverage: `[0, coveredTo)` is in the summary, `[coveredTo, total)` is raw. */
  readonly coveredTo: number
  /** Milliseconds since the epoch. */
  readonly now: number
  /** When the last compaction ended well; before the first, when the session's first message came. */
  readonly lastCompactionTime: number
  readonly lastMessageTime: number
  /** The tokens the next context takes. */
  readonly contextTokens: number
  /** The tokens of the raw messages in `[from, to)`. */
  readonly tokens: (from: number, to: number) => number
  /** The earliest raw position from which the messages to the end take at most this many tokens. */
  readonly startOfLastTokens: (tokens: number) => number
  /** The complete rounds among the raw messages. */
  readonly completeTurns: number
  /** The complete rounds that end at or before a position. */
  readonly completeTurnsTo: (position: number) => number
  /** Where the n-th raw round starts, counted from 0; `coveredTo` before the first, `total` beyond the last. */
  readonly turnStart: (n: number) => number
  /**
   * Where the newest round starts, complete or not; `coveredTo` when its beginning is in the summary, `total` when
   * there is none.
   */
  readonly currentTurn: number
  /** The same of a round that is not complete yet; `total` when the newest one is. */
  readonly openTurn: number
  /** The tool calls that wait for their results. */
  readonly openCalls: number
}

/** The view on a state at a time. */
export const make = (state: SessionState, now: number): PolicyInput => {
  const { turnStarts, total, coveredTo } = state
  const { turn } = state.structure
  const complete = turnComplete(state.structure)
  const currentTurn = turn === null ? total : Math.max(turn.from, coveredTo)
  const turns = turnStarts.length - (turnStarts.length > 0 && !complete ? 1 : 0)
  return {
    total,
    coveredTo,
    now,
    lastCompactionTime: state.lastCompactionTime ?? state.startTime ?? now,
    lastMessageTime: state.lastMessageTime ?? now,
    contextTokens: contextTokens(state),
    tokens: (from, to) => tokensBetween(state, from, to),
    startOfLastTokens: (tokens) => {
      const end = state.uncovered.last?.cumulativeTokens ?? 0
      // The first entry such that everything from it on fits: what stands before it is small enough to leave out.
      return state.uncovered.firstWhere((entry) => end - (entry.cumulativeTokens - entry.tokens) <= tokens)
    },
    completeTurns: turns,
    completeTurnsTo: (position) =>
      position >= total
        ? turns
        : Math.max(turnStarts.firstWhere((start) => start > position) - turnStarts.from - 1, 0),
    turnStart: (n) => (n < 0 ? coveredTo : (turnStarts.at(turnStarts.from + n) ?? total)),
    currentTurn,
    openTurn: complete ? total : currentTurn,
    openCalls: state.structure.open?.calls.length ?? 0,
  }
}
