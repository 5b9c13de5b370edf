import type { Segment, SummaryCommitted } from "../event/Event.js"

/** Where ranges end that follow one another without hole or overlap; `null` if they do not. */
export const tiles = (
  ranges: ReadonlyArray<{ readonly from: number; readonly to: number }>,
  start: number,
): number | null => {
  let end = start
  for (const { from, to } of ranges) {
    if (from !== end || to < from) return null
    end = to
  }
  return end
}

/**
 * Whether a commit says something, and goes with the summary it says it continues: the segments it carries over are there, and its own
 * reach without a hole from their end to where it says it covers. A strategy that drops messages writes none.
 */
export const fits = (
  before: ReadonlyArray<Segment>,
  { carried, segments, through }: Pick<SummaryCommitted, "carried" | "segments" | "through">,
): boolean =>
  carried <= before.length &&
  segments.every(({ text }) => text.trim() !== "") &&
  (segments.length === 0 || tiles(segments, before[carried - 1]?.to ?? 0) === through)
