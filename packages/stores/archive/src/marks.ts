/**
 * The mark of an archived session: a small log in the store, which has the owner and the title of the session. So the sessions of
 * an owner are listed with those that are archived, and the archive is asked for those only: a new session needs no look at it.
 *
 * A mark stands from before its object is written until after its session is back. Whoever finds one looks which of both there is.
 */
import { EventCodec, type Session } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Clock, Effect } from "effect"

const { isReserved, markOf } = EventLog
export const { markedBy } = EventLog

/** What a mark says. */
export interface Mark {
  readonly session: string
  readonly description: Session.SessionState["description"]
  /** When the session was last active, in milliseconds since the epoch: the mark stands there in the list of the owner. */
  readonly updatedTime: number
}

const batchId = "mark"

/** The change of rows that gives a session an owner and a title. */
export const describing = (owner: string | null, title: string | null): EventLog.ProjectionChange => ({
  kind: "description",
  replace: true,
  rows: [{ key: "", data: JSON.stringify({ owner, title }) }],
})

/** Marks a session; one that is marked already stays as it is. */
export const mark = (
  log: EventLog.Service,
  { session, description: { owner, title }, updatedTime }: Mark,
): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    const id = markOf(session)
    const now = yield* Clock.currentTimeMillis
    const event = { _tag: "SessionDescribed" as const, owner, title: title ?? null }
    // The first record has the time of the mark, the last one that of the session.
    const records = EventCodec.encodeBatch({ session: id, version: 0 }, batchId, [
      { time: now, event },
      { time: updatedTime, event },
    ] as const)
    yield* log
      .append(id, records, { expectedVersion: 0, batchId, projections: [describing(owner, title)] })
      .pipe(Effect.catchTag("VersionConflict", () => Effect.void))
  })

/** When a session was marked, in milliseconds since the epoch; `null` if it is not. */
export const markedAt = (
  log: EventLog.Service,
  session: string,
): Effect.Effect<number | null, EventLog.LogError> =>
  Effect.map(
    // As it is stored: also a session that was erased is brought back, and deleted.
    EventLog.storedLog(log).read(markOf(session), EventLog.oneRecord(1)),
    ([first]) => first?.time ?? null,
  )

/** Takes the mark of a session away. */
export const unmark = (log: EventLog.Service, session: string): Effect.Effect<void, EventLog.LogError> =>
  Effect.asVoid(log.delete(markOf(session)))

/** Fails for a session that is held. */
export const unlessHeld = (
  log: EventLog.Service,
  operation: string,
  session: string,
): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    const held = (yield* log.erasure?.held(session) ?? Effect.succeed(null))?.message
    if (held !== undefined)
      return yield* new EventLog.LogError({ operation, session, reason: held, refused: "held" })
  })

/**
 * Fails for the log of a store with an archive behind it: whatever reads there would bring back what is moved, and whatever deletes there
 * would remove it from the archive.
 */
export const checkWithout = (
  log: EventLog.Service,
  session?: string,
): Effect.Effect<void, EventLog.LogError> => {
  const reason =
    "this log has an archive behind it already (withArchive); give the log of the store itself, without its archive"
  return log.archived === true
    ? new EventLog.LogError({ operation: "archive", session, reason })
    : Effect.void
}

/** Fails for a log that stays in the store: one that is held, and what memfold keeps for itself, which nobody brings back. */
export const checkMovable = (
  log: EventLog.Service,
  session: string,
): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    yield* checkWithout(log, session)
    yield* unlessHeld(log, "archive", session)
    const reason = "it is what memfold keeps for itself; archive the sessions of users"
    if (isReserved(session)) return yield* new EventLog.LogError({ operation: "archive", session, reason })
  })
