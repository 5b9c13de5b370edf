/**
 * Undoing what changed the summary: a compaction is taken back, and what a revert or a recompaction took back is committed again.
 * A commit that was declared invalid stays so. The log gets new commits with the same segments, which the fold checks like all others.
 */
import { Clock, Effect, Stream } from "effect"
import type { CompactionStarted, Event, SummaryCommitted, ToolOutputsPruned } from "../event/Event.js"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { Commit } from "../projection/summaries.js"
import { makeId } from "../shell/id.js"
import { historyOf } from "../shell/replay.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { atEnd, restored, searchOn, changeOf } from "./newestChange.js"
import { takeBack } from "./revert.js"

interface Gone {
  readonly started: CompactionStarted
  readonly pruned: ToolOutputsPruned | null
  readonly committed: SummaryCommitted | null
}

/** The compactions with these commits, oldest first. */
const compactionsWith = <E>(
  events: Stream.Stream<RecordedEvent, E>,
  commits: ReadonlySet<number>,
): Effect.Effect<ReadonlyArray<Gone>, E> =>
  Effect.map(
    Stream.runFold(events, new Map<string, Gone>(), (all, { event, version }) => {
      if (event._tag === "CompactionStarted")
        return all.set(event.compaction, { started: event, pruned: null, committed: null })
      if (!commits.has(version) || !("compaction" in event)) return all
      const known = all.get(event.compaction)
      if (known === undefined) return all
      if (event._tag === "ToolOutputsPruned") all.set(event.compaction, { ...known, pruned: event })
      if (event._tag === "SummaryCommitted") all.set(event.compaction, { ...known, committed: event })
      return all
    }),
    (all) => [...all.values()].filter(({ pruned, committed }) => pruned !== null || committed !== null),
  )

/**
 * The compactions that are needed to have the last of these summaries again. One that keeps nothing of the summary before it stands
 * for all before it, unless they have shortened tool outputs.
 *
 * @param from - the end of the coverage before them
 */
const needed = (gone: ReadonlyArray<Gone>, from: number): ReadonlyArray<Gone> => {
  const at = gone.findLastIndex(({ committed }) => committed?.carried === 0)
  const first = gone[at]
  if (first === undefined || gone.slice(0, at).some(({ pruned }) => pruned !== null)) return gone
  const { started } = first
  const parts = started.parts.map((part, position) => (position === 0 ? { ...part, from } : part))
  return [{ ...first, started: { ...started, from, parts } }, ...gone.slice(at + 1)]
}

/** The events that commit compactions again, under new ids, on top of the summary `previous`. */
const commitAgain = (
  gone: ReadonlyArray<Gone>,
  previous: string | null,
): Effect.Effect<ReadonlyArray<Event>> =>
  Effect.gen(function* () {
    const leaseUntil = yield* Clock.currentTimeMillis
    const events: Array<Event> = []
    let before = previous
    for (const { started, pruned, committed } of gone) {
      const compaction = yield* makeId
      events.push({ ...started, compaction, reason: restored, leaseUntil })
      if (pruned !== null) events.push({ ...pruned, compaction })
      if (committed === null) continue
      const summary = yield* makeId
      events.push({ ...committed, compaction, summary })
      if (before !== null) events.push({ _tag: "SummarySuperseded", summary: before, by: summary })
      before = summary
    }
    return events
  })

/** The events that commit again what was in force before a version, on top of the commits that stay. */
const restoring = (
  sessions: Sessions,
  session: string,
  { from, staying }: { readonly from: number; readonly staying: ReadonlyArray<Commit> },
): Effect.Effect<ReadonlyArray<Event>, SessionError> =>
  Effect.gen(function* () {
    const upTo = (toVersion = from - 1) => sessions.events(session, { toVersion })
    const { commits } = yield* historyOf(session, upTo)
    const known = new Set(staying.map(({ version }) => version))
    const wanted = new Set(commits.flatMap(({ version }) => (known.has(version) ? [] : [version])))
    const gone = yield* compactionsWith(upTo(), wanted)
    const base = staying.findLast(({ summary }) => summary !== null)
    return yield* commitAgain(needed(gone, base?.coveredTo ?? 0), base?.summary ?? null)
  })

/**
 * Takes back what changed the summary last, and says what that was; `null` if nothing changed it. A running compaction is released.
 *
 * @param since - the version of the last switch or clear, which is not looked behind
 * @param pauseFor - the number of messages for which automatic compaction is paused; not if compactions are in force again
 */
export const undoSummary = (
  sessions: Sessions,
  session: string,
  { since, pauseFor }: { readonly since: number; readonly pauseFor: number },
): Effect.Effect<"compaction" | "revert" | null, SessionError> =>
  Effect.gen(function* () {
    let undone: "compaction" | "revert" = "compaction"
    const count = yield* takeBack(sessions, session, ({ commits, version: toVersion }) =>
      Effect.gen(function* () {
        const newestFirst = sessions.events(session, { fromVersion: since + 1, toVersion, reverse: true })
        const inForce = new Set(commits.map(({ version }) => version))
        const search = yield* Stream.runFoldWhile(
          newestFirst,
          atEnd,
          ({ at }) => at !== "done",
          (found, recorded) => searchOn(found, recorded, inForce),
        )
        const change = changeOf(search)
        if (change === null) return null
        const { kind, from } = change
        undone = kind === "compaction" ? kind : "revert"
        const staying = commits.filter(({ version }) => version < from)
        const behind = kind === "compaction" ? [] : yield* restoring(sessions, session, { from, staying })
        return {
          newer: commits.slice(staying.length),
          // The undo of an undo is the revert again, and can be undone in its turn.
          reason: kind === "restore" && behind.length === 0 ? "reverted" : "undone",
          pauseFor: kind === "revert" ? 0 : pauseFor,
          behind,
        }
      }),
    )
    return count === null ? null : undone
  })
