/**
 * The input of policies: positions, counts and times of a session, but no texts. Every value takes constant or
 * logarithmic time, even for a long history or tail.
 */
import { turnComplete } from "@memfold/message/Structure"
import { type SessionState, contextTokens, tokensBetween } from "../session/SessionState.js"

/** A session as policies see it. All positions are message indexes. */
export interface PolicyInput {
  /** The number of messages. */
  readonly total: number
  /** The summary covers `[0, coveredTo)`; the messages `[coveredTo, total)` are uncovered. */
  readonly coveredTo: number
  /** The current time, in milliseconds since the epoch. */
  readonly now: number
  /** When the last compaction succeeded; before the first one, when the first message was appended. In milliseconds. */
  readonly lastCompactionTime: number
  /** When the newest message was appended, in milliseconds since the epoch. */
  readonly lastMessageTime: number
  /** How many calls of a model the session has had: the messages from the assistant. */
  readonly modelCalls: number
  /** When the newest of them was appended; before the first one, when the first message was. In milliseconds. */
  readonly lastModelCallTime: number
  /** The tokens of all messages so far, as they were appended. */
  readonly appendedTokens: number
  /** The tokens that the next context takes. */
  readonly contextTokens: number
  /** How many of `contextTokens` a provider reported; the others are counted. */
  readonly reportedTokens: number
  /** The tokens of the uncovered messages in `[from, to)`. */
  readonly tokens: (from: number, to: number) => number
  /** The first uncovered position from which all messages to the end take at most this many tokens. */
  readonly startOfLastTokens: (tokens: number) => number
  /** The number of complete turns among the uncovered messages. */
  readonly completeTurns: number
  /** The number of those turns that end at or before a position. */
  readonly completeTurnsTo: (position: number) => number
  /** Where the n-th uncovered turn starts, counted from 0: `coveredTo` if `n` is negative, `total` if there are fewer. */
  readonly turnStart: (n: number) => number
  /**
   * Where the newest turn starts, complete or not: `coveredTo` if the summary covers its start, `total` if there is
   * no turn.
   */
  readonly currentTurn: number
  /** Like `currentTurn`, but `total` if the newest turn is complete. */
  readonly openTurn: number
  /** The number of tool calls without a result. */
  readonly openCalls: number
  /** Whether the summarizer asks in context, and reads most of its input from the provider's cache. */
  readonly asksInContext: boolean
}

/** Makes the input for a state at a time in milliseconds since the epoch. */
export const make = (state: SessionState, now: number, asksInContext = false): PolicyInput => {
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
    modelCalls: state.modelCalls,
    lastModelCallTime: state.lastModelCallTime ?? state.startTime ?? now,
    appendedTokens: state.appendedTokens,
    contextTokens: contextTokens(state),
    reportedTokens: state.reported?.tokens ?? 0,
    tokens: (from, to) => tokensBetween(state, from, to),
    startOfLastTokens: (tokens) => {
      const end = state.uncovered.last?.cumulativeTokens ?? 0
      // The first entry from which the rest fits.
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
    asksInContext,
  }
}
