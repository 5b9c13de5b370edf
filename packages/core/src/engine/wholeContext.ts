/** Finds what a request is about in the context of its session, for a summarizer that asks at the end of that context. */
import type { Message } from "@memfold/message/Message"
import type { Context } from "../render/Render.js"
import { summaryMessages } from "../render/shownSummary.js"
import type { SessionState } from "../session/SessionState.js"
import type { Request, WholeContext } from "../summarize/Summarizer.js"

const said = (messages: ReadonlyArray<Message>): string =>
  JSON.stringify(messages.map(({ role, parts }) => [role, parts]))

/** When a model was last called behind the prefix of now: a provider's cache has nothing of a later summary. */
const lastCallTime = ({
  uncovered,
  prefix,
  totalAtCommit,
  lastModelCallTime,
}: SessionState): number | null => {
  const since = Math.max(prefix.validFrom, prefix.swappedTotal, totalAtCommit, uncovered.from)
  for (let at = uncovered.to - 1; at >= since; at--) {
    if (uncovered.at(at)?.message.role === "assistant") return lastModelCallTime
  }
  return null
}

/** Where the summary stands in the context, in front of a position; `null` if it is not shown as it is. */
const summaryAt = (
  { messages, sources }: Context,
  { summary }: SessionState,
  before: number,
): number | null => {
  if (summary === null || summary.shown !== undefined) return null
  const shown = summaryMessages(summary)
  const last = sources.lastIndexOf(null, before - 1)
  const from = last + 1 - shown.length
  const isShown = last !== -1 && shown.length > 0 && from >= 0
  return isShown && said(messages.slice(from, last + 1)) === said(shown) ? from : null
}

/**
 * A context with the positions of what a request is about; `null` if the context does not show all of it, or shows
 * something else in between: messages that a cap or an open group leaves out, or that cannot be read, facts, a part of the summary.
 *
 * @param context - The context of the state, as a model would get it now.
 * @param state - The state.
 * @param request - `from` and `previous` say which text is merged: the whole summary, or none.
 */
export const wholeContext = (
  context: Context,
  state: SessionState,
  { from, messagesFrom, to, previous }: Pick<Request, "from" | "messagesFrom" | "to" | "previous">,
): WholeContext | null => {
  const { messages, sources, layout, cacheMarks } = context
  const missing = layout.some(
    (section) =>
      (section.section === "gap" || section.section === "open" || section.section === "unreadable") &&
      section.from < to &&
      section.to > messagesFrom,
  )
  if (missing || (previous !== undefined && from !== 0)) return null
  const isAsked = (source: number | null): boolean => source !== null && source >= messagesFrom && source < to
  const first = sources.findIndex(isAsked)
  if (first === -1) return null
  let end = sources.findLastIndex(isAsked) + 1
  // The note of a call without a result.
  while (sources[end] === null && messages[end]?.role === "tool") end++
  const isWhole = sources
    .slice(first, end)
    .every((source, at) => (source === null ? messages[first + at]?.role === "tool" : isAsked(source)))
  const begin = previous === undefined ? first : summaryAt(context, state, first)
  return isWhole && begin !== null
    ? { messages, cacheMarks, from: begin, to: end, lastCallTime: lastCallTime(state) }
    : null
}
