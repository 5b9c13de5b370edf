import { Effect, Schema } from "effect"
import { releaseRunning } from "../engine/compaction.js"
import type { Event, SummaryInvalidated } from "../event/Event.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { Commit } from "../projection/summaries.js"

/** The session has no summary with this id to go back to: it does not exist, or it is invalid. */
export class UnknownSummary extends Schema.TaggedError<UnknownSummary>()("UnknownSummary", {
  session: Schema.String,
  summary: Schema.String,
}) {
  /** The session and the summary, in words. */
  override get message(): string {
    return `Session "${this.session}" has no summary "${this.summary}" to go back to; list them with summaries`
  }
}

/** The events that declare commits invalid. */
const invalidations = (commits: ReadonlyArray<Commit>, reason: string): ReadonlyArray<SummaryInvalidated> =>
  commits.map(({ version, summary }) => ({ _tag: "SummaryInvalidated", version, summary, reason }))

/** The commits after a summary, or all of them for `null`; `null` if there is no such summary. */
const after = (commits: ReadonlyArray<Commit>, summary: string | null): ReadonlyArray<Commit> | null => {
  if (summary === null) return commits
  const at = commits.findIndex((commit) => commit.summary === summary)
  return at === -1 ? null : commits.slice(at + 1)
}

/**
 * The commits that go with these: on branches that were left, later summaries continue the summaries that the branches share with
 * the branch in force.
 */
const continuations = (
  gone: ReadonlyArray<Commit>,
  left: ReadonlyArray<ReadonlyArray<Commit>>,
): ReadonlyArray<Commit> => {
  const known = new Set(gone.map(({ version }) => version))
  const later = left.flatMap((commits) => {
    const first = commits.findIndex(({ version }) => known.has(version))
    return first === -1 ? [] : commits.slice(first).filter(({ version }) => !known.has(version))
  })
  return [...new Map(later.map((commit) => [commit.version, commit])).values()]
}

/**
 * Goes back to an earlier summary, or to the messages (`null`). Returns how many commits became invalid; they stay in
 * the log. A running compaction is released, and its result will be thrown away.
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
    /** The number of messages for which automatic compaction is paused; 0 ends a pause. */
    readonly pauseFor: number
  },
): Effect.Effect<number, SessionError | UnknownSummary> =>
  Effect.gen(function* () {
    for (;;) {
      const { commits, left, version } = yield* sessions.history(session)
      const newer = after(commits, toSummary)
      if (newer === null) return yield* new UnknownSummary({ session, summary: toSummary ?? "" })
      const gone = [...newer, ...continuations(newer, left)]
      const { answer } = yield* sessions.transact(session, (state) => {
        // Another writer appended an event since. The commits are read again, because one may have been added.
        if (state.version !== version) return { events: [], answer: false }
        const { running, total, pausedUntil } = state
        const paused: ReadonlyArray<Event> =
          pauseFor === 0 && pausedUntil <= total
            ? []
            : [{ _tag: "CompactionPaused", until: pauseFor === 0 ? 0 : total + pauseFor }]
        // A running compaction continues the summary that becomes invalid.
        const released = releaseRunning({ running })
        return { events: [...released, ...invalidations(gone, reason), ...paused], answer: true }
      })
      if (answer) return gone.length
      // The cached state may be older than the history. A step that writes nothing does not refresh it.
      yield* sessions.load(session)
    }
  })
