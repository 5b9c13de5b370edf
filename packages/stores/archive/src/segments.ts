/**
 * Old parts of live sessions: the data of early records in objects of an archive, while their rows stay in the store and say where.
 *
 * There: note the object, write it, read it back and compare, then put its place in the stead of the data, all or nothing, if the
 * session still ends where it did. Back: the data in the stead of the place, then remove the object. A process may be killed between any
 * two of these steps. What a row says is right at each of them, and the note leads to objects that nobody reads.
 */
import { Session } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Cache, Clock, Duration, Effect, Either, Exit, Random, Stream } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { encode, keyOf, readObject, storedOf } from "./stored.js"

type Records = ReadonlyArray<EventLog.LogRecord>

/** A segment: its name, and its first and its last version. */
interface Segment {
  readonly session: string
  readonly name: string
  readonly from: number
  readonly to: number
}

/** A segment that was noted, and the head behind which nobody can put it into the rows any more. */
interface Noted extends Segment {
  readonly at: EventLog.LogPosition
}

/** How often something begins again: a read whose object went away, so that its records are in the store, or what others were faster with. */
const mostAgain = 4

/** How many segments a process keeps, and for how long: pages of a history follow one another. */
const kept = { capacity: 8, time: Duration.minutes(5) }

/** The most characters of data in a segment: it is read as a whole. */
const mostCharacters = 4_000_000

const notePrefix = "memfold:segments:"

/** The session whose segments a log notes; `null` for another log. */
export const notedBy = (id: string): string | null =>
  id.startsWith(notePrefix) ? id.slice(notePrefix.length) : null

const noteOf = (session: string): string => `${notePrefix}${session}`

const segmentOf = (session: string, name: string): Segment => {
  const [from, to] = name.split("-").map(Number)
  return { session, name, from: from!, to: to! }
}

const keyOfSegment = ({ session, name }: Segment): string => keyOf(session, name)

const isMoved = ({ schemaVersion }: EventLog.LogRecord): boolean => schemaVersion === EventLog.movedSchema

const placeOf = ({ session, data }: EventLog.LogRecord): Segment =>
  segmentOf(session, JSON.parse(data) as string)

/** An error of an archive as an error of the log in front of it. */
export const asLogError =
  (operation: string, session?: string) =>
  <E>(error: E | ArchiveError): Exclude<E, ArchiveError> | EventLog.LogError =>
    error instanceof ArchiveError
      ? new EventLog.LogError({
          operation,
          ...(session === undefined ? {} : { session }),
          reason: error.message,
        })
      : (error as Exclude<E, ArchiveError>)

/** The records of a segment; fails if the archive does not have them as they were. */
const fetch = (archive: Archive, segment: Segment) =>
  Effect.gen(function* () {
    const { session, name, from, to } = segment
    const found = yield* readObject(archive, keyOfSegment(segment), session)
    const reason =
      found === null
        ? `the archive has lost its events ${from} to ${to}; put the object ${keyOfSegment(segment)} back from a backup, or delete the session`
        : found.records[0]?.version !== from || found.records.length !== to - from + 1
          ? `the object of its segment ${name} has other events`
          : null
    if (reason !== null || found === null)
      return yield* new ArchiveError({ operation: "get", about: session, reason: reason ?? "" })
    return found.records
  })

/** The record that a row stands for. */
const broughtBack = (row: EventLog.LogRecord, segment: Segment, records: Records) => {
  const record = records[row.version - segment.from]
  if (record?.batchId === row.batchId && record.checksum === row.checksum) return Either.right(record)
  const reason = `event ${row.version} in the object ${keyOfSegment(segment)} is not the one that was moved`
  return Either.left(new ArchiveError({ operation: "get", about: segment.session, reason }))
}

/** The rows of a range as the store has them. */
const rowsIn = (log: EventLog.Service, session: string, fromVersion: number, toVersion: number) =>
  log.read(session, {
    fromVersion,
    toVersion,
    reverse: false,
    limit: Math.max(toVersion - fromVersion + 1, 1),
  })

/** The segments that are noted for a session, and the position of the last note. */
const notesOf = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, noteOf(session))), (records) =>
    [...records].map(({ version, batchId, data }): { noted: Noted; last: EventLog.LogPosition } => {
      const { at } = JSON.parse(data) as { readonly at: EventLog.LogPosition }
      return { noted: { ...segmentOf(session, batchId), at }, last: { version, batchId } }
    }),
  )

/** Notes a segment before its object is written: what a killed process has left is found by it. */
const note = (log: EventLog.Service, { session, name, at }: Noted) =>
  Effect.gen(function* () {
    const time = yield* Clock.currentTimeMillis
    const head = yield* log.head(noteOf(session))
    const data = JSON.stringify({ at })
    return yield* log.append(noteOf(session), [{ time, type: "SegmentNoted", schemaVersion: 1, data }], {
      expectedVersion: head?.version ?? 0,
      lastBatchId: head?.batchId,
      batchId: name,
    })
  }).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "VersionConflict" }),
    Effect.catchTag("VersionConflict", Effect.die),
  )

const contentOf = ({
  version,
  schemaVersion,
  data,
  checksum,
}: EventLog.LogRecord): EventLog.RewrittenRecord => ({
  version,
  schemaVersion,
  data,
  ...(checksum === undefined ? {} : { checksum }),
})

const notReplaced = (session: string) =>
  new EventLog.LogError({
    operation: "replace",
    session,
    reason: "this store cannot keep parts of a session in an archive; archive whole sessions",
  })

/** Puts data into the rows of a session at its head. */
const replace = (
  log: EventLog.Service,
  session: string,
  replaced: ReadonlyArray<EventLog.RewrittenRecord>,
  at: EventLog.LogPosition,
): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> =>
  log.replace?.(session, replaced, at) ?? notReplaced(session)

/**
 * Brings segments of a session back that are wanted, or of which a rewrite has replaced a record, and removes objects that nobody reads: of a
 * process that was killed, or of a session that was deleted. Returns how many segments came back.
 *
 * @param log - the store itself, below what seals
 */
export const release = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  isWanted: (segment: Segment) => boolean,
): Effect.Effect<number, EventLog.LogError | EventLog.VersionConflict | ArchiveError> =>
  Effect.gen(function* () {
    const notes = yield* notesOf(log, session)
    const last = notes.at(-1)?.last
    if (last === undefined) return 0
    // Read before the rows: behind another head, nobody can put the place of a segment into them any more.
    const head = yield* log.head(session)
    let [isInUse, back] = [false, 0]
    for (const { noted } of notes) {
      const rows = (yield* rowsIn(log, session, noted.from, noted.to)).filter(
        (row) => isMoved(row) && placeOf(row).name === noted.name,
      )
      const isWhole = rows.length === noted.to - noted.from + 1 && !isWanted(noted)
      const isPending =
        rows.length === 0 && head?.version === noted.at.version && head.batchId === noted.at.batchId
      if (isWhole || isPending) {
        isInUse = true
        continue
      }
      if (rows.length > 0 && head !== null) {
        const records = yield* fetch(archive, noted)
        const whole = yield* Effect.forEach(rows, (row) => broughtBack(row, noted, records))
        yield* replace(log, session, whole.map(contentOf), head)
        back += 1
      }
      yield* archive.remove(keyOfSegment(noted))
    }
    if (!isInUse) yield* log.delete(noteOf(session), last)
    return back
  })

/** {@link release}, again while others write to the session. */
export const settle = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  isWanted: (segment: Segment) => boolean = () => false,
): Effect.Effect<number, EventLog.LogError | ArchiveError> =>
  release(log, archive, session, isWanted).pipe(
    Effect.retry({ times: mostAgain, while: ({ _tag }) => _tag === "VersionConflict" }),
    Effect.catchTag(
      "VersionConflict",
      ({ message }) => new EventLog.LogError({ operation: "restore", session, reason: message }),
    ),
  )

/** Moves the records of a block; `false` if somebody has spoken meanwhile. */
const moveBlock = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  records: Records,
  at: EventLog.LogPosition,
) =>
  Effect.gen(function* () {
    const nonce = (yield* Random.nextIntBetween(0, 2 ** 40)).toString(36)
    const name = `${records[0]!.version}-${records.at(-1)!.version}-${nonce}`
    const segment = { ...segmentOf(session, name), at }
    const stored = storedOf(session, records)
    const bytes = yield* encode(stored)
    yield* note(log, segment)
    const moved = archive.put(keyOfSegment(segment), bytes).pipe(
      Effect.zipRight(readObject(archive, keyOfSegment(segment), session)),
      Effect.filterOrFail(
        (there) => there?.sha256 === stored.sha256,
        () =>
          new ArchiveError({
            operation: "put",
            about: session,
            reason: "what it gives back is not what was written; the events stay in the store",
          }),
      ),
      Effect.zipRight(
        replace(
          log,
          session,
          records.map((record) =>
            contentOf({ ...record, schemaVersion: EventLog.movedSchema, data: JSON.stringify(name) }),
          ),
          at,
        ),
      ),
    )
    return yield* moved.pipe(
      Effect.as(bytes.length),
      // No row has its place. Of a store that has not answered, nobody knows that.
      Effect.catchTag("ArchiveError", (error) =>
        Effect.gen(function* () {
          yield* Effect.ignore(archive.remove(keyOfSegment(segment)))
          const now = yield* log.head(session)
          // Behind another head, others take away what they find of it.
          return now?.version === at.version && now.batchId === at.batchId ? yield* error : null
        }),
      ),
      Effect.catchTag("VersionConflict", () =>
        Effect.as(Effect.ignore(release(log, archive, session, () => false)), null),
      ),
    )
  })

/** What was moved of a session: `active` if somebody has spoken meanwhile, so that the rest stays for the next time. */
export interface Moved {
  readonly outcome: "moved" | "active" | "none"
  readonly segments: number
  readonly events: number
  readonly bytes: number
}

/**
 * Moves the records of a session up to a version, in segments of a size. A last one that would be smaller stays.
 *
 * @param log - the store itself, below what seals
 * @param dryRun - only count what would be moved
 */
export const moveUpTo = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  {
    until,
    size,
    dryRun = false,
  }: { readonly until: number; readonly size: number; readonly dryRun?: boolean },
): Effect.Effect<Moved, EventLog.LogError | ArchiveError> =>
  Effect.gen(function* () {
    let done: Moved = { outcome: "none", segments: 0, events: 0, bytes: 0 }
    const head = yield* log.head(session)
    if (head === null) return done
    if (!dryRun) yield* Effect.ignore(release(log, archive, session, () => false))
    for (let from = 1; from <= Math.min(until, head.version);) {
      const rows = yield* rowsIn(log, session, from, Math.min(from + size - 1, until))
      const [first] = rows
      if (first?.version !== from) break
      if (isMoved(first)) {
        from = placeOf(first).to + 1
        continue
      }
      let characters = 0
      const end = rows.findIndex(
        (row, at) =>
          isMoved(row) || row.version !== from + at || (characters += row.data.length) > mostCharacters,
      )
      const block = rows.slice(0, end < 0 ? rows.length : Math.max(end, 1))
      if (end < 0 && block.length < size) break
      from += block.length
      const bytes = dryRun ? 0 : yield* moveBlock(log, archive, session, block, head)
      if (bytes === null) return { ...done, outcome: "active" }
      done = {
        outcome: "moved",
        segments: done.segments + 1,
        events: done.events + block.length,
        bytes: done.bytes + bytes,
      }
    }
    return done
  })

/** How much of a session stays in the store, and how large a segment is: numbers of events. */
export interface SegmentOptions {
  /** How many of the newest events stay in the store; 1,000 by default. */
  readonly keepVersions?: number
  /** How many events a segment has, 1 or more; 500 by default, or fewer with 4 million characters. */
  readonly size?: number
  /** Only say what would be moved; `false` by default. */
  readonly dryRun?: boolean
}

/**
 * Moves the old part of a session to an archive, in whole segments: what is before the newest events, and before what opening the session reads.
 * A session without a snapshot stays, since opening it reads all of its events.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { archiveSegments, folderArchive } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const moved = Effect.flatMap(EventLog.EventLog, (log) =>
 *   archiveSegments(log, folderArchive("./cold"), "chat-1", { keepVersions: 2_000 }),
 * )
 * ```
 */
export const archiveSegments = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  { keepVersions = 1_000, size = 500, dryRun = false }: SegmentOptions = {},
): Effect.Effect<Moved, EventLog.LogError | ArchiveError | Session.SessionError> =>
  Effect.gen(function* () {
    const held = (yield* log.erasure?.held(session) ?? Effect.succeed(null))?.message
    if (held !== undefined)
      return yield* new EventLog.LogError({ operation: "archive", session, reason: held, refused: "held" })
    const store = EventLog.storedLog(log)
    if (store.replace === undefined) return yield* notReplaced(session)
    const segmented = (yield* segmentsIn(archive))(store)
    const whole = log.over?.(segmented) ?? segmented
    const [snapshot] = yield* whole.projections.get(session, "snapshot")
    if (snapshot === undefined) return { outcome: "none", segments: 0, events: 0, bytes: 0 }
    const { version, summary } = yield* Session.make(whole, { capacity: 1 }).load(session)
    const read = Math.min(
      Number(/"version":(\d+)/.exec(snapshot.data)?.[1] ?? 0),
      summary?.version ?? version,
    )
    const until = Math.min(version - Math.max(keepVersions, 1), read - 1)
    return yield* moveUpTo(store, archive, session, { until, size: Math.max(size, 1), dryRun })
  })

/** What became of the old part of a session; `planned` in a dry run. */
export interface SegmentsRetained extends Omit<Moved, "outcome"> {
  readonly session: string
  readonly outcome: "planned" | "moved" | "active" | "failed"
  /** Why it failed; absent otherwise. */
  readonly reason?: string
}

/**
 * Moves the old parts of all sessions of a store, one session after another, and takes away what killed processes have left. Sessions of
 * which nothing is due are left out, and one that fails does not stop the others.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { folderArchive, retainSegments } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect, Stream } from "effect"
 *
 * export const planned = Effect.flatMap(EventLog.EventLog, (log) =>
 *   Stream.runForEach(retainSegments(log, folderArchive("./cold"), { dryRun: true }), ({ session, events }) =>
 *     Effect.log(`${session}: ${events}`),
 *   ),
 * )
 * ```
 */
export const retainSegments = (
  log: EventLog.Service,
  archive: Archive,
  { owner, ...options }: SegmentOptions & { readonly owner?: string | undefined } = {},
): Stream.Stream<SegmentsRetained, EventLog.LogError> =>
  EventLog.sessions(log, owner).pipe(
    Stream.mapEffect(({ session }) =>
      Effect.gen(function* () {
        const noted = notedBy(session)
        if (noted !== null && options.dryRun !== true) yield* settle(EventLog.storedLog(log), archive, noted)
        if (session.startsWith("memfold:")) return null
        const { outcome, ...moved } = yield* archiveSegments(log, archive, session, options)
        if (outcome === "none") return null
        return { session, ...moved, outcome: options.dryRun === true ? ("planned" as const) : outcome }
      }).pipe(
        Effect.catchAll(({ message }) =>
          Effect.succeed({
            session,
            segments: 0,
            events: 0,
            bytes: 0,
            outcome: "failed" as const,
            reason: message,
          }),
        ),
      ),
    ),
    Stream.filter((one) => one !== null),
  )

/**
 * Makes a layer over stores whose sessions have segments in an archive: they are read as if they were there. A rewrite brings the segments
 * back that it touches, before it; {@link EventLog.Service.finishRewrites} and a deletion remove what is left of them.
 */
export const segmentsIn = (archive: Archive): Effect.Effect<(log: EventLog.Service) => EventLog.Service> =>
  Effect.map(
    Cache.makeWith({
      capacity: kept.capacity,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? kept.time : Duration.zero),
      lookup: (id: string) => {
        const [session, name] = JSON.parse(id) as [string, string]
        return fetch(archive, segmentOf(session, name))
      },
    }),
    (segments) => {
      const resolved = (rows: Records) =>
        Effect.gen(function* () {
          const whole = new Map<string, Records>()
          const found: Array<EventLog.LogRecord> = []
          for (const row of rows) {
            if (!isMoved(row)) {
              found.push(row)
              continue
            }
            const place = placeOf(row)
            const id = JSON.stringify([place.session, place.name])
            const records = whole.get(id) ?? (yield* segments.get(id))
            whole.set(id, records)
            found.push(yield* broughtBack(row, place, records))
          }
          return found
        })
      /** Reads again if an object went away: the records are back in the store. */
      const again = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.retry(read, { times: mostAgain, while: (error) => error instanceof ArchiveError })
      const over = (log: EventLog.Service): EventLog.Service => {
        const released = (operation: string, session: string, isWanted: (segment: Segment) => boolean) =>
          Effect.mapError(release(log, archive, session, isWanted), asLogError(operation, session))
        const settled = (operation: string, session: string) =>
          Effect.mapError(settle(log, archive, session), asLogError(operation, session))
        const { feed, finishRewrites = () => Effect.void, within } = log
        return {
          ...log,
          read: (session, page) =>
            log.read(session, page).pipe(
              Effect.flatMap((rows) => (rows.some(isMoved) ? resolved(rows) : Effect.succeed(rows))),
              again,
              Effect.mapError(asLogError("read", session)),
            ),
          rewrite: (session, rewritten, ...rest) =>
            Effect.zipRight(
              released("rewrite", session, ({ from, to }) =>
                rewritten.some(({ version }) => from <= version && version <= to),
              ),
              log.rewrite(session, rewritten, ...rest),
            ),
          finishRewrites: (session) => Effect.zipRight(settled("rewrite", session), finishRewrites(session)),
          delete: (session, at) =>
            Effect.tap(log.delete(session, at), (wasThere) =>
              wasThere || at === undefined ? settled("delete", session) : Effect.void,
            ),
          ...(feed === undefined
            ? {}
            : {
                feed: (page) =>
                  feed(page).pipe(
                    Effect.flatMap((found) =>
                      Effect.map(resolved(found.map(({ record }) => record)), (records) =>
                        found.map((fed, at) => ({ ...fed, record: records[at]! })),
                      ),
                    ),
                    again,
                    Effect.mapError(asLogError("feed")),
                  ),
              }),
          ...(within === undefined ? {} : { within: (transaction) => Effect.map(within(transaction), over) }),
        }
      }
      return over
    },
  )
