/**
 * Moving a session to an archive and back.
 *
 * There: mark, write the object, read it back and compare, then delete the session if it still ends where it was read. Back: copy,
 * compare, remove the object, take the mark away. A process may be killed between any two of these steps: what is in the store is
 * right, or the mark and the object are there, and whoever opens the session next finishes what was begun.
 */
import { Audit, Session } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Array, Clock, Effect, Option } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { copySession } from "./copy.js"
import { checkMovable, describing, mark, markedAt, unmark } from "./marks.js"
import { sourceOf } from "./Source.js"
import { contentOf, isMoved, nameOfWhole, settle } from "./segments.js"
import {
  keyOf,
  readObject,
  readSession,
  sourceOfStored,
  storedOf,
  type StoredSession,
  writeObject,
} from "./stored.js"

/** How a session was archived: `moved`, or `active` if somebody has spoken meanwhile, so that it stayed in the store. */
export interface Archived {
  readonly session: string
  readonly outcome: "moved" | "active" | "gone"
  readonly events: number
  readonly bytes: number
}

/** How long an archiving process may take for one session. An older mark without an object is of a process that was killed. */
const longestMove = 10 * 60_000

/**
 * Fails if the archive has another session of this id: of a store that uses this archive as well, or of a later time than this store,
 * which came from a backup. The object of an archived session is found by its id alone.
 */
const unlessAnother = (log: EventLog.Service, archive: Archive, stored: StoredSession) =>
  Effect.gen(function* () {
    const { session, records } = stored
    const key = keyOf(session)
    const there = yield* readObject(archive, key, session)
    if (there === null) return
    if (storedOf(session, records.slice(0, there.records.length)).sha256 === there.sha256) return
    // Another process of this store archives it right now.
    if ((yield* markedAt(log, session)) !== null) return
    return yield* new ArchiveError({
      operation: "put",
      about: session,
      reason: `it has another session of this id, which this store did not move there; give each store an archive of its own, such as a folder or a prefix. If this store came from a backup, the object ${key} may be newer than the store`,
    })
  })

/**
 * Moves a session to an archive. It fails if the archive has a session of this id from another store.
 *
 * @param log - the store itself, without an archive behind it
 * @param reason - why: with it, the audit trail of the session has an entry
 *
 * @example
 * ```ts
 * import { archiveSession, folderArchive } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const moved = Effect.flatMap(EventLog.EventLog, (log) =>
 *   archiveSession(log, folderArchive("./cold"), "chat-1"),
 * )
 * ```
 */
export const archiveSession = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  reason?: string,
): Effect.Effect<Archived, EventLog.LogError | ArchiveError | Session.SessionError> =>
  Effect.gen(function* () {
    yield* checkMovable(log, session)
    // Of a session whose way back was cut off, the store has only the beginning: the object must not be written from that.
    yield* restoreSession(log, archive, session)
    const head = yield* log.head(session)
    // Whoever brings it back needs one object alone.
    yield* bringBack(log, archive, session)
    // What is sealed in the store is sealed in the archive.
    const stored = yield* readSession(sourceOf(EventLog.storedLog(log)), session)
    const last = stored.records.at(-1)
    const done = (outcome: Archived["outcome"], bytes = 0) => ({
      session,
      outcome,
      events: stored.records.length,
      bytes,
    })
    if (head === null || last === undefined) return done("gone")
    if (last.version !== head.version || last.batchId !== head.batchId) return done("active")
    yield* unlessAnother(log, archive, stored)
    const { description } = yield* Session.make(log, { capacity: 1 }).load(session)
    const marked = mark(log, { session, description, updatedTime: last.time })
    yield* marked
    const takeBack = Effect.zipRight(archive.remove(keyOf(session)), unmark(log, session))
    const bytes = yield* writeObject(archive, keyOf(session), stored, "the session stays").pipe(
      // What cannot be taken back now, whoever opens the session takes back.
      Effect.tapError(() => Effect.ignore(takeBack)),
    )
    if (reason !== undefined) yield* Audit.note(log, { act: "archive", session, reason })
    if (yield* log.delete(session, head)) {
      // Somebody may have taken an old mark away meanwhile. Without it, nobody would look here.
      if ((yield* log.head(session)) === null) yield* marked
      return done("moved", bytes)
    }
    yield* takeBack
    return done("active")
  })

/** Brings back what the archive has of a session that is in the store; `true` if it had any. */
export const bringBack = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
): Effect.Effect<boolean, EventLog.LogError | ArchiveError> =>
  Effect.map(
    settle(EventLog.storedLog(log), archive, session, () => true),
    (back) => back > 0,
  )

/**
 * A store into which an archived session is copied: its events have the place of their data until the append of the last batch puts all data into
 * their rows. So a session that is cut off on its way back is refused by a process without the archive, as one with segments is.
 */
const comingBack = (store: EventLog.Service, { session, records }: StoredSession): EventLog.Service => {
  const place = { schemaVersion: EventLog.movedSchema, data: JSON.stringify(nameOfWhole(records.length)) }
  return {
    ...store,
    read: (id, page) =>
      Effect.map(store.read(id, page), (rows) =>
        rows.map((row) => (id === session && isMoved(row) ? (records[row.version - 1] ?? row) : row)),
      ),
    append: (id, batch, options) => {
      const { expectedVersion } = options
      if (expectedVersion + batch.length < records.length)
        return store.append(
          id,
          Array.map(batch, (record) => ({ ...record, ...place })),
          options,
        )
      return expectedVersion === 0
        ? store.append(id, batch, options)
        : store.rewrite(id, records.slice(0, expectedVersion).map(contentOf), batch, options)
    },
  }
}

/**
 * Brings a session back if it is archived; `true` if it was.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { folderArchive, restoreSession } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const isBack = Effect.flatMap(EventLog.EventLog, (log) =>
 *   restoreSession(log, folderArchive("./cold"), "chat-1"),
 * )
 * ```
 */
export const restoreSession = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
): Effect.Effect<boolean, EventLog.LogError | ArchiveError> =>
  Effect.gen(function* () {
    const since = yield* markedAt(log, session)
    if (since === null) return false
    const isUnderWay = (yield* Clock.currentTimeMillis) - since < longestMove
    const stored = yield* readObject(archive, keyOf(session), session)
    const head = yield* log.head(session)
    if (stored === null) {
      if (head === null && !isUnderWay)
        return yield* new ArchiveError({
          operation: "restore",
          about: session,
          reason: "the archive has lost it; put the object back from a backup, or delete the session",
        })
      // Not written yet, or the session is back and only the mark was left.
      if (head !== null && !isUnderWay) yield* unmark(log, session)
      return false
    }
    // It is still in the store, and may be about to leave it: see `archiveSession`.
    if (isUnderWay && head !== null && head.version >= stored.records.length) return false
    const store = comingBack(EventLog.storedLog(log), stored)
    // Also where this process has no keys.
    const isSealed =
      log.stored !== undefined || stored.records.some(({ data }) => data.startsWith(EventLog.sealedStart))
    yield* copySession(sourceOfStored(stored), store, session, undefined, { rows: !isSealed }).pipe(
      Effect.catchTag(
        "Diverged",
        ({ version }) =>
          new ArchiveError({
            operation: "restore",
            about: session,
            reason: `the store has another session of this id from event ${version} on`,
          }),
      ),
    )
    if (isSealed) yield* describeAgain(log, session)
    yield* archive.remove(keyOf(session))
    yield* unmark(log, session)
    return true
  })

/** The rows of a sealed session that is back. Of one that cannot be read, or was erased, the owner alone, by the mark: it is listed as before. */
const describeAgain = (log: EventLog.Service, session: string): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    const stored = EventLog.storedLog(log)
    const head = yield* stored.head(session)
    if (head === null) return
    const rows = yield* Effect.option(
      Session.projectionsOf(session, Session.decodeRecords(EventLog.records(log, session))),
    )
    if (Option.isSome(rows)) return yield* log.projections.put(session, head, rows.value)
    const [marked] = yield* stored.projections.get(EventLog.markOf(session), "description")
    const { owner = null } = JSON.parse(marked?.data ?? "{}") as { readonly owner?: string | null }
    yield* stored.projections.put(session, head, [describing(owner, null)])
  }).pipe(
    // Somebody has spoken meanwhile, and has written them.
    Effect.catchTag("VersionConflict", () => Effect.void),
  )

/** Removes a session from the archive for good; `true` if it was there. */
export const eraseArchived = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
): Effect.Effect<boolean, EventLog.LogError | ArchiveError> =>
  Effect.gen(function* () {
    if ((yield* markedAt(log, session)) === null) return false
    yield* archive.remove(keyOf(session))
    yield* unmark(log, session)
    return true
  })
