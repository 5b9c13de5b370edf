/**
 * Access to sessions: load the state, decide on events, append them at the version of that state, and decide again if
 * another writer was first.
 *
 * States are cached by session. An append trusts the cache, because the log refuses a wrong version; it takes one write
 * and no read. Every read first folds the events after the cached version.
 */
import {
  Array,
  type Duration,
  Effect,
  Either,
  Exit,
  Option,
  Queue,
  Schedule,
  type Scope,
  Stream,
} from "effect"
import type { Event } from "../event/Event.js"
import {
  batchIdOf,
  DamagedEvent,
  encodeBatch,
  recordedAfter,
  type RecordedEvent,
} from "../event/EventCodec.js"
import { withId } from "../event/id.js"
import { nowOf } from "../event/clock.js"
import type {
  AppendOptions,
  AppendResult,
  LogRecord,
  ReadOptions,
  Service as EventLog,
  VersionConflict,
} from "../log/EventLog.js"
import { LogError } from "../log/EventLog.js"
import { foldRecords } from "../log/pages.js"
import { evolve, requiresReplay } from "./evolve.js"
import { decodeAt, readEvents, replay } from "./replay.js"
import type { SessionState } from "./SessionState.js"
import { empty } from "./SessionState.js"
import { retryAfter, retryTransient } from "./retry.js"
import * as Snapshot from "./Snapshot.js"
import { type Restore, type Taken, Turns } from "./Turns.js"
import { checkActiveRow, checkRows, isCommitOf } from "./storedRows.js"
import { activeRow, allRows, foldWithRows, type History, historyOf, type SummaryRecord } from "./summaries.js"

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

/** How events are appended. Without options, they are a batch of their own, with a new id. */
export type TransactOptions = {
  /** Where the caller is in an uninterruptible region: makes the wait for other writers interruptible. */
  readonly restore?: Restore
} & (
  | {
      /** Makes a retry harmless: a batch that is already in the log is not written again. */
      readonly batchId?: string
      readonly sharedWeight?: never
    }
  | {
      readonly batchId?: never
      /** The events may share a batch with those of others that wait for the same session. Their size, in characters. */
      readonly sharedWeight: number
    }
)

/** Reads and writes the sessions of one log. Its methods fail with {@link SessionError}. */
export interface Sessions {
  /** The newest state of a session; the empty state if it does not exist. */
  readonly load: (session: string) => Effect.Effect<SessionState, SessionError>
  /** The state that this process knows, which may not be the newest any more; `null` if it knows none. It reads nothing. */
  readonly cached: (session: string) => SessionState | null
  /** The state at a version; the newest state if the session has not reached that version. */
  readonly stateAt: (session: string, version: number) => Effect.Effect<SessionState, SessionError>
  /** The decoded events of a session, oldest first by default. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<RecordedEvent, SessionError>
  /** All summaries that the session ever had, and the commits that can be reverted. It reads the whole log. */
  readonly history: (session: string) => Effect.Effect<History, SessionError>
  /**
   * Runs a step on the state and appends its events in one batch, at the version of that state. If another writer was
   * first, the step runs again on the newer state: it must be a pure function. Steps run in the order of the calls. `time`
   * is the time of its events, in milliseconds since the epoch.
   */
  readonly transact: <A>(
    session: string,
    step: (state: SessionState, time: number) => Step<A>,
    options?: TransactOptions,
  ) => Effect.Effect<Committed<A>, SessionError>
  /** Deletes a session; `false` if it does not exist. */
  readonly delete: (session: string) => Effect.Effect<boolean, SessionError>
  /** The version of a session; 0 if it does not exist. */
  readonly version: (session: string) => Effect.Effect<number, SessionError>
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

/** A state and the batch id of its last event. Together they identify the log that it was folded from. */
interface Known {
  readonly state: SessionState
  /** `null` if no event has been folded. */
  readonly batchId: string | null
}

interface Slot {
  known: Known | null
  /** The version of the newest snapshot that was read, or given to the store; `null` if there is none. */
  snapshot: number | null
}

/** The id of a batch, and which retries find it. */
type Batch = Required<Pick<AppendOptions, "batchId" | "retried">>

/**
 * Goes on with the batch of a step, which has a new id where none is given. Only the store sends one with a new id again
 * when an answer is lost, and then expects the same version. After a conflict, the same id is used at another version: a
 * conflict says that nothing was written.
 */
const withBatch = <A, E>(
  given: string | undefined,
  use: (batch: Batch) => Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  given === undefined
    ? withId((batchId) => use({ batchId, retried: "in-place" }))
    : Effect.suspend(() => use({ batchId: given, retried: "anywhere" }))

/** Decides on the events to append. It may run again after a conflict, and keeps the answer for its caller. */
interface Job {
  readonly decide: (state: SessionState, time: number) => ReadonlyArray<Event>
}

/** The state after the jobs of a batch, and the versions of their events. */
interface Applied extends Omit<Committed<unknown>, "answer"> {
  /** Saves a snapshot of the state, if it is worth one. Other writers need not wait for that. */
  readonly snapshot?: Effect.Effect<void>
}

/** A job that may be done together with others, and how that ended. */
interface SharedJob extends Job {
  readonly weight: number
  exit: Exit.Exit<Applied, SessionError> | null
}

/** The most jobs in a batch, and the most weight of several: a store must not choke on it, nor readers wait for long. */
const mostTogether = { jobs: 1_000, weight: 1_000_000 }

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

/** Whether a snapshot is worthwhile after an event: a commit makes the state small. */
const isLandmark = (event: Event): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned"

/**
 * A snapshot is as large as the uncovered messages, and to read this many events costs less than to write one. So many have to
 * come after a snapshot before another one is saved.
 */
const eventsBetweenSnapshots = 32

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
    const slot = slots.get(session) ?? { known: null, snapshot: null }
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
   *
   * With `checked`, the state is of a snapshot: the read begins at the commit of its summary, and the result is `null` if
   * the commit is damaged.
   */
  const readOn = (
    known: Known,
    toVersion?: number,
    options: { readonly checked?: boolean } = {},
  ): Effect.Effect<Known | null, SessionError> => {
    if (
      log.head === undefined ||
      known.batchId === null ||
      toVersion !== undefined ||
      options.checked === true
    )
      return readRecords(known, toVersion, options)
    return Effect.flatMap(retryTransient(log.head(known.state.session)), (head) =>
      head?.version === known.state.version && head.batchId === known.batchId
        ? Effect.succeed(known)
        : readRecords(known),
    )
  }

  const readRecords = (
    { state, batchId }: Known,
    toVersion?: number,
    { checked = false }: { readonly checked?: boolean } = {},
  ): Effect.Effect<Known | null, SessionError> => {
    const commit = checked ? (state.summary?.version ?? state.version) : state.version
    let intact = !checked || state.summary === null
    const step = (known: Known | null, record: LogRecord): Either.Either<Known | null, DamagedEvent> => {
      if (!intact && record.version === commit) intact = isCommitOf(state, record)
      if (record.version < state.version) return Either.right(known)
      if (record.version === state.version) {
        const same = batchId === null || record.batchId === batchId
        return Either.right(same ? { state, batchId: record.batchId } : null)
      }
      if (known === null) return Either.right(null)
      return Either.map(decodeAt(known.state.version + 1, record), (recorded) =>
        requiresReplay(known.state, recorded)
          ? null
          : { state: evolve(known.state, recorded), batchId: record.batchId },
      )
    }
    const records = log.read(state.session, {
      fromVersion: Math.max(commit, 1),
      ...(toVersion === undefined ? {} : { toVersion }),
    })
    return foldRecords(records, state.version === 0 ? { state, batchId } : null, step).pipe(
      Effect.map((known) => (intact ? known : null)),
      retryTransient,
    )
  }

  const reader = (session: string, most?: number) => (to?: number) => {
    const end = to ?? most
    return events(session, end === undefined ? {} : { toVersion: end })
  }

  /**
   * Folds the log from its first event. Stores read in pages: a redaction that comes in between may have rewritten events
   * that were read already. So it reads again if it finds a redaction that was not there when it began.
   *
   * @param version the version of the session, if it was asked for just now
   */
  const readAll = (session: string, to?: number, version?: number): Effect.Effect<Known, SessionError> =>
    Effect.gen(function* () {
      for (let known = version; ; known = undefined) {
        const newest = known ?? (yield* retryTransient(log.version(session)))
        const { state, last, collected } = yield* retryTransient(
          replay(session, reader(session, to), {
            start: () => 0,
            step: (redaction, { event, version }) => (event._tag === "MessageRedacted" ? version : redaction),
          }),
        )
        if (collected <= newest) return { state, batchId: last === null ? null : batchIdOf(last) }
      }
    })

  const history: Sessions["history"] = (session) =>
    retryTransient(historyOf(session, reader(session))).pipe(
      Effect.tap((found) => checkRows(log, session, found)),
      Effect.tap(({ summaries }) =>
        Effect.sync(() => {
          // A summary that was damaged since this process read it is not shown any more, as after a restart.
          const slot = slots.get(session)
          const shown = slot?.known?.state.summary?.version
          const isInvalid = ({ version, status }: SummaryRecord) => version === shown && status === "invalid"
          if (slot !== undefined && summaries.some(isInvalid)) slot.known = null
        }),
      ),
    )

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
  const readState = (session: string, to?: number, version?: number): Effect.Effect<Known, SessionError> =>
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
      // A snapshot would hide that the summary in the log is damaged.
      const known = Option.isSome(restored) ? yield* readOn(restored.value, to, { checked: true }) : null
      const slot = slots.get(session)
      if (slot !== undefined && to === undefined)
        slot.snapshot = known === null ? null : (Option.getOrNull(snapshot)?.version ?? null)
      return known ?? (yield* readAll(session, to, version))
    })

  /**
   * The state of a session that this process does not know, now or at a version. It fails if the log ends before the version
   * that the store has for the session: then it has lost its end.
   */
  const open = (session: string, to?: number): Effect.Effect<Known, SessionError> =>
    Effect.gen(function* () {
      for (let lost: number | null = null; ;) {
        const newest = to === undefined ? yield* retryTransient(log.version(session)) : undefined
        const opened = yield* readState(session, to, newest)
        const { version, summary } = opened.state
        if (newest === undefined || version >= newest) {
          if (summary !== null)
            yield* Effect.annotateLogs(Effect.logDebug("a summary was restored"), { session })
          return opened
        }
        // The first time, the session may have been deleted, and begun anew, in between.
        if (lost === newest) {
          const detail = `it is missing, while the session is at version ${newest}; restore the log from a backup`
          return yield* new DamagedEvent({ session, version: version + 1, detail })
        }
        lost = newest
      }
    })

  const listeners = new Map<string, Set<Queue.Queue<void>>>()

  const changed = (session: string): void => {
    for (const queue of listeners.get(session) ?? []) Queue.unsafeOffer(queue, undefined)
  }

  const changes: Sessions["changes"] = (session, pollInterval) =>
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
        const ticks = Stream.tick(pollInterval)
        if (log.changes === undefined) return Stream.merge(here, ticks)
        // If the store stops reporting changes, subscribers poll, as they do with other stores.
        return Stream.merge(
          here,
          Stream.catchAll(log.changes(session), () => ticks),
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

  const refresh = (session: string, slot: Slot): Effect.Effect<SessionState, SessionError> => {
    const before = slot.known
    const opened = Effect.flatMap(
      Effect.suspend(() => open(session)),
      (known) => {
        const state = remember(slot, before, known)
        return before === null ? Effect.as(checkActiveRow(log, state), state) : Effect.succeed(state)
      },
    )
    if (before === null) return opened
    return Effect.flatMap(readOn(before), (known) =>
      known === null ? opened : Effect.succeed(remember(slot, before, known)),
    )
  }

  const saveSnapshot = (slot: Slot, state: SessionState, batchId: string) =>
    Effect.suspend(() => log.saveSnapshot(state.session, Snapshot.take(state, batchId))).pipe(
      Effect.map(() => {
        slot.snapshot = state.version
      }),
      Effect.catchAll((error) =>
        Effect.logWarning("a snapshot was not saved").pipe(
          Effect.annotateLogs({ session: state.session, reason: error.reason }),
        ),
      ),
    )

  /** Whether events invalidate earlier commits: then all summary rows are computed again from the log. */
  const invalidates = (state: SessionState, recorded: ReadonlyArray<RecordedEvent>): boolean =>
    state.damaged.length > 0 || recorded.some(({ event }) => event._tag === "SummaryInvalidated")

  /**
   * Appends events to the state that they were decided on, and goes on with the result. The `next` state is `null` if it
   * must be read from the log.
   */
  const append = <A, E>(
    { state, batchId: lastBatchId }: Known,
    list: Array.NonEmptyReadonlyArray<Event>,
    { batchId, retried, time }: Batch & { readonly time: number },
    goOn: (appended: AppendResult, next: SessionState | null) => Effect.Effect<A, E>,
    onConflict: (conflict: VersionConflict) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | SessionError> => {
    const { session } = state
    const timed = Array.map(list, (event) => ({ time, event }))
    const records = encodeBatch(state, batchId, timed)
    const recorded = recordedAfter(state, batchId, timed)
    const stored = ({ next, summaries }: ReturnType<typeof foldWithRows>) =>
      Effect.matchEffect(
        log.append(session, records, {
          expectedVersion: state.version,
          lastBatchId: lastBatchId ?? undefined,
          batchId,
          retried,
          summaries,
          description: recorded.some(({ event }) => event._tag === "SessionDescribed")
            ? next.description
            : undefined,
        }),
        {
          onFailure: (error): Effect.Effect<A, E | SessionError> =>
            error._tag === "VersionConflict" ? onConflict(error) : Effect.fail(error),
          onSuccess: (appended) => {
            changed(session)
            return goOn(appended, recorded.some((one) => requiresReplay(state, one)) ? null : next)
          },
        },
      )
    return invalidates(state, recorded)
      ? Effect.flatMap(replacedRows(state, recorded), stored)
      : stored(foldWithRows(state, recorded))
  }

  /** The state after events that invalidate commits, and all summary rows, computed again from the log. */
  const replacedRows = (state: SessionState, recorded: ReadonlyArray<RecordedEvent>) => {
    const next = recorded.reduce((before, one) => evolve(before, one), state)
    return historyWith(state.session, state.version, recorded).pipe(
      Effect.map(allRows),
      // An event before the snapshot is damaged: only the row of the active summary is known.
      Effect.catchTag("DamagedEvent", () => Effect.succeed(activeRow(next))),
      Effect.map((summaries) => ({ next, summaries })),
    )
  }

  /** Runs jobs on the newest state, one after the other, and appends all their events in one batch. */
  const commit = (
    session: string,
    { batchId, retried }: Batch,
    jobs: ReadonlyArray<Job>,
  ): Effect.Effect<Applied, SessionError> => {
    const slot = slotOf(session)

    const decide = (known: Known, time: number): ReadonlyArray<Event> => {
      const all: Array<Event> = []
      let { state } = known
      for (const [position, job] of jobs.entries()) {
        const list = job.decide(state, time)
        all.push(...list)
        // The next job is decided on the state after this one.
        if (position === jobs.length - 1) break
        const timed = list.map((event) => ({ time, event }))
        for (const recorded of recordedAfter(state, batchId, timed)) state = evolve(state, recorded)
      }
      return all
    }

    const refreshed = Effect.suspend(() => refresh(session, slot))

    /** Decides on the cached state, and on the newest one if it is not cached or nothing is to be appended. */
    const attempt = <E>(
      isNewest: boolean,
      onConflict: (conflict: VersionConflict) => Effect.Effect<Applied, E>,
    ): Effect.Effect<Applied, SessionError | E> =>
      Effect.withFiberRuntime((fiber) => {
        if (slot.known === null && !isNewest) return Effect.zipRight(refreshed, attempt(true, onConflict))
        const known = slot.known ?? unknown(session)
        const time = nowOf(fiber)
        const list = decide(known, time)
        if (!Array.isNonEmptyReadonlyArray(list))
          // The log cannot report that the cached state is old.
          return isNewest
            ? Effect.succeed({ state: known.state, appended: null })
            : Effect.zipRight(refreshed, attempt(true, onConflict))
        const goOn = (appended: AppendResult, next: SessionState | null) => {
          if (next === null) slot.known = null
          if (appended.duplicate || next === null)
            return Effect.map(refreshed, (state): Applied => ({ state, appended }))
          slot.known = { state: next, batchId }
          const isFar = slot.snapshot === null || next.version - slot.snapshot >= eventsBetweenSnapshots
          const applied: Applied = { state: next, appended }
          return Effect.succeed(
            isFar && list.some(isLandmark)
              ? { ...applied, snapshot: saveSnapshot(slot, next, batchId) }
              : applied,
          )
        }
        return append<Applied, SessionError | E>(known, list, { batchId, retried, time }, goOn, onConflict)
      })

    const tried = attempt(false, (conflict) => Effect.zipRight(refreshed, Effect.fail(conflict)))
    const tryAgain = (conflict: VersionConflict) =>
      retryAfter<Applied, SessionError | VersionConflict>(conflict, tried, {
        while: isConflict,
        schedule: conflictDelay,
        times: mostConflicts,
      }).pipe(
        Effect.catchTag("VersionConflict", ({ message }) => {
          const reason = `no append succeeded in ${mostConflicts} attempts; the last one: ${message}`
          return Effect.fail(new LogError({ operation: "append", session, reason }))
        }),
      )
    return attempt(false, (conflict) => Effect.zipRight(refreshed, tryAgain(conflict)))
  }

  const turns = new Turns<SharedJob>()

  /** Does a job together with those that wait right behind it, in one batch. */
  const commitTogether = (
    session: string,
    batch: Batch,
    job: SharedJob,
    take: (wanted: (other: SharedJob) => boolean) => Taken<SharedJob>,
  ): Effect.Effect<Applied, SessionError> => {
    let count = 1
    let { weight } = job
    const others = take((other) => {
      count++
      weight += other.weight
      return count <= mostTogether.jobs && weight <= mostTogether.weight
    })
    if (others.jobs.length === 0) return commit(session, batch, [job])
    return Effect.exit(commit(session, batch, [job, ...others.jobs])).pipe(
      Effect.flatMap((exit) => {
        for (const other of others.jobs) other.exit = exit
        others.done()
        return exit
      }),
    )
  }

  const transact = <A>(
    session: string,
    step: (state: SessionState, time: number) => Step<A>,
    options?: TransactOptions,
  ): Effect.Effect<Committed<A>, SessionError> =>
    withBatch(options?.batchId, (batch) => {
      let answer: Exit.Exit<A> | null = null
      /** A step that throws has no events. Its defect is its caller's alone. */
      const decide: Job["decide"] = (state, time) => {
        try {
          const decided = step(state, time)
          answer = Exit.succeed(decided.answer)
          return decided.events
        } catch (defect) {
          answer = Exit.die(defect)
          return []
        }
      }
      const weight = options?.sharedWeight
      const job: SharedJob = { decide, weight: weight ?? 0, exit: null }
      const committed =
        weight === undefined
          ? turns.alone(
              session,
              Effect.suspend(() => commit(session, batch, [job])),
              options?.restore,
            )
          : turns.together(
              session,
              job,
              (take) => commitTogether(session, batch, job, take),
              Effect.suspend(() => job.exit ?? Effect.interrupt),
              options?.restore,
            )
      return Effect.flatMap(committed, ({ state, appended, snapshot }) => {
        const done = Exit.map(answer ?? Exit.die("a commit ended without its answer"), (answer) => ({
          answer,
          state,
          appended,
        }))
        return snapshot === undefined ? done : Effect.zipRight(snapshot, done)
      })
    })

  return {
    load: (session) => Effect.suspend(() => refresh(session, slotOf(session))),
    cached: (session) => slots.get(session)?.known?.state ?? null,
    stateAt: (session, version) => Effect.map(open(session, version), ({ state }) => state),
    events,
    history,
    transact,
    version: (session) => retryTransient(log.version(session)),
    changes,
    notifyChange: changed,
    delete: (session) =>
      turns.alone(
        session,
        Effect.suspend(() => {
          const slot = slotOf(session)
          return log.delete(session).pipe(
            Effect.tap(() =>
              Effect.sync(() => {
                slot.known = null
                slots.delete(session)
              }),
            ),
          )
        }),
      ),
  }
}
