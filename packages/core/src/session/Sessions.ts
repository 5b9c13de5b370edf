/**
 * Access to sessions: load the state, decide on events, append them at the version of that state, and decide again if
 * another writer was first.
 *
 * States are cached by session. An append trusts the cache, because the log refuses a wrong version; it takes one write
 * and no read. Every read first folds the events after the cached version.
 */
import { Clock, Effect, Option, Queue, Schedule, type Scope, Stream } from "effect"
import type { Event } from "../event/Event.js"
import { batchIdOf, type DamagedEvent, encode, eventId, type RecordedEvent } from "../event/EventCodec.js"
import { makeId } from "../event/id.js"
import type {
  AppendResult,
  LogRecord,
  NewRecord,
  ReadOptions,
  Service as EventLog,
  SummaryChanges,
  VersionConflict,
} from "../log/EventLog.js"
import { LogError } from "../log/EventLog.js"
import { evolve, requiresReplay } from "./evolve.js"
import { decodeAt, readEvents, replay } from "./replay.js"
import type { SessionState } from "./SessionState.js"
import { empty } from "./SessionState.js"
import * as Snapshot from "./Snapshot.js"
import { activeRow, allRows, foldWithRows, type History, historyOf } from "./summaries.js"

/** The errors of reading or writing a session: the store failed, or a stored event is damaged. */
export type SessionError = LogError | DamagedEvent

/** The result of a step: the events to append (nothing is written if there are none), and an answer for the caller. */
export interface Step<A> {
  readonly events: ReadonlyArray<Event>
  readonly answer: A
}

/** The answer of a step, the state after it, and the versions of its events; `null` if it had none. */
export interface Committed<A> {
  readonly answer: A
  readonly state: SessionState
  readonly appended: AppendResult | null
}

/** Reads and writes the sessions of one log. Its methods fail with {@link SessionError}. */
export interface Sessions {
  /** The newest state of a session; the empty state if it does not exist. */
  readonly load: (session: string) => Effect.Effect<SessionState, SessionError>
  /** The state at a version; the newest state if the session has not reached that version. */
  readonly stateAt: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  /** The decoded events of a session, oldest first by default. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<RecordedEvent, SessionError>
  /** All summaries that the session ever had, and the commits that can be reverted. It reads the whole log. */
  readonly history: (session: string) => Effect.Effect<History, SessionError>
  /**
   * Runs a step on the state and appends its events in one batch, at the version of that state. If another writer was
   * first, the step runs again on the newer state: it must be a pure function. `batchId` makes a retry harmless: a batch
   * that is already in the log is not written again.
   */
  readonly transact: <A>(
    session: string,
    step: (state: SessionState) => Step<A>,
    options?: { readonly batchId?: string | undefined },
  ) => Effect.Effect<Committed<A>, SessionError>
  /** Deletes a session; `false` if it does not exist. */
  readonly delete: (session: string) => Effect.Effect<boolean, SessionError>
  /** The version of a session; 0 if it does not exist. */
  readonly version: (session: string) => Effect.Effect<number, SessionError>
  /** Reports that this process has written to a session directly through the log. */
  readonly notifyChange: (session: string) => void
  /**
   * Emits when this process has written to a session, and when other processes have, if the store reports that. It may
   * emit once for several writes.
   */
  readonly changes: (session: string) => Effect.Effect<Stream.Stream<void>, never, Scope.Scope>
}

/** A state and the batch id of its last event. Together they identify the log that it was folded from. */
interface Known {
  readonly state: SessionState
  /** `null` if no event has been folded. */
  readonly batchId: string | null
}

interface Slot {
  known: Known | null
  /** One writer at a time within the process: fibers wait here instead of causing conflicts in the log. */
  readonly turn: Effect.Semaphore
}

/**
 * After a conflict, another writer has made progress: the first three retries come at once. Later ones wait a growing,
 * random time, because many writers compete.
 */
const conflictDelay = Schedule.recurs(3).pipe(
  Schedule.andThen(
    Schedule.exponential("1 millis", 1.5).pipe(
      Schedule.union(Schedule.spaced("50 millis")),
      Schedule.jittered,
    ),
  ),
)

/** More conflicts in a row are no competition between writers: the log contradicts itself. */
const mostConflicts = 1_000

/**
 * Tries an operation on a store up to three times, because many failures are transient. A write keeps its batch id: if
 * the first attempt was written and only its answer was lost, the retry writes nothing.
 */
export const retryTransient = <A, E extends { readonly _tag: string }>(
  ask: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.retry(ask, {
    times: 2,
    while: (error) => error._tag === "LogError",
    schedule: Schedule.jittered(Schedule.exponential("50 millis")),
  })

/** Whether a snapshot is worthwhile after an event: a commit makes the state small. */
const isLandmark = (event: Event): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned"

const isConflict = (error: SessionError | VersionConflict): error is VersionConflict =>
  error._tag === "VersionConflict"

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
  const slots = new Map<string, Slot>()

  /** The slot of a session, moved to the end of the queue for eviction. */
  const slotOf = (session: string): Slot => {
    const slot = slots.get(session) ?? { known: null, turn: Effect.unsafeMakeSemaphore(1) }
    slots.delete(session)
    slots.set(session, slot)
    if (slots.size > capacity) {
      const oldest = slots.keys().next()
      if (!oldest.done) slots.delete(oldest.value)
    }
    return slot
  }

  const events: Sessions["events"] = (session, options) => readEvents(log, session, options)

  /**
   * Folds the events after a state. It reads from the last event of the state on. If that event is missing or belongs to
   * another batch, the session was deleted and perhaps started again: the result is `null`. It is also `null` if a new
   * event changes something that is already in the state. Then the session must be folded from its first event.
   */
  const readOn = ({ state, batchId }: Known, toVersion?: number): Effect.Effect<Known | null, SessionError> =>
    log
      .read(state.session, {
        fromVersion: Math.max(state.version, 1),
        ...(toVersion === undefined ? {} : { toVersion }),
      })
      .pipe(
        Stream.runFoldEffect<Known | null, LogRecord, DamagedEvent, never>(
          state.version === 0 ? { state, batchId } : null,
          (known, record) => {
            if (record.version === state.version) {
              const same = batchId === null || record.batchId === batchId
              return Effect.succeed(same ? { state, batchId: record.batchId } : null)
            }
            if (known === null) return Effect.succeed(null)
            return Effect.map(decodeAt(known.state.version + 1, record), (recorded) =>
              requiresReplay(known.state, recorded)
                ? null
                : { state: evolve(known.state, recorded), batchId: record.batchId },
            )
          },
        ),
        retryTransient,
      )

  const reader = (session: string, most?: number) => (to?: number) => {
    const end = to ?? most
    return events(session, end === undefined ? {} : { toVersion: end })
  }

  /** Folds the log from its first event. */
  const readAll = (session: string, to?: number): Effect.Effect<Known, SessionError> =>
    replay(session, reader(session, to), { start: () => undefined, step: () => undefined }).pipe(
      Effect.map(({ state, last }) => ({ state, batchId: last === null ? null : batchIdOf(last) })),
      retryTransient,
    )

  const history: Sessions["history"] = (session) => retryTransient(historyOf(session, reader(session)))

  /** The history of a session up to a version, followed by more events. */
  const historyWith = (session: string, to: number, more: ReadonlyArray<RecordedEvent>) =>
    retryTransient(
      historyOf(session, () => Stream.concat(events(session, { toVersion: to }), Stream.fromIterable(more))),
    )

  const unknown = (session: string): Known => ({ state: empty(session), batchId: null })

  /** The snapshot of a session. If it cannot be read, the session is folded from its log instead. */
  const loadSnapshot = (session: string) =>
    log.loadSnapshot(session).pipe(
      retryTransient,
      Effect.catchAll((error) =>
        Effect.logWarning("a snapshot could not be read; the session is folded from its log").pipe(
          Effect.annotateLogs({ session, reason: error.reason }),
          Effect.as(Option.none()),
        ),
      ),
    )

  /** The state from the snapshot, if there is a usable one up to the version, and from the log after it. */
  const open = (session: string, to?: number): Effect.Effect<Known, SessionError> =>
    Effect.gen(function* () {
      const snapshot = yield* loadSnapshot(session)
      const restored = Option.filter(snapshot, ({ version }) => to === undefined || version <= to).pipe(
        Option.flatMap((usable) =>
          Option.map(Snapshot.restore(session, usable), (state): Known => ({
            state,
            batchId: usable.batchId,
          })),
        ),
      )
      const known = Option.isSome(restored) ? yield* readOn(restored.value, to) : null
      const opened = known ?? (yield* readAll(session, to))
      if (opened.state.summary !== null) {
        yield* Effect.annotateLogs(Effect.logDebug("a summary was restored"), { session })
      }
      return opened
    })

  const listeners = new Map<string, Set<Queue.Queue<void>>>()

  const changed = (session: string): void => {
    for (const queue of listeners.get(session) ?? []) Queue.unsafeOffer(queue, undefined)
  }

  const changes: Sessions["changes"] = (session) =>
    Effect.acquireRelease(
      Effect.map(Queue.sliding<void>(1), (queue) => {
        listeners.set(session, (listeners.get(session) ?? new Set()).add(queue))
        return queue
      }),
      (queue) =>
        Effect.suspend(() => {
          const others = listeners.get(session)
          others?.delete(queue)
          if (others?.size === 0) listeners.delete(session)
          return Queue.shutdown(queue)
        }),
    ).pipe(
      Effect.map((queue) => {
        const here = Stream.fromQueue(queue)
        if (log.changes === undefined) return here
        // If the store stops reporting changes, subscribers still poll, as they do with other stores.
        return Stream.merge(
          here,
          Stream.catchAll(log.changes(session), () => Stream.never),
        )
      }),
    )

  /** Caches a state. A slow read must not replace a newer state that a writer has cached meanwhile. */
  const remember = (slot: Slot, before: Known | null, known: Known): SessionState => {
    if (slot.known === before || slot.known === null || known.state.version >= slot.known.state.version) {
      slot.known = known
    }
    return known.state
  }

  const refresh = (session: string, slot: Slot) =>
    Effect.gen(function* () {
      const before = slot.known
      const known = before === null ? null : yield* readOn(before)
      return remember(slot, before, known ?? (yield* open(session)))
    })

  const saveSnapshot = (state: SessionState, batchId: string) =>
    log
      .saveSnapshot(state.session, Snapshot.take(state, batchId))
      .pipe(
        Effect.catchAll((error) =>
          Effect.logWarning("a snapshot was not saved").pipe(
            Effect.annotateLogs({ session: state.session, reason: error.reason }),
          ),
        ),
      )

  /** New events as the log will have them after a state. */
  const recordedAfter = (
    { session, version: before }: SessionState,
    list: ReadonlyArray<Event>,
    { batchId, time }: { readonly batchId: string; readonly time: number },
  ): ReadonlyArray<RecordedEvent> =>
    list.map((event, position) => {
      const version = before + 1 + position
      return { session, version, id: eventId({ batchId, version }), time, event }
    })

  /** Whether events invalidate earlier commits: then all summary rows are computed again from the log. */
  const invalidates = (state: SessionState, recorded: ReadonlyArray<RecordedEvent>): boolean =>
    state.damaged.length > 0 || recorded.some(({ event }) => event._tag === "SummaryInvalidated")

  /** Appends events to the state that they were decided on. The `next` state is `null` if it must be read from the log. */
  const append = ({ state, batchId: lastBatchId }: Known, list: ReadonlyArray<Event>, batchId: string) =>
    Effect.gen(function* () {
      const { session } = state
      const time = yield* Clock.currentTimeMillis
      const recorded = recordedAfter(state, list, { batchId, time })
      const [first, ...rest] = list.map((event): NewRecord => ({ time, ...encode(event) }))
      if (first === undefined) return null
      const folded = foldWithRows(state, recorded)
      const summaries: SummaryChanges | undefined = invalidates(state, recorded)
        ? yield* historyWith(session, state.version, recorded).pipe(
            Effect.map(allRows),
            // An event before the snapshot is damaged: only the row of the active summary is known.
            Effect.catchTag("DamagedEvent", () => Effect.succeed(activeRow(folded.state))),
          )
        : folded.changes
      const appended = yield* log.append(session, [first, ...rest], {
        expectedVersion: state.version,
        lastBatchId: lastBatchId ?? undefined,
        batchId,
        ...(summaries === undefined ? {} : { summaries }),
      })
      changed(session)
      return { appended, next: recorded.some((one) => requiresReplay(state, one)) ? null : folded.state }
    })

  const transact: Sessions["transact"] = (session, step, options) =>
    Effect.gen(function* () {
      const slot = slotOf(session)
      const batchId = options?.batchId ?? (yield* makeId)

      const attempt = Effect.gen(function* () {
        const cached = slot.known !== null
        if (!cached) yield* refresh(session, slot)
        let known = slot.known ?? unknown(session)
        let decided = step(known.state)
        if (decided.events.length === 0 && cached) {
          // Nothing is appended, and the log cannot report that the cached state is old.
          yield* refresh(session, slot)
          known = slot.known ?? unknown(session)
          decided = step(known.state)
        }
        const { events: list, answer } = decided
        const written = yield* append(known, list, batchId)
        if (written === null) return { answer, state: known.state, appended: null }
        const { appended, next } = written
        if (appended.duplicate) return { answer, state: yield* refresh(session, slot), appended }
        if (next === null) {
          slot.known = null
          return { answer, state: yield* refresh(session, slot), appended }
        }
        slot.known = { state: next, batchId }
        if (list.some(isLandmark)) yield* saveSnapshot(next, batchId)
        return { answer, state: next, appended }
      }).pipe(Effect.tapErrorTag("VersionConflict", () => refresh(session, slot)))

      return yield* attempt.pipe(
        Effect.retry({ while: isConflict, schedule: conflictDelay, times: mostConflicts }),
        Effect.catchTag("VersionConflict", ({ message }) => {
          const reason = `no append succeeded in ${mostConflicts} attempts; the last one: ${message}`
          return Effect.fail(new LogError({ operation: "append", session, reason }))
        }),
        // An append in progress is finished, even if the caller is interrupted.
        Effect.uninterruptible,
        slot.turn.withPermits(1),
        // Waiting writers go before one that appends in a loop.
        Effect.zipLeft(Effect.yieldNow()),
      )
    })

  return {
    load: (session) => Effect.suspend(() => refresh(session, slotOf(session))),
    stateAt: (session, version) => Effect.map(open(session, version), ({ state }) => state),
    events,
    history,
    transact,
    version: (session) => retryTransient(log.version(session)),
    changes,
    notifyChange: changed,
    delete: (session) =>
      Effect.suspend(() => {
        const slot = slotOf(session)
        return log.delete(session).pipe(
          Effect.tap(() =>
            Effect.sync(() => {
              slot.known = null
              slots.delete(session)
            }),
          ),
          slot.turn.withPermits(1),
        )
      }),
  }
}
