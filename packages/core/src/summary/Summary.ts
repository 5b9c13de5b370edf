/**
 * The parts of a summary. A summary is a list of segments in order, each covering a range of messages.
 */
import { Schema } from "effect"
import { isMaterial, lowest, type Origin } from "@memfold/message/Origin"

/**
 * The kind of a segment.
 *
 * - `history`: covers everything up to its end; each compaction rewrites it
 * - `block`: covers one batch of turns; written once, then kept unchanged
 * - `turn-prefix`: covers the first part of a turn that is too large to keep whole
 * - `material`: what tools, documents and pages said in the messages of the segment before it, which then says nothing of it: a
 *   summary with `trust: "separate"` keeps it apart
 */
export const SegmentKind = Schema.Literal("history", "block", "turn-prefix", "material")
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

/** Whether a segment is the material of the segment before it: both cover the same messages. */
const isMaterialOf = (before: Covering | undefined, { kind, from, to }: Covering): boolean =>
  kind === "material" && before?.from === from && before.to === to

interface Covering {
  readonly kind?: SegmentKind
  readonly from: number
  readonly to: number
}

/**
 * The origin of each segment of a summary, from what it rests on (law L18). Where a segment has its material apart, it rests on the
 * rest alone.
 *
 * @param segments the segments, in order
 * @param rests what they rest on: each with the messages that it is from
 */
export const originsOf = (
  segments: ReadonlyArray<Covering>,
  rests: ReadonlyArray<Covering & { readonly origin: Origin }>,
): ReadonlyArray<Origin> =>
  segments.map((segment, position) => {
    const next = segments[position + 1]
    const apart = segment.kind === "material" || (next !== undefined && isMaterialOf(segment, next))
    const found = rests.flatMap(({ from, to, origin }) =>
      from < segment.to &&
      to > segment.from &&
      !(apart && isMaterial(origin) !== (segment.kind === "material"))
        ? [origin]
        : [],
    )
    return lowest(found) ?? "assistant"
  })

/**
 * Checks that ranges follow one another from `start` without a hole or an overlap.
 *
 * @param ranges half-open ranges `[from, to)` of message indexes; `material` covers what the range before it covers
 * @param start the message index at which the first range must start
 * @returns the end of the last range, or `null` if there is a hole or an overlap
 */
export const tiles = (ranges: ReadonlyArray<Covering>, start: number): number | null => {
  let end = start
  for (const [position, range] of ranges.entries()) {
    const { from, to } = range
    if (isMaterialOf(ranges[position - 1], range)) continue
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
