import type { Memory, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { boundariesOf } from "./boundaries.js"
import type { ImportedSummary } from "./events.js"
import type { OldState } from "./OldState.js"
import type { Consolidated } from "./programs.js"
import { summarized } from "./summarized.js"

/** The name of the one summary that a state of reference design 1 stands for. */
const id = "last_consolidated"

/** A state with its summary, and what is to be said if there is none. */
export interface Completed {
  readonly state: OldState
  readonly leftOut: ReadonlyArray<ImportedSummary>
}

/**
 * The state of a sliding window with the text of its summary: as given, or written now, once. Where it
 * cannot be written, the messages stay raw.
 */
export const completed = (
  { messages, coveredTo, time, text }: Consolidated,
  options: { readonly session: string; readonly summarizer: Summarizer.Service },
): Effect.Effect<Completed, Memory.MemoryError> =>
  Effect.gen(function* () {
    if (coveredTo === 0) return { state: { messages, summaries: [] }, leftOut: [] }
    const one = { id, status: "active" as const, covers: [{ from: 0, to: coveredTo }], time, total: null }
    if (text !== null) return { state: { messages, summaries: [{ ...one, text }] }, leftOut: [] }
    const boundaries = boundariesOf(messages)
    const to = boundaries.before(coveredTo)
    const written = yield* summarized(messages.slice(0, boundaries.seenAt(to)), to, options)
    if (written._tag === "Raw") {
      const notes = [`all stays raw: ${written.why}`]
      return {
        state: { messages, summaries: [] },
        leftOut: [{ id, was: "active" as const, is: "left-out" as const, range: null, time, notes }],
      }
    }
    const writtenBy = { summarizer: options.summarizer.name, calls: written.calls }
    return { state: { messages, summaries: [{ ...one, text: written.text, writtenBy }] }, leftOut: [] }
  })
