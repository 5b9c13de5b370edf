/**
 * The parts of a summary. A summary is a list of segments in order, each covering a range of messages.
 */
import { Schema } from "effect"

/**
 * The kind of a segment.
 *
 * - `history`: covers everything up to its end; each compaction rewrites it
 * - `block`: covers one batch of turns; written once, then kept unchanged
 * - `turn-prefix`: covers the first part of a turn that is too large to keep whole
 */
export const SegmentKind = Schema.Literal("history", "block", "turn-prefix")
export type SegmentKind = typeof SegmentKind.Type

const Index = Schema.NonNegativeInt

/** One segment: its text covers the messages `[from, to)`. */
export const Segment = Schema.Struct({
  kind: SegmentKind,
  from: Index,
  to: Index,
  text: Schema.String,
})
export type Segment = typeof Segment.Type

/** Files that tools read and changed, by path, oldest first. A changed file is not listed as read. */
export const Files = Schema.Struct({
  read: Schema.Array(Schema.String),
  modified: Schema.Array(Schema.String),
})
export type Files = typeof Files.Type

/** No files. */
export const noFiles: Files = { read: [], modified: [] }

/** The end of ranges that follow one another from `start` without a hole or an overlap; `null` if they do not. */
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
 * Whether new segments continue an earlier summary: the `carried` segments they keep exist, the new ones follow
 * without a hole up to `coveredTo`, and every text is non-empty. A strategy that drops messages writes no segments.
 */
export const fits = (
  before: ReadonlyArray<Segment>,
  {
    carried,
    segments,
    coveredTo,
  }: { readonly carried: number; readonly segments: ReadonlyArray<Segment>; readonly coveredTo: number },
): boolean =>
  carried <= before.length &&
  segments.every(({ text }) => text.trim() !== "") &&
  (segments.length === 0 || tiles(segments, before[carried - 1]?.to ?? 0) === coveredTo)
