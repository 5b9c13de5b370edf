import { Effect, Schema } from "effect"
import type { Event, SummaryInvalidated } from "../event/Event.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import type { Commit } from "../session/summaries.js"

/** There is no such summary to go back to. */
export class UnknownSummary extends Schema.TaggedError<UnknownSummary>()("UnknownSummary", {
  session: Schema.String,
  summary: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" has no summary "${this.summary}" to go back to; list them with summaries`
  }
}

/** The events that take commits back. */
const takenBack = (commits: ReadonlyArray<Commit>, reason: string): ReadonlyArray<SummaryInvalidated> =>
  commits.map((commit) => ({ _tag: "SummaryInvalidated", ...commit, reason }))

/** The commits that came after a summary; all of them when there is none to go back to. */
const after = (commits: ReadonlyArray<Commit>, summary: string | null): ReadonlyArray<Commit> | null => {
  if (summary === null) return commits
  const at = commits.findIndex((commit) => commit.summary === summary)
  return at === -1 ? null : commits.slice(at + 1)
}

/**
 * Goes back to an earlier summary, or to the raw messages (`null`), and answers with how many commits were taken
 * back. They stay in the log as what they are: invalid. A compaction that runs meanwhile comes to nothing.
 */
export const revert = (
  sessions: Sessions,
  session: string,
  {
    toSummary,
    reason,
    pauseFor,
  }: {
    readonly toSummary: string | null
    readonly reason: string
    /** So many messages have to come before anything is compacted by itself again. */
    readonly pauseFor: number
  },
): Effect.Effect<number, SessionError | UnknownSummary> =>
  Effect.gen(function* () {
    for (;;) {
      const { commits, version } = yield* sessions.history(session)
      const gone = after(commits, toSummary)
      if (gone === null) return yield* new UnknownSummary({ session, summary: toSummary ?? "" })
      const { answer } = yield* sessions.transact(session, (state) => {
        // Somebody has committed since: what is to be taken back is looked up again.
        if (state.version !== version) return { events: [], answer: false }
        const { running, total, pausedUntil } = state
        const held: ReadonlyArray<Event> =
          pauseFor === 0 && pausedUntil <= total
            ? []
            : [{ _tag: "CompactionPaused", until: pauseFor === 0 ? 0 : total + pauseFor }]
        // What runs now goes on from the very summary that is taken back.
        const released: ReadonlyArray<Event> =
          running === null ? [] : [{ _tag: "CompactionReleased", compaction: running.compaction }]
        return { events: [...released, ...takenBack(gone, reason), ...held], answer: true }
      })
      if (answer) return gone.length
      // The state at hand may be the older of the two, and a step that writes nothing is not told so by the log.
      yield* sessions.load(session)
    }
  })
