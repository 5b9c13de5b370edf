import { type Effect, Stream } from "effect"
import type { Event } from "../event/Event.js"
import type { Recorded } from "../event/EventCodec.js"
import type { SessionError, Sessions } from "../session/Sessions.js"

/** What compactions have left in the log since the start or the last clear, oldest first. */
export type Commit = Recorded<Extract<Event, { _tag: "SummaryCommitted" | "ToolOutputsPruned" }>>

/** A pass over a session: its commits since the last clear that have not been taken back, and where it ended. */
export interface Commits {
  readonly version: number
  readonly commits: ReadonlyArray<Commit>
}

/** Reads what could be taken back. */
export const commitsOf = (sessions: Sessions, session: string): Effect.Effect<Commits, SessionError> =>
  sessions.events(session).pipe(
    Stream.runFold<Commits, Recorded>({ version: 0, commits: [] }, ({ commits }, recorded) => {
      const { event, seq: version } = recorded
      switch (event._tag) {
        case "SummaryCommitted":
        case "ToolOutputsPruned":
          return { version, commits: [...commits, { ...recorded, event }] }
        case "SummaryInvalidated":
          return { version, commits: commits.filter(({ seq }) => seq !== event.seq) }
        case "SessionCleared":
          return { version, commits: [] }
        default:
          return { version, commits }
      }
    }),
  )
