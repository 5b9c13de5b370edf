/** What the segments of a summary count as: the origins of what they rest on (law L18). */
import type { SummaryCommitted } from "../event/Event.js"
import type { Origin } from "@memfold/message/Message"
import { ofPart } from "@memfold/message/Origin"
import { originsOf } from "../summary/Summary.js"
import { type Entry, type SessionState, withoutPinned } from "./SessionState.js"

/**
 * The origins of the segments of a commit: those of the segments that it keeps, and of what the others rest on. Whose words were in a
 * message that cannot be read, nobody knows, and the summary may have them, unless it went on without the message. A summary that has
 * material apart, and has none, says what was said.
 */
export const originsAfter = (
  { summary, unreadable, setAside }: SessionState,
  { carried, segments, wording, origin: best }: SummaryCommitted,
  covered: ReadonlyArray<Entry>,
): ReadonlyArray<Origin> => {
  const origins = summary?.origins ?? []
  // Of hundreds of blocks, most are carried.
  const merged = (summary?.segments ?? [])
    .slice(carried)
    .map((segment, at) => ({ ...segment, origin: origins[carried + at] ?? "external" }))
  const isLost = ({ version }: Entry) =>
    unreadable.some((one) => one.version === version) && !setAside.includes(version)
  const hasMaterial = wording.material === undefined || segments.some(({ kind }) => kind === "material")
  const lost: ReadonlyArray<Origin> = hasMaterial ? ["assistant", "external"] : ["assistant"]
  const said = withoutPinned(covered).flatMap((entry) => {
    const { index, message } = entry
    const each = isLost(entry) ? lost : message.parts.map((part) => ofPart(message, part))
    return each.map((origin) => ({ from: index, to: index + 1, origin }))
  })
  const own = best === undefined ? [] : segments.map(({ from, to }) => ({ from, to, origin: best }))
  return [...origins.slice(0, carried), ...originsOf(segments, [...merged, ...said, ...own])]
}
