/**
 * Access to sessions: load the state, decide on events, append them at the version of that state, and decide again if
 * another writer was first.
 *
 * States are cached by session. A write trusts the cache, because the log refuses a wrong version; it takes one append
 * and no read. Every read first folds the events after the cached version.
 */
import { Array, Clock, type Duration, Effect, type Scope, Stream } from "effect"
import { type Event, isTrail } from "../event/Event.js"
import { encodeBatchSteps, recordedAfter, type RecordedEvent, timedNow } from "../event/EventCodec.js"
import {
  isNotes,
  markedBy,
  notArchived,
  noted,
  type AppendOptions,
  type AppendResult,
  LogError,
  type LogPosition,
  type ProjectionChange,
  type ReadOptions,
  type Service as EventLog,
  type VersionConflict,
} from "@memfold/log/EventLog"
import { atMost } from "@memfold/log/atMost"
import { inSteps, mapped, type Steps } from "@memfold/log/breathe"
import { description } from "../projection/description.js"
import { earlierSnapshots } from "../projection/earlierSnapshots.js"
import { type EventStep, rowsOf } from "../projection/Projection.js"
import { activeRow, type History, summaries } from "../projection/summaries.js"
import { evolve, requiresReplay } from "../session/evolve.js"
import type { SessionState } from "../session/SessionState.js"
import type { States } from "../session/switchBranch.js"
import { makeListeners } from "./listeners.js"
import { stateBack, stateReaching } from "./earlierStates.js"
import type { SessionError } from "./openSession.js"
import { NewestMessages } from "./NewestMessages.js"
import { makePastStates } from "./PastStates.js"
import { makeHistories } from "./histories.js"
import { projectionsOf } from "./replay.js"
import { conflictPause, retryTransient } from "./retry.js"
import { makeSessionCache, type Refreshed } from "./SessionCache.js"
import { type Timeline, timelineIn } from "./timeline.js"
import { makeTurns } from "./Turns.js"
import { eventsIn } from "./wholeRange.js"
import { makeId } from "./id.js"

export type { SessionError } from "./openSession.js"

/** The result of a step: the events to append (nothing is written if there are none), and an answer for the caller. */
export interface Step<A> {
  readonly events: ReadonlyArray<Event>
  readonly answer: A
  /** The earlier states that the events go back to, see `BranchSwitched`. */
  readonly states?: States
}

/** The answer of a write, and the state after it. */
export interface Answered<A> {
  readonly answer: A
  readonly state: SessionState
}

/** What is to be appended to a state. `time` is the time of the events, in milliseconds since the epoch. */
export type Decide<A> = (state: SessionState, time: number) => Step<A>

/** The answer of a step, the state after it, and the versions of its events; `null` if it had none. */
export interface Committed<A> extends Answered<A> {
  readonly appended: AppendResult | null
}

/** Reads and writes the sessions of one log. Its methods fail with {@link SessionError}. */
export interface Sessions {
  /** The newest state of a session; the empty state if it does not exist. */
  readonly load: (session: string) => Effect.Effect<SessionState, SessionError>
  /** The state that this process knows, which may not be the newest any more; `null` if it knows none. It reads nothing. */
  readonly cached: (session: string) => SessionState | null
  /** The newest messages that this process has read or written. */
  readonly newest: NewestMessages
  /** The state at a version; the newest state if the session has not reached that version. */
  readonly stateAt: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  /** The state at an earlier version, as it counts now: without the commits that were declared invalid since. */
  readonly stateBack: (now: SessionState, version: number) => Effect.Effect<SessionState, SessionError>
  /**
   * The newest state that has the first `index` messages of the branch in force, with a summary that covers nothing beyond
   * them; `null` if the log has none.
   *
   * @param isWanted - what else it must be
   */
  readonly stateReaching: (
    now: SessionState,
    index: number,
    isWanted: (state: SessionState, index: number) => boolean,
  ) => Effect.Effect<SessionState | null, SessionError>
  /** The decoded events of a session, oldest first by default. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<RecordedEvent, SessionError>
  /** All summaries that the session ever had, and the commits that can be reverted. It reads the whole log. */
  readonly history: (session: string) => Effect.Effect<History, SessionError>
  /** The summaries in the history of a state. It reads the log once for a state, and does not see what is damaged afterwards. */
  readonly summariesAt: (state: SessionState) => Effect.Effect<History["summaries"], SessionError>
  /** Every version of a session, and every compaction. It reads the whole log. */
  readonly timeline: (session: string) => Effect.Effect<Timeline, SessionError>
  /**
   * Decides a step on the state and appends its events in one batch, at the version of that state. If another writer was
   * first, it is decided again on the newer state: `decide` must be a pure function. What takes long to prepare is an effect that makes
   * this function, once. Steps run in the order of the calls, and so do these effects.
   *
   * @param batchId - makes a retry harmless: a batch that is already in the log is not written again. A new id by default
   */
  readonly transact: <A, E = never>(
    session: string,
    decide: Decide<A> | Effect.Effect<Decide<A>, E>,
    batchId?: string,
  ) => Effect.Effect<Committed<A>, SessionError | E>
  /** Deletes a session; `false` if it does not exist. */
  readonly delete: (session: string) => Effect.Effect<boolean, SessionError>
  /** The last record of a session; `null` if it does not exist. */
  readonly head: (session: string) => Effect.Effect<LogPosition | null, SessionError>
  /** Reports that this process has written to a session directly through the log. */
  readonly notifyChange: (session: string) => void
  /**
   * Emits when this process has written to a session, and when other processes may have: when the store reports that, or
   * at every `pollInterval` if it does not. It may emit once for several writes.
   */
  readonly changes: (
    session: string,
    pollInterval: Duration.DurationInput,
  ) => Effect.Effect<Stream.Stream<void>, never, Scope.Scope>
}

/** Why a log stays as memfold writes it; `null` for any other. A group of the feed begins anew if its log is deleted. */
const keptFor = (operation: "append" | "delete", session: string): string | null => {
  if (isTrail(session)) return "it is the trail of an audit, which only the memory writes, and which stays"
  if (markedBy(session) !== null || session.startsWith(noted.segments))
    return "it says what of a session is in an archive: without it, nobody finds that; delete the session itself"
  return operation === "append" && isNotes(session)
    ? "memfold notes there how it works on the store; append to another session"
    : null
}

/** Fails for a trail, and for what else nobody writes to as to a session, or deletes. */
export const unlessKept = (
  operation: "append" | "delete",
  session: string,
): Effect.Effect<void, LogError> => {
  const reason = keptFor(operation, session)
  return reason === null ? Effect.void : new LogError({ operation, session, reason, refused: "held" })
}

/** More conflicts in a row are no competition between writers: the log contradicts itself. */
const mostConflicts = 1_000

/** How many logs are read as a whole at a time: the other readers wait, and hold no events. */
const wholeAtOnce = 16

/** New events with the states before and after each of them. */
const stepsOf = (
  state: SessionState,
  recorded: ReadonlyArray<RecordedEvent>,
  states: States | undefined,
): Steps<ReadonlyArray<EventStep>> => {
  let before = state
  return mapped(recorded, (one) => {
    const after = evolve(before, one, { states })
    const step = { recorded: one, before, after, skipped: false }
    before = after
    return step
  })
}

/** Whether events invalidate earlier commits: then all summary rows are computed again from the log. */
const invalidates = (state: SessionState, recorded: ReadonlyArray<RecordedEvent>): boolean =>
  state.damaged.length > 0 || recorded.some(({ event }) => event._tag === "SummaryInvalidated")

/** The projection changes of events that invalidate no commit. */
const changesOf = (state: SessionState, steps: ReadonlyArray<EventStep>): ReadonlyArray<ProjectionChange> => {
  const rows = rowsOf(summaries, state, steps)
  const described = steps.some(({ recorded }) => recorded.event._tag === "SessionDescribed")
  return [
    ...(rows.length === 0 ? [] : [{ kind: summaries.kind, rows }]),
    ...(described
      ? [{ kind: description.kind, replace: true, rows: rowsOf(description, state, steps) }]
      : []),
  ]
}

/**
 * Makes the access to the sessions of a log.
 *
 * @param log the store
 * @param options `capacity`: how many states to cache, of the most recently used sessions; 1,000 by default
 *
 * @example
 * ```ts
 * import { EventLog, Session } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const sessions = Session.make(yield* EventLog.EventLog)
 *   const { total, coveredTo } = yield* sessions.load("chat-1")
 *   return { total, coveredTo }
 * })
 * ```
 */
export const make = (log: EventLog, { capacity = 1_000 } = {}): Sessions => {
  const cache = makeSessionCache(log, capacity)
  const inTurn = makeTurns()
  const listeners = makeListeners(log)
  const past = makePastStates(log)
  const newest = new NewestMessages()

  const events: Sessions["events"] = (session, options) => eventsIn(log, session, options)

  const whole = atMost(wholeAtOnce)
  const histories = makeHistories(log, events, cache)

  /** The projection changes of events that invalidate commits: all rows, computed again from the log. */
  const changesAnew = (
    state: SessionState,
    recorded: ReadonlyArray<RecordedEvent>,
    steps: ReadonlyArray<EventStep>,
  ): Effect.Effect<ReadonlyArray<ProjectionChange>, SessionError> =>
    retryTransient(
      projectionsOf(
        state.session,
        Stream.concat(events(state.session, { toVersion: state.version }), Stream.fromIterable(recorded)),
      ),
    ).pipe(
      // An event before the snapshot is damaged: only the row of the active summary is known.
      Effect.catchTag("DamagedEvent", () =>
        Effect.succeed([
          { kind: summaries.kind, replace: true, rows: activeRow(steps.at(-1)?.after ?? state) },
        ]),
      ),
      // Earlier snapshots may have the commits in force.
      Effect.map((changes) => [...changes, { kind: earlierSnapshots.kind, replace: true, rows: [] }]),
    )

  /** Appends events to the state that they were decided on. Returns the conflict if another writer was first. */
  const append = (
    { state, batchId: lastBatchId, isFree = false }: Refreshed,
    list: Array.NonEmptyReadonlyArray<Event>,
    states: States | undefined,
    { time, ...batch }: Required<Pick<AppendOptions, "batchId" | "retried">> & { readonly time: number },
  ): Effect.Effect<Omit<Committed<unknown>, "answer"> | VersionConflict, SessionError> =>
    Effect.gen(function* () {
      const { session, version } = state
      const { batchId } = batch
      yield* unlessKept("append", session)
      if (version === 0 && !isFree) yield* notArchived(log, session)
      const timed = yield* timedNow(time, list)
      const recorded = recordedAfter(state, batchId, timed)
      const steps = yield* inSteps(() => stepsOf(state, recorded, states))
      const changes = invalidates(state, recorded)
        ? yield* changesAnew(state, recorded, steps)
        : changesOf(state, steps)
      const appended = yield* log
        .append(session, yield* inSteps(() => encodeBatchSteps(state, batchId, timed)), {
          ...batch,
          expectedVersion: version,
          lastBatchId: lastBatchId ?? undefined,
          projections: changes.length === 0 ? undefined : changes,
        })
        .pipe(Effect.catchTag("VersionConflict", (conflict) => Effect.succeed(conflict)))
      if ("_tag" in appended) return appended
      listeners.tell(session)
      if (appended.duplicate || recorded.some((one) => requiresReplay(state, one, states))) {
        const cached = cache.of(session)
        cached.newest = appended.duplicate ? cached.newest : null
        return { state: (yield* cache.refresh(session)).state, appended }
      }
      const next = { state: steps.at(-1)?.after ?? state, batchId }
      yield* cache.keep(next, list)
      return { state: next.state, appended }
    })

  const transact: Sessions["transact"] = (session, decide, given) =>
    inTurn(
      session,
      Effect.gen(function* () {
        const step = Effect.isEffect(decide) ? yield* decide : decide
        // A caller's id may come again at any version; an id of our own comes again only when the store's answer is lost.
        const batch = {
          batchId: given ?? (yield* makeId),
          retried: given === undefined ? ("in-place" as const) : ("anywhere" as const),
        }
        let before: Refreshed | null = cache.of(session).newest
        for (let [conflicts, isNewest] = [0, false]; ;) {
          if (before === null) {
            before = yield* cache.refresh(session)
            isNewest = true
          }
          const time = yield* Clock.currentTimeMillis
          const { events: list, answer, states } = step(before.state, time)
          if (!Array.isNonEmptyReadonlyArray(list)) {
            if (isNewest) return { answer, state: before.state, appended: null }
            // The log could not say that the cached state is old.
            before = null
            continue
          }
          const done = yield* append(before, list, states, { ...batch, time })
          if (!("_tag" in done)) return { answer, ...done }
          if (++conflicts > mostConflicts) {
            const reason = `no append succeeded in ${mostConflicts} attempts; the last one: ${done.message}`
            return yield* new LogError({ operation: "append", session, reason })
          }
          yield* conflictPause(conflicts)
          before = null
        }
      }),
    )

  return {
    load: (session) => Effect.map(cache.refresh(session), ({ state }) => state),
    cached: (session) => cache.peek(session)?.newest?.state ?? null,
    newest,
    stateAt: past.at,
    stateBack: (now, version) => stateBack(log, events, now, version),
    stateReaching: (now, index, isWanted) => stateReaching(log, events, now, index, isWanted),
    events,
    history: (session) => whole(histories.of(session)),
    summariesAt: (state) => whole(histories.summariesAt(state)),
    timeline: (session) => whole(timelineIn({ events, stateAt: past.at, history: histories.of }, session)),
    transact,
    head: (session) => retryTransient(log.head(session)),
    changes: listeners.changes,
    notifyChange: (session) => {
      // What was erased is in the state, too.
      const cached = cache.peek(session)
      if (cached !== undefined) cached.newest = null
      newest.forget(session)
      past.forget(session)
      listeners.tell(session)
    },
    delete: (session) =>
      inTurn(
        session,
        Effect.tap(Effect.zipRight(unlessKept("delete", session), log.delete(session)), () =>
          Effect.sync(() => {
            cache.forget(session)
            newest.forget(session)
            past.forget(session)
          }),
        ),
      ),
  }
}
