/**
 * The composition of a new summary: which segments of the previous summary stay, and which are written. One function
 * covers rolling summaries, blocks and split turns.
 */
import type { PlannedPart } from "../event/Event.js"
import type { SummaryMode } from "../policy/SummaryMode.js"
import type { Plan } from "../policy/decide.js"
import type { Summary } from "../session/SessionState.js"
import type { Segment } from "../summary/Summary.js"

/** A segment to be written: a summary of the messages in `part`, with the text `previous` (from `from` on) merged into it. */
export interface Assignment {
  readonly part: PlannedPart
  readonly from: number
  readonly previous: string | undefined
  /** The segments of the previous summary whose texts are `previous`. */
  readonly merged: ReadonlyArray<Segment>
}

/** The first `carried` segments of the previous summary stay as they are; the assignments follow. */
export interface Composition {
  readonly carried: number
  readonly assignments: ReadonlyArray<Assignment>
}

export const joined = (segments: ReadonlyArray<Segment>): string | undefined =>
  segments.length === 0 ? undefined : segments.map((segment) => segment.text).join("\n\n")

export const compose = (mode: SummaryMode, previous: Summary | null, plan: Plan): Composition => {
  const segments = previous?.segments ?? []
  if (mode === "drop" || mode === "none") return { carried: segments.length, assignments: [] }
  // Its material, if it has any, stands behind it.
  const prefix = segments.findIndex(({ kind }) => kind === "turn-prefix")
  const [first, ...others] = plan.parts
  if (first === undefined) return { carried: segments.length, assignments: [] }

  // A turn prefix is provisional. The next prefix of the same turn continues it. When the turn has ended, it is merged
  // into the history, or into the block that replaces it.
  const kept = prefix === -1 ? segments.length : prefix
  const carried = first.kind === "history" ? 0 : kept
  const merged = segments.slice(carried)
  return {
    carried,
    assignments: [
      { part: first, from: segments[carried - 1]?.to ?? 0, previous: joined(merged), merged },
      ...others.map((part) => ({ part, from: part.from, previous: undefined, merged: [] })),
    ],
  }
}
