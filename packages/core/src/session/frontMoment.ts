/** Which compaction the facts in front of a summary are of. */
import { text } from "@memfold/message/Message"
import { questionIndex } from "./question.js"
import type { FrontMoment, SessionState } from "./SessionState.js"

/**
 * Other facts in front make a provider read everything behind them anew. That pays once the summary covers this many times as
 * many messages: so all of it is read anew a few times, however long the session becomes.
 */
const growth = 1.5

/** How much of a question is kept, in UTF-16 code units. */
const longestQuestion = 500

/**
 * The compaction whose facts stand in front once a summary is committed: this one, if its text begins anew or if it covers much
 * more than at the last change; otherwise the compaction of the summary before it.
 *
 * @param state - the state before the commit
 */
export const frontMoment = (
  { summary, front, total, uncovered }: SessionState,
  { coveredTo, carried }: { readonly coveredTo: number; readonly carried: number },
  time: number,
): FrontMoment => {
  if (summary !== null && front !== null && carried > 0 && coveredTo < growth * front.coveredTo) return front
  const index = questionIndex({ uncovered: uncovered.dropBefore(coveredTo) }, total)
  const message = index === null ? undefined : uncovered.at(index)?.message
  return {
    time,
    total,
    coveredTo,
    question: message === undefined ? null : text(message).slice(0, longestQuestion),
  }
}
