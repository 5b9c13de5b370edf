/**
 * What a policy may look at: positions, counts and times of a session, never the texts. Every question is
 * answered in constant or logarithmic time, however long the history or the tail is.
 */
import { roundComplete } from "../message/Structure.js"
import type { SessionState } from "../session/SessionState.js"
import { contextTokens, tokensBetween } from "../session/SessionState.js"

/** A session as a policy sees it. All positions are message indices. */
export interface View {
  /** The number of messages. */
  readonly total: number
  /** Coverage: `[0, through)` is in the summary, `[through, total)` is raw. */
  readonly through: number
  /** Milliseconds since the epoch. */
  readonly now: number
  /** When the last compaction ended well; before the first, when the session's first message came. */
  readonly compactedAt: number
  readonly lastMessageAt: number
  /** The tokens the next context takes. */
  readonly contextTokens: number
  /** The tokens of the raw messages in `[from, to)`. */
  readonly tokens: (from: number, to: number) => number
  /** The earliest raw position from which the messages to the end take at most this many tokens. */
  readonly lastTokens: (tokens: number) => number
  /** The complete rounds among the raw messages. */
  readonly rounds: number
  /** The complete rounds that end at or before a position. */
  readonly roundsTo: (position: number) => number
  /** Where the n-th raw round starts, counted from 0; `through` before the first, `total` beyond the last. */
  readonly roundStart: (n: number) => number
  /**
   * Where the newest round starts, complete or not; `through` when its beginning is in the summary, `total` when
   * there is none.
   */
  readonly currentRound: number
  /** The same of a round that is not complete yet; `total` when the newest one is. */
  readonly openRound: number
  /** The tool calls that wait for their results. */
  readonly openCalls: number
}

/** The view on a state at a time. */
export const make = (state: SessionState, now: number): View => {
  const { roundStarts, total, through } = state
  const { round } = state.structure
  const complete = roundComplete(state.structure)
  const currentRound = round === null ? total : Math.max(round.from, through)
  const rounds = roundStarts.length - (roundStarts.length > 0 && !complete ? 1 : 0)
  return {
    total,
    through,
    now,
    compactedAt: state.compactedAt ?? state.startedAt ?? now,
    lastMessageAt: state.lastMessageAt ?? now,
    contextTokens: contextTokens(state),
    tokens: (from, to) => tokensBetween(state, from, to),
    lastTokens: (tokens) => {
      const end = state.raw.last?.cumulative ?? 0
      // The first entry such that everything from it on fits: what stands before it is small enough to leave out.
      return state.raw.firstWhere((entry) => end - (entry.cumulative - entry.tokens) <= tokens)
    },
    rounds,
    roundsTo: (position) =>
      position >= total
        ? rounds
        : Math.max(roundStarts.firstWhere((start) => start > position) - roundStarts.from - 1, 0),
    roundStart: (n) => (n < 0 ? through : (roundStarts.at(roundStarts.from + n) ?? total)),
    currentRound,
    openRound: complete ? total : currentRound,
    openCalls: state.structure.open?.calls.length ?? 0,
  }
}
