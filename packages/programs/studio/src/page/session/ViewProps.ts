/** What every view of a session gets. */
import type { Mark } from "./marks.js"
import type { Timeline } from "./Timeline.js"

/** A session at a version. */
export interface Place {
  readonly timeline: Timeline
  /** The version that is shown. */
  readonly version: number
}

export interface ViewProps extends Place {
  readonly marks: ReadonlyArray<Mark>
  readonly choose: (version: number) => void
  /** Grows with every change of the timeline. */
  readonly changes: number
  /** The message to show, by its index. */
  readonly message: number | null
}
