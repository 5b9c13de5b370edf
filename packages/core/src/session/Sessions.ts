/**
 * Sessions as the engine handles them: load a state, decide on events, append them at the version decided on,
 * and decide again when somebody else was faster.
 *
 * States are cached by session. An append trusts the cache, because the log's compare-and-swap corrects it; so
 * it costs one write and no read. Everything that only looks reads on from the cached version first.
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

/** What reading or writing a session can fail with. */
export type SessionError = LogError | DamagedEvent

/** What a step came to: the events it wants appended (none: nothing happens) and its answer. */
export interface Step<A> {
  readonly events: ReadonlyArray<Event>
  readonly answer: A
}

/** The answer of a step, the state it led to, and where its events stand; `null` when there were none. */
export interface Committed<A> {
  readonly answer: A
  readonly state: SessionState
  readonly appended: AppendResult | null
}

export interface Sessions {
  /** The newest state of a session. */
  readonly load: (session: string) => Effect.Effect<SessionState, SessionError>
  /** The state as it was at a version; at the newest when that lies beyond it. */
  readonly stateAt: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<RecordedEvent, SessionError>
  /** Every summary the session ever had, and the commits that can be taken back. Reads the whole log. */
  readonly history: (session: string) => Effect.Effect<History, SessionError>
  /**
   * Runs a step on the state and appends its events in one batch, at that state's version. The step runs again,
   * on a newer state, each time another writer came first; it must not do anything but decide.
   */
  readonly transact: <A>(
    session: string,
    step: (state: SessionState) => Step<A>,
    options?: { readonly batchId?: string | undefined },
  ) => Effect.Effect<Committed<A>, SessionError>
  readonly delete: (session: string) => Effect.Effect<boolean, SessionError>
  /** The last sequence number in the log. */
  readonly version: (session: string) => Effect.Effect<number, SessionError>
  /** Says that this process has written to a session by another way. */
  readonly notifyChange: (session: string) => void
  /**
   * Tells each time this process has written to a session, and others have where the store hears of it; several writes
   * may be told as one.
   */
  readonly changes: (session: string) => Effect.Effect<Stream.Stream<void>, never, Scope.Scope>
}

/** A state, and the commit of the last event in it: the two together say which log it was folded from. */
interface Known {
  readonly state: SessionState
  /** `null` when nothing has been folded. */
  readonly batchId: string | null
}

interface Slot {
  known: Known | null
  /** One writer at a time within the process: fibers queue here instead of racing each other at the log. */
  readonly turn: Effect.Semaphore
}

/**
 * A conflict means that somebody else got on, so the next try comes at once; when many writers keep getting in
 * between, they are waited out with a little chance in it, so that they do not stay in step.
 */
const conflictPause = Schedule.recurs(3).pipe(
  Schedule.andThen(
    Schedule.exponential("1 millis", 1.5).pipe(
      Schedule.union(Schedule.spaced("50 millis")),
      Schedule.jittered,
    ),
  ),
)

/** So often in a row, others cannot be faster by chance: the log contradicts itself. */
const mostConflicts = 1_000

/**
 * A store that cannot answer now is asked three times (reference design 3). A write keeps its commit id, since the
 * first may have got through and only its answer been lost.
 */
export const retryTransient = <A, E extends { readonly _tag: string }>(
  ask: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.retry(ask, {
    times: 2,
    while: (error) => error._tag === "LogError",
    schedule: Schedule.jittered(Schedule.exponential("50 millis")),
  })

/** After these, a state is as small as it gets: the moment to keep it. */
const isLandmark = (event: Event): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned"

const isConflict = (error: SessionError | VersionConflict): error is VersionConflict =>
  error._tag === "VersionConflict"

/** Handles the sessions of a log, keeping the states of the `capacity` most recently used ones. */
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
   * Folds what comes after a state. It reads from the last event on that is in it: if another one stands there, or
   * none, the session was deleted and perhaps begun anew, and what is known of it is void. So it is when an event
   * takes back what is in the state already.
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

  /** The history of a session up to a version, with more events behind it. */
  const historyWith = (session: string, toVersion: number, more: ReadonlyArray<RecordedEvent>) =>
    retryTransient(
      historyOf(session, () => Stream.concat(events(session, { toVersion }), Stream.fromIterable(more))),
    )

  const unknown = (session: string): Known => ({ state: empty(session), batchId: null })

  /** A snapshot that cannot be read costs time, and nothing else. */
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

  /** A session from its snapshot, if it has one that is of use up to this version, and from its log. */
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
        // A store that cannot tell any more is looked at now and then, as all others are.
        return Stream.merge(
          here,
          Stream.catchAll(log.changes(session), () => Stream.never),
        )
      }),
    )

  /** Whoever reads may be slower than whoever writes: within one log, a state never replaces a newer one. */
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

  const saveSnapshot = (state: SessionState, commit: string) =>
    log
      .saveSnapshot(state.session, Snapshot.take(state, commit))
      .pipe(
        Effect.catchAll((error) =>
          Effect.logWarning("a snapshot was not saved").pipe(
            Effect.annotateLogs({ session: state.session, reason: error.reason }),
          ),
        ),
      )

  /** New events as they will stand in the log, behind a state. */
  const recordedAfter = (
    { session, version }: SessionState,
    list: ReadonlyArray<Event>,
    { batchId, time }: { readonly batchId: string; readonly time: number },
  ): ReadonlyArray<RecordedEvent> =>
    list.map((event, position) => {
      const seq = version + 1 + position
      return { session, version: seq, id: eventId({ batchId, version: seq }), time, event }
    })

  /** Whether events invalidate earlier ones: then all rows are made again from the log. */
  const invalidates = (state: SessionState, recorded: ReadonlyArray<RecordedEvent>): boolean =>
    state.damaged.length > 0 || recorded.some(({ event }) => event._tag === "SummaryInvalidated")

  /** Appends events behind the state they were decided on. The state after them is `null` if it has to be read again. */
  const append = ({ state, batchId: after }: Known, list: ReadonlyArray<Event>, batchId: string) =>
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
            // An event from before the snapshot is damaged: the rows show as much as is known.
            Effect.catchTag("DamagedEvent", () => Effect.succeed(activeRow(folded.state))),
          )
        : folded.changes
      const appended = yield* log.append(session, [first, ...rest], {
        expectedVersion: state.version,
        lastBatchId: after ?? undefined,
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
          // Nothing would be written, so the log could not say that the state is an old one.
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
        Effect.retry({ while: isConflict, schedule: conflictPause, times: mostConflicts }),
        Effect.catchTag("VersionConflict", ({ message }) => {
          const reason = `no append succeeded in ${mostConflicts} tries; at the last one: ${message}`
          return Effect.fail(new LogError({ operation: "append", session, reason }))
        }),
        // What has been sent to the log is answered for, also when the caller is interrupted.
        Effect.uninterruptible,
        slot.turn.withPermits(1),
        // Those who wait get their turn before one who appends in a loop takes it again.
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
