/** The states that a process knows: read from the log when they are needed, and kept between calls. */
import { Effect, LogLevel } from "effect"
import type { Event } from "../event/Event.js"
import { atMost } from "@memfold/log/atMost"
import type { Service as EventLog } from "@memfold/log/EventLog"
import { logError, warn } from "../observe/logs.js"
import { earlierRow, earlierSnapshots, eventsBetweenSnapshots } from "../projection/earlierSnapshots.js"
import { snapshot, type StateInLog, take } from "../projection/Snapshot.js"
import type { SessionState } from "../session/SessionState.js"
import { openSession, readOn, type SessionError } from "./openSession.js"
import { checkActiveRow } from "./projectionCheck.js"
import { retryTransient } from "./retry.js"
import { messageLength, stateLength } from "./textLength.js"

export interface CachedSession {
  newest: StateInLog | null
  /** About how long its messages are, in UTF-16 code units. */
  length: number
  /** The version of the newest snapshot that was read or stored; `null` if there is none. */
  snapshotVersion: number | null
  /** The versions of the messages that cannot be read, of which this process has told. */
  readonly told: Set<number>
}

/** Whether a snapshot is worthwhile after an event: a commit makes the state small, and a switch is costly to fold again. */
const isLandmark = (event: Event): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned" || event._tag === "BranchSwitched"

/** Whether an event goes back further than to the state before it: a snapshot saves each reader from finding the earlier state. */
const isReturn = (event: Event, { version }: SessionState, count: number): boolean =>
  event._tag === "BranchSwitched" && event.version < version - count

/** About how long the messages of a state are, behind events. What is appended is added: to look at all of them takes longer than an append. */
const lengthAfter = (
  { newest, length }: CachedSession,
  { state }: StateInLog,
  events: ReadonlyArray<Event>,
): number => {
  let added = 0
  for (const event of events) {
    if (event._tag !== "MessageAppended") return stateLength(state)
    added += messageLength(event.message)
  }
  return newest === null ? stateLength(state) : length + added
}

/** A state that the store was asked for, and whether it said that the session is in no archive. */
export interface Refreshed extends StateInLog {
  readonly isFree?: boolean
}

export interface SessionCache {
  /** What is cached of a session, which is now the most recently used session. */
  readonly of: (session: string) => CachedSession
  readonly peek: (session: string) => CachedSession | undefined
  /** The newest state. It asks for the head of the log first: mostly nothing is new. */
  readonly refresh: (session: string) => Effect.Effect<Refreshed, SessionError>
  /** Keeps a state that was just written, and saves a snapshot of it if that is worthwhile. */
  readonly keep: (
    next: StateInLog & { readonly batchId: string },
    events: ReadonlyArray<Event>,
  ) => Effect.Effect<void>
  readonly forget: (session: string) => void
}

/** How long the messages of all cached states are at most, in UTF-16 code units; one state that is longer is kept alone. */
const longest = 2 ** 27

/** How many sessions are opened at a time: the others wait, and hold none of their events. */
const openedAtOnce = 32

/** Makes a cache of the most recently used sessions, at most `capacity`, and fewer where their messages are long. */
export const makeSessionCache = (log: EventLog, capacity: number): SessionCache => {
  const cache = new Map<string, CachedSession>()
  const opening = atMost(openedAtOnce)
  let [hasTold, length] = [false, 0]

  /** Says that a session was opened with its summary: once for people, as thousands may be opened, and then for a search of a fault. */
  const tellRestored = (session: string): Effect.Effect<void> => {
    const level = hasTold ? LogLevel.Debug : LogLevel.Info
    hasTold = true
    return Effect.annotateLogs(Effect.logWithLevel(level, "a summary was restored"), { session })
  }

  const forget = (session: string): void => {
    length -= cache.get(session)?.length ?? 0
    cache.delete(session)
  }

  const cachedOf = (session: string): CachedSession => {
    const cached = cache.get(session) ?? { newest: null, length: 0, snapshotVersion: null, told: new Set() }
    cache.delete(session)
    cache.set(session, cached)
    if (cache.size > capacity) forget(cache.keys().next().value ?? session)
    return cached
  }

  /** Keeps a state, and lets go of those that were used longest ago where all of them are too long. */
  const put = (cached: CachedSession, next: StateInLog, known: number): void => {
    cached.newest = next
    // Whoever still works with one that was let go holds it alone.
    if (cache.get(next.state.session) !== cached) return
    length += known - cached.length
    cached.length = known
    for (const [session, oldest] of cache) {
      if (length <= longest) break
      if (oldest !== cached) forget(session)
    }
  }

  /** One line for each message that cannot be read, and that no repair has set aside, once the session is on a branch with it. */
  const tellUnreadable = (
    { told }: CachedSession,
    { session, unreadable, setAside }: SessionState,
  ): Effect.Effect<void> => {
    const untold = unreadable.filter(({ version }) => !told.has(version) && !setAside.includes(version))
    const line = "a message cannot be read, and the session goes on without it; `memfold verify` says more"
    return Effect.forEach(
      untold,
      ({ index, version }) =>
        Effect.andThen(logError(line, { session, message: index, version }), () => void told.add(version)),
      { discard: true },
    )
  }

  /** Caches a state. A slow read must not replace a newer state that a writer has cached meanwhile. */
  const remember = (
    cached: CachedSession,
    before: StateInLog | null,
    read: StateInLog,
  ): Effect.Effect<StateInLog> => {
    const { newest } = cached
    if (newest === before || newest === null || read.state.version >= newest.state.version)
      put(cached, read, stateLength(read.state))
    return Effect.as(tellUnreadable(cached, read.state), read)
  }

  const openAnew = (session: string, cached: CachedSession): Effect.Effect<Refreshed, SessionError> =>
    Effect.gen(function* () {
      const before = cached.newest
      const { read, snapshotVersion, active, isFree } = yield* openSession(log, session)
      cached.snapshotVersion = snapshotVersion
      if (read.state.summary !== null) yield* tellRestored(session)
      if (before === null) yield* checkActiveRow(log, read.state, active)
      const kept = yield* remember(cached, before, read)
      // Only for who asks now: a session can be archived while its state is cached.
      return isFree === true ? { ...kept, isFree } : kept
    }).pipe(opening)

  const refresh = (session: string): Effect.Effect<Refreshed, SessionError> =>
    Effect.gen(function* () {
      const cached = cachedOf(session)
      const { newest } = cached
      if (newest === null) return yield* openAnew(session, cached)
      const head = yield* retryTransient(log.head(session))
      if (head?.version === newest.state.version && head.batchId === newest.batchId) return newest
      const read = yield* readOn(log, newest)
      return yield* read === null ? openAnew(session, cached) : remember(cached, newest, read)
    })

  const saveSnapshot = (
    cached: CachedSession,
    { state, batchId }: StateInLog & { readonly batchId: string },
    isFar: boolean,
  ) =>
    Effect.gen(function* () {
      const { session, version } = state
      const row = take({ state, batchId })
      if (row !== null)
        yield* log.projections.put(session, { version, batchId }, [
          { kind: snapshot.kind, replace: true, rows: [row] },
          // Near another one, it would take its place.
          ...(isFar ? [{ kind: earlierSnapshots.kind, rows: [earlierRow(row, version)] }] : []),
        ])
      cached.snapshotVersion = version
    }).pipe(
      // Another writer was first: the next commit saves one.
      Effect.catchTag("VersionConflict", () => Effect.void),
      Effect.catchAll(({ reason }) => warn("a snapshot was not saved", { session: state.session, reason })),
    )

  return {
    of: cachedOf,
    peek: (session) => cache.get(session),
    refresh,
    keep: (next, events) =>
      Effect.suspend(() => {
        const cached = cachedOf(next.state.session)
        put(cached, next, lengthAfter(cached, next, events))
        const isFar =
          cached.snapshotVersion === null ||
          next.state.version - cached.snapshotVersion >= eventsBetweenSnapshots
        const isDue =
          (isFar && events.some(isLandmark)) ||
          events.some((event) => isReturn(event, next.state, events.length))
        const told = tellUnreadable(cached, next.state)
        return isDue ? Effect.zipRight(told, saveSnapshot(cached, next, isFar)) : told
      }),
    forget,
  }
}
