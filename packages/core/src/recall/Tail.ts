/** The events behind the stored parts of a full-text index, read into an index of the process. */
import { Effect } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import { eachEvent } from "./eachEvent.js"
import type { IndexError, Source } from "./FullTextIndex.js"
import { divergence, type Gap } from "../session/branches.js"
import { SessionIndex, type Start } from "./SessionIndex.js"

export class Tail extends SessionIndex {
  constructor(
    start: Start,
    /** The version of the session before its events were read: a later redaction may have changed what was read. */
    readonly readAt: number,
    gaps: ReadonlyArray<Gap>,
  ) {
    super(start, gaps)
  }

  /** Whether it starts where these parts end, and has no message that the branch with these gaps has not. */
  fits(start: Start, gaps: ReadonlyArray<Gap>): boolean {
    return (
      this.start.version === start.version &&
      this.start.lastId === start.lastId &&
      this.start.messages === start.messages &&
      divergence(this.gaps, gaps) > this.version
    )
  }
}

/** How reading on ended: at the end of the log, or with enough messages for a part; or why it has to begin again. */
export type ReadEnd = "all" | "part" | "redacted" | "another log"

/** Reads the events behind a tail into it, until it has `most` messages. */
export const readOn = (tail: Tail, { events }: Source, most: number): Effect.Effect<ReadEnd, IndexError> =>
  Effect.gen(function* () {
    const { version, lastId, readAt } = tail
    let end: ReadEnd = lastId === null ? "all" : "another log"
    const look = (recorded: RecordedEvent): boolean => {
      if (recorded.version === version)
        end = lastId === null || recorded.id === lastId ? "all" : "another log"
      // A redaction that was there before is done with what it rewrote.
      else if (recorded.event._tag === "MessageRedacted" && recorded.version > readAt) end = "redacted"
      else if (tail.lengths.length >= most) end = "part"
      if (end === "all") tail.add(recorded)
      return end === "all"
    }
    yield* eachEvent(events({ fromVersion: Math.max(version, 1) }), look, 1)
    return end
  })
