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

/**
 * A summary in a form that only one provider reads, such as a signed or encrypted block of its compaction API. It never
 * stands alone: there is always a text that says the same to everyone else.
 *
 * - `provider`: the provider that reads it, by the name that codecs use in opaque parts
 * - `model`: the only model that it is for; every model of the provider if absent
 * - `data`: the data, in JSON; sent back unchanged
 * - `tokens`: the tokens it takes in a context, if they are known; otherwise the tokens of the text are used
 * - `keepsReasoning`: the provider goes on accepting signed reasoning behind it, if it stands in place of exactly the
 *   messages that were sent before that reasoning, and nothing else has changed
 */
export const ProviderData = Schema.Struct({
  provider: Schema.String,
  model: Schema.optional(Schema.String),
  data: Schema.Unknown,
  tokens: Schema.optional(Schema.NonNegativeInt),
  keepsReasoning: Schema.optional(Schema.Boolean),
})
export type ProviderData = typeof ProviderData.Type

/**
 * One segment of a summary: its text covers the messages `[from, to)`.
 *
 * - `providerData`: the same content in the form of one provider. Only a `history` from message 0 on has it, because it
 *   stands for everything before the uncovered messages.
 */
export const Segment = Schema.Struct({
  kind: SegmentKind,
  from: Index,
  to: Index,
  text: Schema.String,
  providerData: Schema.optional(ProviderData),
})
export type Segment = typeof Segment.Type

/** Files that tools read and changed, by path, oldest first. A changed file is not listed as read. */
export const Files = Schema.Struct({
  read: Schema.Array(Schema.String),
  modified: Schema.Array(Schema.String),
})
export type Files = typeof Files.Type

/** A list without files. */
export const noFiles: Files = { read: [], modified: [] }

/**
 * The segments that contexts show.
 *
 * @param summary its segments, and the positions of the segments to show; all segments if absent
 */
export const shownSegments = <One>({
  segments,
  shown,
}: {
  readonly segments: ReadonlyArray<One>
  readonly shown?: ReadonlyArray<number> | undefined
}): ReadonlyArray<One> =>
  shown === undefined ? segments : segments.filter((_, position) => shown.includes(position))

/**
 * Checks that ranges follow one another from `start` without a hole or an overlap.
 *
 * @param ranges half-open ranges `[from, to)` of message indexes
 * @param start the message index at which the first range must start
 * @returns the end of the last range, or `null` if there is a hole or an overlap
 */
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
 * Whether new segments continue an earlier summary: the first `carried` segments of the earlier summary exist, the new
 * segments cover the messages after them without a hole up to `coveredTo`, and no text is empty. A strategy that drops
 * messages writes no segments.
 *
 * @param before the segments of the earlier summary; empty if there is none
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
