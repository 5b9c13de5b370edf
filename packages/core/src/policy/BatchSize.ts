/** How much of the backlog goes at once, oldest first. */
import type { PolicyInput } from "./PolicyInput.js"

/** Says up to where a compaction reaches, as a message index; never beyond the tail's start. */
export interface BatchSize {
  readonly to: (view: PolicyInput, tailFrom: number) => number
}

/** The whole backlog. */
export const all: BatchSize = { to: (_view, tailFrom) => tailFrom }

/** At most the oldest `count` messages of it. */
export const messages = (count: number): BatchSize => ({
  to: (view, tailFrom) => Math.min(tailFrom, view.coveredTo + count),
})

/** Exactly the oldest `count` rounds, or nothing while there are fewer. */
export const turns = (count: number): BatchSize => ({
  to: (view, tailFrom) => {
    const to = view.completeTurns >= count ? view.turnStart(count) : view.coveredTo
    return to <= tailFrom ? to : view.coveredTo
  },
})
