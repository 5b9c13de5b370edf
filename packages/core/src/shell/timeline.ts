/** A session through time: every version with the size of its context, and every compaction with what became of it. */
import { Effect, Stream } from "effect"
import type { CompactionStarted, PlannedPart } from "../event/Event.js"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { History, SummaryStatus } from "../projection/summaries.js"
import { evolve, requiresReplay } from "../session/evolve.js"
import { contextTokens, empty, type SessionState } from "../session/SessionState.js"
import { retryTransient } from "./retry.js"
import type { SessionError } from "./openSession.js"
import { keepTip } from "../session/switchBranch.js"

/** A version of a session: an event, and the state behind it. */
export interface TimelineVersion {
  readonly version: number
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  /** The type of the event, such as `MessageAppended`. */
  readonly event: string
  /** How many messages the conversation has. */
  readonly total: number
  /** The summary in force covers the messages before this index. */
  readonly coveredTo: number
  /** The tokens of the context, by the counter of the memory; a cap and what requests recall are not counted. */
  readonly tokens: number
  /** The id of the branch in force. */
  readonly branch: number
}

/**
 * A compaction, and how it ended.
 *
 * - `running`: it has the lock
 * - `committed`: its summary came into force; `status` says what the summary is now
 * - `pruned`: it shortened tool outputs, and wrote no summary
 * - `failed`: `failure` says why
 * - `released`: it ended without a result
 */
export interface TimelineCompaction {
  readonly compaction: string
  readonly outcome: "running" | "committed" | "pruned" | "failed" | "released"
  readonly strategy: string
  readonly reason: string
  /** The versions of its start and of its end; the end is `null` while it runs. */
  readonly startedAt: number
  readonly endedAt: number | null
  /** When it started and ended, in milliseconds since the epoch. */
  readonly startTime: number
  readonly endTime: number | null
  /** The segments that it planned, with the messages of each. */
  readonly parts: ReadonlyArray<PlannedPart>
  readonly coveredTo: number | null
  /** The id of its summary, what that summary is now, and the id of the summary that it replaced. */
  readonly summary: string | null
  readonly status: SummaryStatus | null
  readonly supersedes: string | null
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  readonly summarizer: string | null
  readonly calls: number | null
  /** The indexes of messages whose tool outputs it shortened. */
  readonly pruned: ReadonlyArray<number>
  readonly failure: string | null
}

/** A session through time. */
export interface Timeline {
  /** The version that it goes up to. */
  readonly version: number
  /** Every version, from 1. */
  readonly versions: ReadonlyArray<TimelineVersion>
  /** Every compaction, in the order of their starts. */
  readonly compactions: ReadonlyArray<TimelineCompaction>
}

type Open = { -readonly [Key in keyof TimelineCompaction]: TimelineCompaction[Key] }

const begun = (
  { compaction, strategy, reason, parts }: CompactionStarted,
  { version, time }: RecordedEvent,
): Open => ({
  compaction,
  outcome: "running",
  strategy,
  reason,
  startedAt: version,
  endedAt: null,
  startTime: time,
  endTime: null,
  parts,
  coveredTo: null,
  summary: null,
  status: null,
  supersedes: null,
  tokensBefore: null,
  tokensAfter: null,
  summarizer: null,
  calls: null,
  pruned: [],
  failure: null,
})

const note = (known: Map<string, Open>, recorded: RecordedEvent, before: SessionState): void => {
  const { event, version, time } = recorded
  if (event._tag === "CompactionStarted") known.set(event.compaction, begun(event, recorded))
  const compaction = "compaction" in event ? known.get(event.compaction as string) : undefined
  if (compaction === undefined) return
  const ended = (outcome: Open["outcome"], found: Partial<Open> = {}) =>
    Object.assign(compaction, { outcome, endedAt: version, endTime: time, ...found })
  switch (event._tag) {
    case "SummaryCommitted": {
      const { summary, coveredTo, tokensBefore, tokensAfter, summarizer, calls } = event
      const supersedes = before.summary?.id ?? null
      ended("committed", { summary, coveredTo, tokensBefore, tokensAfter, summarizer, calls, supersedes })
      break
    }
    case "ToolOutputsPruned":
      ended("pruned", { pruned: [...new Set(event.outputs.map(({ index }) => index))] })
      break
    case "CompactionFailed":
      ended("failed", { failure: event.reason })
      break
    case "CompactionReleased":
      ended("released")
  }
}

/**
 * Computes the timeline of a session from its events, each with the state as it was behind it: a later event can make earlier commits
 * invalid, and the model has got their summaries all the same.
 *
 * @param events - all events, from the first one
 * @param stateAt - the state behind an event that changes what is in the state before it already
 */
const timelineOf = <E, R>(
  session: string,
  events: Stream.Stream<RecordedEvent, E, R>,
  stateAt: (version: number) => Effect.Effect<SessionState, E, R>,
): Effect.Effect<Timeline, E, R> =>
  Effect.suspend(() => {
    const versions: Array<TimelineVersion> = []
    const compactions = new Map<string, Open>()
    const states = new Map<number, SessionState>()
    const next = (before: SessionState, recorded: RecordedEvent): Effect.Effect<SessionState, E, R> => {
      keepTip(states, before, recorded)
      return requiresReplay(before, recorded, states)
        ? stateAt(recorded.version)
        : Effect.succeed(evolve(before, recorded, { states }))
    }
    const step = (before: SessionState, recorded: RecordedEvent) =>
      Effect.map(next(before, recorded), (after) => {
        note(compactions, recorded, before)
        versions.push({
          version: recorded.version,
          time: recorded.time,
          event: recorded.event._tag,
          total: after.total,
          coveredTo: after.coveredTo,
          tokens: contextTokens({ ...after, reported: null }),
          branch: after.branch.id,
        })
        return after
      })
    return Effect.map(Stream.runFoldEffect(events, empty(session), step), ({ version }) => ({
      version,
      versions,
      compactions: [...compactions.values()],
    }))
  })

interface Reads {
  readonly events: (session: string) => Stream.Stream<RecordedEvent, SessionError>
  readonly stateAt: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  readonly history: (session: string) => Effect.Effect<Pick<History, "summaries">, SessionError>
}

/** The timeline of a session, with what its summaries are now. */
export const timelineIn = (
  { events, stateAt, history }: Reads,
  session: string,
): Effect.Effect<Timeline, SessionError> =>
  Effect.gen(function* () {
    const { compactions, ...timeline } = yield* retryTransient(
      timelineOf(session, events(session), (version) => stateAt(session, version)),
    )
    const { summaries } = yield* history(session)
    const statusOf = new Map(summaries.map(({ id, status }) => [id, status]))
    return {
      ...timeline,
      compactions: compactions.map((one) => ({ ...one, status: statusOf.get(one.summary ?? "") ?? null })),
    }
  })
