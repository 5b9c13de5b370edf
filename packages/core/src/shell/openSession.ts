/**
 * Reads the state of a session: from its snapshot, if there is a usable one, and from the log after it. Every read of the log
 * checks that it is the log that the state was folded from.
 */
import { Effect, Either, Option } from "effect"
import { batchIdOf, DamagedEvent, decode, type RecordedEvent } from "../event/EventCodec.js"
import { foldRecords, pageSize } from "@memfold/log/pages"
import {
  type LogError,
  type LogPosition,
  type LogRecord,
  type Opened,
  openingOf,
  type ProjectionRow,
  type Service as EventLog,
} from "@memfold/log/EventLog"
import { warn } from "../observe/logs.js"
import { earlierSnapshots, newestFirst } from "../projection/earlierSnapshots.js"
import { readFrom, snapshot, stateIn, type StateInLog } from "../projection/Snapshot.js"
import { evolve, requiresReplay } from "../session/evolve.js"
import { empty, type SessionState } from "../session/SessionState.js"
import { keepTip } from "../session/switchBranch.js"
import { breathe } from "@memfold/log/breathe"
import { decodeAt, readEvents, replay } from "./replay.js"
import { retryTransient } from "./retry.js"

/** The errors of reading or writing a session: the store failed, or a stored event is damaged. */
export type SessionError = LogError | DamagedEvent

/**
 * Whether a session cannot be read however often it is tried: it is damaged, was erased, or is sealed or archived where this process
 * cannot reach. What is done with several sessions goes on without it.
 */
export const isUnreadable = (error: { readonly _tag: string; readonly refused?: unknown }): boolean =>
  error._tag === "DamagedEvent" || error.refused !== undefined

/** Whether a session was erased: its keys are out of use. */
export const isErased = (error: { readonly _tag: string; readonly refused?: unknown }): boolean =>
  error._tag === "LogError" && error.refused === "erased"

/** A state that was read, and the version of the snapshot that it was read from; `null` without one. */
export interface OpenedSession {
  readonly read: StateInLog
  readonly snapshotVersion: number | null
  /** The rows of the active summary, if they were read with it: see {@link Opened}. */
  readonly active?: Opened["active"]
  /** Whether the store has said that a session which does not exist is in no archive. */
  readonly isFree?: boolean
}

/** Whether a record is the commit of the summary that a state shows, readable and with its id. */
const isCommitOf = ({ summary }: SessionState, record: LogRecord): boolean =>
  Either.match(decode(record), {
    onLeft: () => false,
    onRight: ({ event }) => event._tag === "SummaryCommitted" && event.summary === summary?.id,
  })

/** How far a fold has come: `read` is `null` once the state cannot be extended. */
interface Progress {
  readonly read: StateInLog | null
  /** Whether the commit of the summary is readable, or need not be. */
  readonly isSound: boolean
  /** The earlier state that the next event goes back to, and the state before that event. */
  readonly missing: { readonly version: number; readonly before: StateInLog } | null
}

/** The version of the earlier state that an event goes back to; `null` if it does not, or nobody can say how that state counts now. */
const returnsTo = (state: SessionState, { event }: RecordedEvent): number | null =>
  event._tag === "BranchSwitched" && event.version < state.version && event.version >= state.invalidatedAt
    ? event.version
    : null

/** How far a session is read: `visit` is called with each state on the way, and again with those of a part that is read again. */
interface Way {
  readonly toVersion?: number | undefined
  readonly visit?: ((state: SessionState) => void) | undefined
}

/**
 * Folds the events after a state, from the last event of the state on. `null` if the state cannot be extended: that event is
 * missing or has another batch id, because the session was deleted and perhaps started again; or a new event changes what is
 * in the state already. Then the session must be folded from its first event.
 *
 * @param way - `isSnapshot`: the state is from a snapshot, which would hide that its summary is damaged. So the read begins at
 *   the commit of the summary, and the result is also `null` if that cannot be read
 */
export const readOn = (
  log: EventLog,
  from: StateInLog,
  { isSnapshot = false, ...way }: Way & { readonly isSnapshot?: boolean } = {},
): Effect.Effect<StateInLog | null, SessionError> =>
  Effect.gen(function* () {
    const { session, summary } = from.state
    const states = new Map<number, SessionState>()
    let commit = isSnapshot && summary !== null ? summary.version : null
    for (let start = from; ;) {
      const done: Progress = yield* foldOn(log, start, way, commit, states)
      if (!done.isSound) return null
      if (done.missing === null) return done.read
      const { version, before } = done.missing
      const { read } = yield* openSession(log, session, { toVersion: version })
      if (read.state.version !== version) return null
      states.set(version, read.state)
      start = before
      commit = null
    }
  })

/** Folds the events after a state, up to the first event that goes back to a state that is not known. */
const foldOn = (
  log: EventLog,
  { state, batchId }: StateInLog,
  { toVersion = Number.MAX_SAFE_INTEGER, visit }: Way,
  commit: number | null,
  states: Map<number, SessionState>,
): Effect.Effect<Progress, SessionError> => {
  const { session, version } = state
  const step = (before: Progress, record: LogRecord): Either.Either<Progress, DamagedEvent> => {
    const isSound = before.isSound || (record.version === commit && isCommitOf(state, record))
    const { read, missing } = before
    if (record.version < version || missing !== null) return Either.right({ read, missing, isSound })
    if (record.version === version) {
      const isLast = batchId === null || record.batchId === batchId
      return Either.right({ read: isLast ? { state, batchId: record.batchId } : null, missing, isSound })
    }
    if (read === null) return Either.right({ read, missing, isSound })
    return Either.map(decodeAt(read.state.version + 1, record), (recorded) => {
      keepTip(states, read.state, recorded)
      if (!requiresReplay(read.state, recorded, states)) {
        const next = evolve(read.state, recorded, { states })
        visit?.(next)
        return { isSound, missing, read: { state: next, batchId: record.batchId } }
      }
      const back = returnsTo(read.state, recorded)
      return { isSound, read: null, missing: back === null ? null : { version: back, before: read } }
    })
  }
  const start: Progress = {
    read: version === 0 ? { state, batchId } : null,
    isSound: commit === null,
    missing: null,
  }
  const range = { fromVersion: commit === null ? Math.max(version, 1) : readFrom(state), toVersion }
  return retryTransient(foldRecords(log, session, range, start, step, breathe))
}

/** The row of the snapshot. If it cannot be read, the session is folded from its log instead. */
const loadSnapshot = (log: EventLog, session: string): Effect.Effect<ProjectionRow | null> =>
  retryTransient(log.projections.get(session, snapshot.kind)).pipe(
    Effect.map(([row]) => row ?? null),
    Effect.catchAll(({ reason }) =>
      Effect.as(
        warn("a snapshot could not be read; the session is folded from its log", { session, reason }),
        null,
      ),
    ),
  )

/** What the store has of a session: with its first page, where one question answers all. */
type Found = Pick<Opened, "head" | "snapshot"> & Partial<Opened>

/** What the store has of a session, by one question after the other. */
const findInParts = (log: EventLog, session: string): Effect.Effect<Found, LogError> =>
  Effect.flatMap(retryTransient(log.head(session)), (head): Effect.Effect<Found> =>
    head === null
      ? Effect.succeed({ head, snapshot: null })
      : Effect.map(loadSnapshot(log, session), (snapshot) => ({ head, snapshot })),
  )

const find = (log: EventLog, session: string): Effect.Effect<Found, LogError> => {
  const ask = openingOf(log)
  return ask === undefined
    ? findInParts(log, session)
    : Effect.catchAll(ask(session, pageSize), () => findInParts(log, session))
}

/** The log, which does not read its first page again. */
const withPage = (log: EventLog, { snapshot, page }: Found): EventLog => {
  if (page === undefined) return log
  const from = Number(snapshot?.mark ?? 1)
  let isRead = false
  const read: EventLog["read"] = (session, range) => {
    const isKnown = !isRead && range.fromVersion === from && range.limit === pageSize
    isRead = true
    return isKnown ? Effect.succeed(page) : log.read(session, range)
  }
  return { ...log, read }
}

/** The newest of the earlier snapshots up to a version; `null` if there is none, or the store fails. */
const loadEarlier = (log: EventLog, session: string, to: number): Effect.Effect<StateInLog | null> =>
  retryTransient(log.projections.get(session, earlierSnapshots.kind)).pipe(
    Effect.map((rows) => newestFirst(session, rows, ({ version }) => version <= to).next().value ?? null),
    Effect.orElseSucceed(() => null),
  )

/**
 * Folds the log from its first event. The log is read in pages: a redaction that comes in between may have rewritten events
 * that were read already. So it is read again if it has a redaction that was not there when the read began.
 */
const readAll = (log: EventLog, session: string, to: number | undefined, newest: number) =>
  Effect.gen(function* () {
    for (let known = newest; ; known = (yield* retryTransient(log.head(session)))?.version ?? 0) {
      const { state, last, collected } = yield* retryTransient(
        replay(session, () => readEvents(log, session, to === undefined ? {} : { toVersion: to }), {
          start: () => 0,
          step: (redaction, { recorded: { event, version } }) =>
            event._tag === "MessageRedacted" ? version : redaction,
        }),
      )
      if (collected <= known) return { state, batchId: last === null ? null : batchIdOf(last) }
    }
  })

const readState = (
  log: EventLog,
  session: string,
  newest: number,
  row: ProjectionRow | null,
  way: Way,
): Effect.Effect<OpenedSession, SessionError> =>
  Effect.gen(function* () {
    const { toVersion: to } = way
    const stored = row === null ? null : Option.getOrNull(stateIn(session, row))
    const isTooNew = to !== undefined && stored !== null && stored.state.version > to
    const from = isTooNew ? yield* loadEarlier(log, session, to) : stored
    if (from !== null) {
      const read = yield* readOn(log, from, { ...way, isSnapshot: true })
      if (read !== null) return { read, snapshotVersion: from.state.version }
    } else {
      let pages = 0
      const read: EventLog["read"] = (...page) => Effect.tap(log.read(...page), () => void pages++)
      const start = { state: empty(session), batchId: null }
      const folded = yield* readOn({ ...log, read }, start, way)
      // A redaction that came between two pages may have rewritten events that were read already.
      const isSame = pages === 1 || (yield* retryTransient(log.head(session)))?.version === newest
      if (folded !== null && isSame) return { read: folded, snapshotVersion: null }
    }
    return { read: yield* readAll(log, session, to, newest), snapshotVersion: null }
  })

/**
 * The state of a session, now or at a version. It fails if the log ends before the version that the store has for the
 * session: then the log has lost its end.
 */
export const openSession = (
  log: EventLog,
  session: string,
  way: Way = {},
): Effect.Effect<OpenedSession, SessionError> =>
  Effect.gen(function* () {
    const { toVersion: to } = way
    for (let lost: LogPosition | null = null; ;) {
      const found: Found = yield* to === undefined ? find(log, session) : findInParts(log, session)
      const { head, snapshot: row, active = null } = found
      const beside = { active, isFree: found.isMarked === false }
      if (head === null)
        return { read: { state: empty(session), batchId: null }, snapshotVersion: null, ...beside }
      const newest = head.version
      const opened: OpenedSession = yield* readState(withPage(log, found), session, newest, row, way)
      const { version } = opened.read.state
      if (version >= Math.min(newest, to ?? newest)) return { ...opened, ...beside }
      // Another head, or the first one: the session may have been deleted, and begun anew, in between.
      if (lost?.version === newest && lost.batchId === head.batchId) {
        const detail = `it is missing, while the session is at version ${newest}; restore the log from a backup`
        return yield* new DamagedEvent({ session, version: version + 1, detail })
      }
      lost = head
    }
  })
