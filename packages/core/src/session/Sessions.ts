/**
 * Sessions as the engine handles them: load a state, decide on events, append them at the version decided on,
 * and decide again when somebody else was faster.
 *
 * States are cached by session. An append trusts the cache, because the log's compare-and-swap corrects it; so
 * it costs one write and no read. Everything that only looks reads on from the cached version first.
 */
import { Clock, Effect, Either, Option, Queue, Schedule, type Scope, Stream } from "effect"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type { Event } from "../event/Event.js"
import { DamagedEvent, decode, encode, eventId, type Recorded } from "../event/EventCodec.js"
import { makeId } from "../event/id.js"
import type {
  Appended,
  LogRecord,
  ReadOptions,
  Service as EventLog,
  VersionConflict,
} from "../log/EventLog.js"
import { LogError } from "../log/EventLog.js"
import { evolve, fold, rewinds, type Voids } from "./evolve.js"
import type { SessionState } from "./SessionState.js"
import { empty } from "./SessionState.js"
import * as Snapshot from "./Snapshot.js"

/** What reading or writing a session can fail with. */
export type SessionError = LogError | DamagedEvent

/** A record in its place. A hole is not passed over: what stood there is not known. */
const decodeAt = (seq: number, record: LogRecord): Either.Either<Recorded, DamagedEvent> => {
  if (record.seq === seq) return decode(record)
  const detail = `it is missing, while event ${record.seq} is there; restore the log from a backup`
  return Either.left(new DamagedEvent({ session: record.session, seq, detail }))
}

/** What a step came to: the events it wants appended (none: nothing happens) and its answer. */
export interface Step<A> {
  readonly events: ReadonlyArray<Event>
  readonly answer: A
}

/** The answer of a step, the state it led to, and where its events stand; `null` when there were none. */
export interface Committed<A> {
  readonly answer: A
  readonly state: SessionState
  readonly appended: Appended | null
}

export interface Sessions {
  /** The newest state of a session. */
  readonly load: (session: string) => Effect.Effect<SessionState, SessionError>
  /** The state as it was at a version; at the newest when that lies beyond it. */
  readonly at: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<Recorded, SessionError>
  /**
   * Runs a step on the state and appends its events in one batch, at that state's version. The step runs again,
   * on a newer state, each time another writer came first; it must not do anything but decide.
   */
  readonly transact: <A>(
    session: string,
    step: (state: SessionState) => Step<A>,
    options?: { readonly commit?: string | undefined },
  ) => Effect.Effect<Committed<A>, SessionError>
  readonly delete: (session: string) => Effect.Effect<boolean, SessionError>
  /** The last sequence number in the log. */
  readonly version: (session: string) => Effect.Effect<number, SessionError>
  /** Says that this process has written to a session by another way. */
  readonly announce: (session: string) => void
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
  readonly commit: string | null
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
export const persistently = <A, E extends { readonly _tag: string }>(
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

  const events = (session: string, options: ReadOptions = {}) =>
    Stream.suspend(() => {
      const step = options.reverse === true ? -1 : 1
      let next = step === 1 ? Math.max(options.from ?? 1, 1) : null
      return log.read(session, options).pipe(
        Stream.mapEffect((record) => {
          const seq = next ?? record.seq
          next = record.seq + step
          return decodeAt(seq, record)
        }),
      )
    })

  /**
   * Folds what comes after a state. It reads from the last event on that is in it: if another one stands there, or
   * none, the session was deleted and perhaps begun anew, and what is known of it is void. So it is when an event
   * takes back what is in the state already.
   */
  const readOn = ({ state, commit }: Known, to?: number): Effect.Effect<Known | null, SessionError> =>
    log.read(state.session, { from: Math.max(state.version, 1), ...(to === undefined ? {} : { to }) }).pipe(
      Stream.runFoldEffect<Known | null, LogRecord, DamagedEvent, never>(
        state.version === 0 ? { state, commit } : null,
        (known, record) => {
          if (record.seq === state.version) {
            const same = commit === null || record.commit === commit
            return Effect.succeed(same ? { state, commit: record.commit } : null)
          }
          if (known === null) return Effect.succeed(null)
          return Effect.map(decodeAt(known.state.version + 1, record), (recorded) =>
            rewinds(known.state, recorded)
              ? null
              : { state: evolve(known.state, recorded), commit: record.commit },
          )
        },
      ),
      persistently,
    )

  /**
   * Folds the whole log: once, and again as long as it takes back what has been applied by then. A long log is read in
   * pages, so that what takes back can come in while it is read: only a pass that finds no more of it than the one
   * before has read everything as it stands now.
   */
  const readAll = (session: string, to?: number): Effect.Effect<Known, SessionError> => {
    const pass = (voids: Voids) =>
      Effect.suspend(() => {
        // All that is declared invalid: with one commit gone, another one may fit that is taken back, too.
        const found = new Set<number>()
        const rewinding = new Set<number>()
        return log.read(session, to === undefined ? {} : { to }).pipe(
          Stream.runFoldEffect<Known, LogRecord, DamagedEvent, never>(
            { state: empty(session), commit: null },
            (known, record) =>
              Effect.map(decodeAt(known.state.version + 1, record), (recorded) => {
                const { event, seq } = recorded
                if (event._tag === "SummaryInvalidated" && event.seq < seq) found.add(event.seq)
                if (rewinds(known.state, recorded)) rewinding.add(seq)
                return { state: evolve(known.state, recorded, voids), commit: record.commit }
              }),
          ),
          Effect.map((known) => ({ known, found, rewinding })),
        )
      }).pipe(persistently)
    const passes = (voids: Voids, seen: ReadonlySet<number>): Effect.Effect<Known, SessionError> =>
      Effect.flatMap(pass(voids), ({ known, found, rewinding }) =>
        [...rewinding].every((seq) => seen.has(seq)) ? Effect.succeed(known) : passes(found, rewinding),
      )
    return passes(new Set(), new Set())
  }

  const unknown = (session: string): Known => ({ state: empty(session), commit: null })

  /** A snapshot that cannot be read costs time, and nothing else. */
  const loadSnapshot = (session: string) =>
    log.loadSnapshot(session).pipe(
      persistently,
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
          Option.map(Snapshot.restore(session, usable), (state): Known => ({ state, commit: usable.commit })),
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

  const append = ({ state, commit: after }: Known, list: NonEmptyReadonlyArray<Event>, commit: string) =>
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const { session } = state
      const [first, ...rest] = list
      const appended = yield* log.append(
        session,
        [{ at, ...encode(first) }, ...rest.map((event) => ({ at, ...encode(event) }))],
        { expected: state.version, after: after ?? undefined, commit },
      )
      changed(session)
      const recorded = list.map((event, position) => {
        const seq = appended.from + position
        return { session, seq, id: eventId({ commit, seq }), at, event }
      })
      return { appended, recorded }
    })

  const transact: Sessions["transact"] = (session, step, options) =>
    Effect.gen(function* () {
      const slot = slotOf(session)
      const commit = options?.commit ?? (yield* makeId)

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
        const { state } = known
        const { events: list, answer } = decided
        const [first, ...rest] = list
        if (first === undefined) return { answer, state, appended: null }
        const { appended, recorded } = yield* append(known, [first, ...rest], commit)
        if (appended.duplicate) return { answer, state: yield* refresh(session, slot), appended }
        if (recorded.some((one) => rewinds(state, one))) {
          slot.known = null
          return { answer, state: yield* refresh(session, slot), appended }
        }
        const after = fold(state, recorded)
        slot.known = { state: after, commit }
        if (list.some(isLandmark)) yield* saveSnapshot(after, commit)
        return { answer, state: after, appended }
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
    at: (session, version) => Effect.map(open(session, version), ({ state }) => state),
    events,
    transact,
    version: (session) => persistently(log.version(session)),
    changes,
    announce: changed,
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
