import { Effect, Schema } from "effect"
import { releaseRunning } from "../engine/compaction.js"
import type { Event } from "../event/Event.js"
import type { SessionState } from "../session/SessionState.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { Commit, History } from "../projection/summaries.js"

/** The session has no summary with this id to go back to: it does not exist, or it is invalid. */
export class UnknownSummary extends Schema.TaggedError<UnknownSummary>()("UnknownSummary", {
  session: Schema.String,
  summary: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" has no valid summary "${this.summary}"; list them with summaries`
  }
}

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

/** Commits, and those that go with them. */
export const withContinuations = (
  gone: ReadonlyArray<Commit>,
  left: ReadonlyArray<ReadonlyArray<Commit>>,
): ReadonlyArray<Commit> => [...gone, ...continuations(gone, left)]

interface RevertOptions {
  readonly reason: string
  /** The number of messages for which automatic compaction is paused; 0 ends a pause. */
  readonly pauseFor: number
}

/** The events that take commits back from a state. A running compaction continues a summary that becomes invalid: it is released. */
export const takenBack = (
  { running, total, pausedUntil }: Pick<SessionState, "running" | "total" | "pausedUntil">,
  gone: ReadonlyArray<Commit>,
  { reason, pauseFor }: RevertOptions,
): ReadonlyArray<Event> => [
  ...releaseRunning({ running }),
  ...gone.map(({ version, summary }) => ({ _tag: "SummaryInvalidated" as const, version, summary, reason })),
  ...(pauseFor === 0 && pausedUntil <= total
    ? []
    : [{ _tag: "CompactionPaused" as const, until: pauseFor === 0 ? 0 : total + pauseFor }]),
]

/** What becomes of the commits of the branch in force. */
export interface Change extends RevertOptions {
  readonly newer: ReadonlyArray<Commit>
  /** Events to append behind, in the same batch. */
  readonly behind?: ReadonlyArray<Event>
}

/**
 * Takes back some of the commits of the branch in force, and says how many commits became invalid; they stay in the log. A running
 * compaction is released, and its result will be thrown away.
 *
 * @param decide - finds the commits to take back; `null` if that cannot be done
 */
export const takeBack = <E>(
  sessions: Sessions,
  session: string,
  decide: (history: History) => Effect.Effect<Change | null, E>,
): Effect.Effect<number | null, SessionError | E> =>
  Effect.gen(function* () {
    for (;;) {
      const history = yield* sessions.history(session)
      const change = yield* decide(history)
      if (change === null) return null
      const gone = withContinuations(change.newer, history.left)
      const { answer } = yield* sessions.transact(session, (state) => {
        // Another writer appended an event since. The commits are read again, because one may have been added.
        if (state.version !== history.version) return { events: [], answer: false }
        return { events: [...takenBack(state, gone, change), ...(change.behind ?? [])], answer: true }
      })
      if (answer) return gone.length
      // The cached state may be older than the history. A step that writes nothing does not refresh it.
      yield* sessions.load(session)
    }
  })

/** Goes back to an earlier summary, or to the messages (`null`). Returns how many commits became invalid. */
export const revert = (
  sessions: Sessions,
  session: string,
  { toSummary, ...options }: RevertOptions & { readonly toSummary: string | null },
): Effect.Effect<number, SessionError | UnknownSummary> =>
  Effect.gen(function* () {
    const count = yield* takeBack(sessions, session, ({ commits }) => {
      const newer = after(commits, toSummary)
      return Effect.succeed(newer === null ? null : { newer, ...options })
    })
    return count ?? (yield* new UnknownSummary({ session, summary: toSummary ?? "" }))
  })
