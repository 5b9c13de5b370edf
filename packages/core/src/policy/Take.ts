/** How much of the backlog goes at once, oldest first. */
import type { View } from "./View.js"

/** Says up to where a compaction reaches, as a message index; never beyond the tail's start. */
export interface Take {
  readonly to: (view: View, tailFrom: number) => number
}

/** The whole backlog. */
export const all: Take = { to: (_view, tailFrom) => tailFrom }

/** At most the oldest `count` messages of it. */
export const messages = (count: number): Take => ({
  to: (view, tailFrom) => Math.min(tailFrom, view.through + count),
})

/** Exactly the oldest `count` rounds, or nothing while there are fewer. */
export const rounds = (count: number): Take => ({
  to: (view, tailFrom) => {
    const to = view.rounds >= count ? view.roundStart(count) : view.through
    return to <= tailFrom ? to : view.through
  },
})
