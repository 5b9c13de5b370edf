/** What `undo` would take back: the newest change that is in force. */
import { Session } from "@memfold/core"
import { hasChanged, type Mark } from "./marks.js"
import type { Timeline } from "./Timeline.js"

/** A change that can be taken back. */
export interface Undoable {
  readonly kind: Session.SummaryChange["kind"] | "branch" | "clear"
  /** The version of its first event. */
  readonly version: number
  /** When it was made, in milliseconds since the epoch. */
  readonly time: number
}

/** What `undo` would take back; `null` if there is nothing. */
export const undoable = ({ events }: Timeline, marks: ReadonlyArray<Mark>): Undoable | null => {
  // A switch or a clear is the newest change, unless the summary has changed since.
  const last = events.findLast(
    ({ event: { _tag } }) => _tag === "BranchSwitched" || _tag === "SessionCleared",
  )
  const since = events.slice(last?.version ?? 0)
  const inForce = marks.filter((mark) => hasChanged(mark) && mark.invalidatedAt === null)
  const change = Session.newestChange(since.toReversed(), new Set(inForce.map(({ version }) => version)))
  if (change !== null) {
    const { kind, from } = change
    return { kind, version: from, time: events[from - 1]!.time }
  }
  if (last === undefined) return null
  const { event, version, time } = last
  return { kind: event._tag === "SessionCleared" ? "clear" : "branch", version, time }
}
