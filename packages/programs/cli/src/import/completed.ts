import type { Memory, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { boundariesOf } from "./boundaries.js"
import type { ImportedSummary } from "./events.js"
import type { OldState } from "./OldState.js"
import type { Consolidated } from "./programs.js"
import { summarized } from "./summarized.js"

/** The id of the only summary of a sliding-window state. */
const id = "last_consolidated"

/** A state with its summary, or the report of why it has none. */
export interface Completed {
  readonly state: OldState
  readonly leftOut: ReadonlyArray<ImportedSummary>
}

/**
 * Adds the text of the summary to a sliding-window state: the given text, or one written now. If writing fails, the
 * messages stay uncovered.
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
      const notes = [`all messages stay uncovered: ${written.why}`]
      return {
        state: { messages, summaries: [] },
        leftOut: [{ id, was: "active" as const, is: "left-out" as const, range: null, time, notes }],
      }
    }
    const writtenBy = { summarizer: options.summarizer.name, calls: written.calls }
    return { state: { messages, summaries: [{ ...one, text: written.text, writtenBy }] }, leftOut: [] }
  })
