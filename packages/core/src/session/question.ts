/** The message that the model has to answer. */
import type { SessionState } from "./SessionState.js"

/**
 * The index of the newest user message, if it is uncovered; `null` without one. What comes after it in its turn does not
 * change it.
 *
 * @param total only messages before this index count; all by default
 */
export const questionIndex = (
  { uncovered }: Pick<SessionState, "uncovered">,
  total = uncovered.to,
): number | null => {
  for (let at = total - 1; at >= uncovered.from; at--) {
    if (uncovered.at(at)?.message.role === "user") return at
  }
  return null
}

/** The index of the first user message, if it is uncovered; `null` without one. */
export const firstQuestionIndex = ({ uncovered }: SessionState): number | null => {
  for (let at = uncovered.from; at < uncovered.to; at++) {
    if (uncovered.at(at)?.message.role === "user") return at
  }
  return null
}
