/** Which messages a context shows word for word, and where something can be added among them. */
import { waitsFrom } from "@memfold/message/Structure"
import { boundaryBefore, type Entry, type SessionState } from "../session/SessionState.js"

/**
 * The end of the system prompt: the leading pinned system messages, as long as no summary covers them. A system message
 * with a tool call does not belong to it, because its group may go on.
 */
export const preambleEnd = (state: SessionState): number => {
  const openFrom = waitsFrom(state.structure) ?? state.total
  const { uncovered, coveredTo } = state
  if (coveredTo > 0) return coveredTo
  const isPreamble = (entry: Entry | undefined) => entry?.pinned === true && entry.message.role === "system"
  let end = 0
  while (end < openFrom && isPreamble(uncovered.at(end))) end++
  return boundaryBefore(state, end)
}

/** Which uncovered messages a context shows, besides the system prompt in front; a cap moves `shownFrom`. */
export interface Window {
  /** Where the open group starts: from here on, messages are left out. */
  readonly openFrom: number
  readonly preambleTo: number
  readonly shownFrom: number
}

/** The window of a context that shows at most so many uncovered messages. */
export const windowOf = (state: SessionState, maxMessages = Number.POSITIVE_INFINITY): Window => {
  const { coveredTo, total, structure } = state
  const openFrom = waitsFrom(structure) ?? total
  const preambleTo = preambleEnd(state)
  // The newest group is always shown: without it, the model would have nothing to answer.
  const newest = Math.max(openFrom > coveredTo ? boundaryBefore(state, openFrom - 1) : coveredTo, preambleTo)
  // A group at the edge is shown whole. Otherwise a tail that a group makes longer would have a gap that no compaction
  // could close.
  const start = boundaryBefore(state, Math.max(preambleTo, total - maxMessages))
  return { openFrom, preambleTo, shownFrom: Math.min(start, newest, openFrom) }
}

/** Where a context can have additions: before the messages from the user that it shows, by their indexes. */
export interface Places {
  readonly questions: ReadonlyArray<number>
  /** Before the newest of them; without any, in front of the first uncovered message. */
  readonly newest: number
}

/** Where a context can have additions. */
export const placesOf = (state: SessionState, maxMessages?: number): Places => {
  const { shownFrom, openFrom } = windowOf(state, maxMessages)
  const questions = state.uncovered
    .slice(shownFrom, openFrom)
    .flatMap(({ index, message }) => (message.role === "user" ? [index] : []))
  return { questions, newest: questions.at(-1) ?? shownFrom }
}
