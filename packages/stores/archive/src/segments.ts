/**
 * Old parts of live sessions: the data of early records in objects of an archive, while their rows stay in the store and say where.
 *
 * There: note the object, write it, read it back and compare, then put its place in the stead of the data, all or nothing, if the
 * session still ends where it did. Back: the data in the stead of the place, then remove the object. A process may be killed between any
 * two of these steps. What a row says is right at each of them, and the note leads to objects that nobody reads.
 */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Either, Random, Stream } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { keyOf, readObject, storedOf, writeObject } from "./stored.js"

export type Records = ReadonlyArray<EventLog.LogRecord>

/** A segment: its name, and its first and its last version. */
export interface Segment {
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
export const mostAgain = 4

/** The most characters of data in a segment: it is read as a whole. */
const mostCharacters = 4_000_000

const notePrefix = EventLog.noted.segments

/** The session whose segments a log notes; `null` for another log. */
export const notedBy = (id: string): string | null =>
  id.startsWith(notePrefix) ? id.slice(notePrefix.length) : null

const noteOf = (session: string): string => `${notePrefix}${session}`

export const segmentOf = (session: string, name: string): Segment => {
  const [from, to] = name.split("-").map(Number)
  return { session, name, from: from!, to: to! }
}

/** The name that stands for all events of an archived session, in rows of its way back: it has no nonce, and its object is that of the session. */
export const nameOfWhole = (events: number): string => `1-${events}`

const keyOfSegment = ({ session, name }: Segment): string =>
  name.split("-").length === 2 ? keyOf(session) : keyOf(session, name)

export const isMoved = ({ schemaVersion }: EventLog.LogRecord): boolean =>
  schemaVersion === EventLog.movedSchema

export const placeOf = ({ session, data }: EventLog.LogRecord): Segment =>
  segmentOf(session, JSON.parse(data) as string)

/** The records of a segment; fails if the archive does not have them as they were. */
export const fetch = (archive: Archive, segment: Segment) =>
  Effect.gen(function* () {
    const { session, name, from, to } = segment
    const failed = (reason: string, isGone: boolean) =>
      new ArchiveError({ operation: "get", about: session, reason, isGone })
    const found = yield* readObject(archive, keyOfSegment(segment), session)
    if (found === null)
      return yield* failed(
        `the archive has lost its events ${from} to ${to}; put the object ${keyOfSegment(segment)} back from a backup, or delete the session`,
        true,
      )
    if (found.records[0]?.version !== from || found.records.length !== to - from + 1)
      return yield* failed(`the object of its segment ${name} has other events`, false)
    return found.records
  })

/** The record that a row stands for. */
export const broughtBack = (row: EventLog.LogRecord, segment: Segment, records: Records) => {
  const record = records[row.version - segment.from]
  if (record?.batchId === row.batchId && record.checksum === row.checksum) return Either.right(record)
  const reason = `event ${row.version} in the object ${keyOfSegment(segment)} is not the one that was moved`
  return Either.left(new ArchiveError({ operation: "get", about: segment.session, reason }))
}

/** The rows that have the place of a segment. */
const rowsOf = (log: EventLog.Service, { session, name, from, to }: Segment) =>
  Effect.map(
    Stream.runCollect(EventLog.storedRecords(log, session, { fromVersion: from, toVersion: to })),
    (rows): Records => [...rows].filter((row) => isMoved(row) && placeOf(row).name === name),
  )

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

export const contentOf = ({
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

export const notReplaced = (session: string) =>
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
 * Ends what a store over stores has under way with a session: behind that, no copy of earlier rows gets in the stead of what is read. To
 * replace nothing does it.
 */
const unmoved = (log: EventLog.Service, session: string) =>
  Effect.flatMap(log.head(session), (head) =>
    head === null || log.replace === undefined ? Effect.void : log.replace(session, [], head),
  ).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "VersionConflict" }),
    Effect.catchTag("VersionConflict", Effect.die),
  )

/**
 * Brings segments of a session back that are wanted, or of which a rewrite has replaced a record, and removes objects that nobody reads: of a
 * process that was killed, or of a session that was deleted. Returns how many segments came back.
 *
 * @param log - the store itself, below what seals
 * @param own - a segment whose object was just written: another process may have looked for it before, and taken its note away
 */
export const release = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  isWanted: (segment: Segment) => boolean,
  own?: Noted,
): Effect.Effect<number, EventLog.LogError | EventLog.VersionConflict | ArchiveError> =>
  Effect.gen(function* () {
    const notes = yield* notesOf(log, session)
    const last = notes.at(-1)?.last
    const found = notes.map(({ noted }) => noted)
    const isLost = own !== undefined && !found.some(({ name }) => name === own.name)
    if (last === undefined && !isLost) return 0
    // Read before the rows: behind another head, nobody can put the place of a segment into them any more.
    const head = yield* log.head(session)
    let [isInUse, back] = [false, 0]
    for (const noted of isLost ? [...found, own] : found) {
      let rows = yield* rowsOf(log, noted)
      const isWhole = rows.length === noted.to - noted.from + 1 && !isWanted(noted)
      const isPending =
        rows.length === 0 && head?.version === noted.at.version && head.batchId === noted.at.batchId
      if (isWhole || isPending) {
        isInUse = true
        continue
      }
      if (rows.length === 0) rows = yield* Effect.zipRight(unmoved(log, session), rowsOf(log, noted))
      if (rows.length > 0) {
        const records = yield* fetch(archive, noted)
        const whole = yield* Effect.forEach(rows, (row) => broughtBack(row, noted, records))
        // A session with rows and no head has begun meanwhile: it is looked at again.
        yield* replace(log, session, whole.map(contentOf), head ?? { version: 0, batchId: "" })
        back += 1
      }
      yield* archive.remove(keyOfSegment(noted))
    }
    if (!isInUse && last !== undefined) yield* log.delete(noteOf(session), last)
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
    const moved = Effect.gen(function* () {
      // Whether it can: before an object is written whose place no row would get.
      yield* replace(log, session, [], at)
      yield* note(log, segment)
      const bytes = yield* writeObject(
        archive,
        keyOfSegment(segment),
        storedOf(session, records),
        "the events stay",
      )
      const place = { schemaVersion: EventLog.movedSchema, data: JSON.stringify(name) }
      yield* replace(
        log,
        session,
        records.map((record) => contentOf({ ...record, ...place })),
        at,
      )
      return bytes
    })
    return yield* moved.pipe(
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
        Effect.as(Effect.ignore(release(log, archive, session, () => false, segment)), null),
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
      const toVersion = Math.min(from + size - 1, until)
      const limit = Math.max(toVersion - from + 1, 1)
      // A page: one that ends early for its text is a segment of its own.
      const rows = yield* log.read(session, { fromVersion: from, toVersion, reverse: false, limit })
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
      const isWhole = rows.length === limit || EventLog.isLastPage(rows, limit)
      if (end < 0 && block.length < size && isWhole) break
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
