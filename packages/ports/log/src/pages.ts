/** What a store answers in pages: as a stream, or by a fold that goes on from page to page. */
import { Chunk, type Duration, Effect, Either, Option, Stream } from "effect"
import {
  type FedRecord,
  isLastPage,
  isNotes,
  isReserved,
  LogError,
  markOf,
  movedSchema,
  oneRecord,
  type LogRecord,
  ownersNamed,
  type PageOptions,
  type ReadOptions,
  type Service,
  type SessionInfo,
  type SessionPosition,
} from "./port.js"

/** How many records or sessions a page has. */
export const pageSize = 512

/** How long a record is at most with which the page behind it begins, in UTF-16 code units. */
const mostAgain = 2 ** 16

/** What is to be read: a range, and behind a page a record that is still there if the page behind is of that log. */
interface Next {
  readonly range: ReadOptions
  readonly known: LogRecord | null
}

/**
 * The range behind a page; `null` if the page is the last one. It begins with the last record of the page. A long one is not read again:
 * the log is known by its shortest record then.
 */
const rest = (page: ReadonlyArray<LogRecord>, { range, known }: Next): Next | null => {
  const last = page.at(-1)
  const { fromVersion = 1, toVersion, reverse = false } = range
  const end = reverse ? Math.max(fromVersion, 1) : toVersion
  if (last === undefined || last.version === end || isLastPage(page, pageSize)) return null
  const isShort = last.data.length <= mostAgain
  const at = isShort ? last.version : last.version + (reverse ? -1 : 1)
  const shorter = (one: LogRecord, other: LogRecord) => (other.data.length < one.data.length ? other : one)
  return {
    range: { ...range, ...(reverse ? { toVersion: at } : { fromVersion: at }) },
    known: isShort ? last : page.reduce(shorter, known ?? last),
  }
}

/** What is asked of the records of each page. */
type Check = (records: ReadonlyArray<LogRecord>) => Effect.Effect<void, LogError>

/** Fails if the data of a record are in an archive, which this process has not opened: without them, it would say something else. */
const notMoved: Check = (records) => {
  const moved = records.find(({ schemaVersion }) => schemaVersion === movedSchema)
  if (moved === undefined) return Effect.void
  const reason = `event ${moved.version} and others are in an archive; open the store with its archive (withArchive, --archive), and try again`
  return new LogError({ operation: "read", session: moved.session, reason, refused: "archived" })
}

/**
 * A page of a range. Behind a page, it fails if another record is where the known one was: the session was deleted in between, and
 * perhaps started again, so that the pages are not of one log.
 */
const readPage = (
  log: Pick<Service, "read">,
  session: string,
  { range: { fromVersion = 1, toVersion = Number.MAX_SAFE_INTEGER, reverse = false }, known }: Next,
  check: Check = notMoved,
): Effect.Effect<ReadonlyArray<LogRecord>, LogError> => {
  const first = Math.max(fromVersion, 1)
  if (first > toVersion) return Effect.succeed([])
  const read = (range: PageOptions) => Effect.tap(log.read(session, range), check)
  const range = { fromVersion: first, toVersion, reverse, limit: pageSize }
  if (known === null) return read(range)
  const isSame = (found: LogRecord | undefined): Effect.Effect<void, LogError> =>
    found?.version === known.version && found.batchId === known.batchId
      ? Effect.void
      : new LogError({
          operation: "read",
          session,
          reason: "it was deleted while it was read; read it again",
        })
  const { version } = known
  if (version === (reverse ? toVersion : first))
    return Effect.flatMap(read({ ...range, limit: pageSize + 1 }), ([again, ...page]) =>
      Effect.as(isSame(again), page),
    )
  return Effect.tap(read(range), () => Effect.flatMap(read(oneRecord(version)), ([found]) => isSame(found)))
}

/**
 * The records of a session in order, read page by page; none if the session does not exist.
 *
 * @param log - the store
 * @param session - the id of the session
 * @param options - the versions to read, and the order; the whole log, oldest first, by default
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Stream } from "effect"
 *
 * export const lengthOf = (log: EventLog.Service, session: string) =>
 *   Stream.runCount(EventLog.records(log, session))
 * ```
 */
export const records = (
  log: Pick<Service, "read">,
  session: string,
  options: ReadOptions = {},
): Stream.Stream<LogRecord, LogError> => pagesOf(log, session, options, notMoved)

/** {@link records} as the store has them, also those that have the place of their data in an archive in the stead of them. */
export const storedRecords: typeof records = (log, session, options = {}) =>
  pagesOf(log, session, options, () => Effect.void)

const pagesOf = (
  log: Pick<Service, "read">,
  session: string,
  options: ReadOptions,
  check: Check,
): Stream.Stream<LogRecord, LogError> =>
  Stream.paginateChunkEffect({ range: options, known: null } as Next, (next) =>
    Effect.map(readPage(log, session, next, check), (page) => [
      Chunk.fromIterable(page),
      Option.fromNullable(rest(page, next)),
    ]),
  )

/**
 * Folds the records of a session in their order, up to the first failure of a step. A session is opened so: in a new process,
 * a stream takes longer than everything it reads then.
 *
 * @param betweenPages - runs before each page but the first one
 */
export const foldRecords = <A, E>(
  log: Pick<Service, "read">,
  session: string,
  range: ReadOptions,
  start: A,
  step: (before: A, record: LogRecord) => Either.Either<A, E>,
  betweenPages: Effect.Effect<void> = Effect.void,
): Effect.Effect<A, LogError | E> => {
  const foldFrom = (before: A, part: Next): Effect.Effect<A, LogError | E> =>
    Effect.flatMap(readPage(log, session, part), (page) => {
      let current = before
      for (const record of page) {
        const after = step(current, record)
        if (Either.isLeft(after)) return after
        current = after.right
      }
      const next = rest(page, part)
      return next === null ? Effect.succeed(current) : Effect.zipRight(betweenPages, foldFrom(current, next))
    })
  return foldFrom(start, { range, known: null })
}

/**
 * The version of a session; 0 if it does not exist.
 *
 * @param log - the store
 * @param session - the id of the session
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Effect } from "effect"
 *
 * export const isNew = (log: EventLog.Service, session: string) =>
 *   Effect.map(EventLog.versionOf(log, session), (version) => version === 0)
 * ```
 */
export const versionOf = (log: Pick<Service, "head">, session: string): Effect.Effect<number, LogError> =>
  Effect.map(log.head(session), (head) => head?.version ?? 0)

/** All logs of a store in the order of `compareSessionIds`, those with notes of the program as well ({@link isNotes}), read page by page. */
export const logs = (log: Pick<Service, "list">, owner?: string): Stream.Stream<SessionInfo, LogError> =>
  Stream.paginateChunkEffect(undefined as SessionPosition | undefined, (after) =>
    Effect.map(log.list({ owner, after, limit: pageSize }), (page) => [
      Chunk.fromIterable(page),
      page.length < pageSize ? Option.none() : Option.fromNullable(page.at(-1)),
    ]),
  )

/**
 * All sessions of a store in the order of `compareSessionIds`, or the sessions of an owner, the newest activity first, read page
 * by page. A session that becomes active while an owner's list is read moves to the front, and may be missed.
 *
 * @param log - the store
 * @param owner - the owner; all sessions by default
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Stream } from "effect"
 *
 * export const countOf = (log: EventLog.Service) => Stream.runCount(EventLog.sessions(log))
 * ```
 */
export const sessions = (log: Pick<Service, "list">, owner?: string): Stream.Stream<SessionInfo, LogError> =>
  Stream.filter(logs(log, owner), ({ session }) => !isNotes(session))

/** The log as the store has it, below the layer that seals what is kept; the log itself where there is no such layer. */
export const storedLog = (log: Service): Service => log.stored ?? log

/**
 * Fails if a session that is about to start is in an archive, which this process has not opened: with a second start, nobody could
 * read either. An archive behind the log brings it back. Logs of memfold itself are in no archive.
 */
export const notArchived = (
  log: Pick<Service, "head" | "archived">,
  session: string,
): Effect.Effect<void, LogError> =>
  Effect.gen(function* () {
    if (isReserved(session) || (yield* log.head(markOf(session))) === null) return
    if (log.archived === true && (yield* log.head(session)) !== null) return
    const reason =
      "the session is in an archive; open the store with its archive (withArchive, --archive), and try again"
    return yield* new LogError({ operation: "append", session, reason })
  })

/** Where a reader of the feed begins, and how it goes on. */
export interface FeedRange {
  /** The `position` of what came last; from the first event of the store by default. */
  readonly after?: string
  /** Whether to wait for what is new at the end, `true` by default; otherwise the feed ends there. */
  readonly follow?: boolean
  /** How often the store is asked for what is new at the end; 250 milliseconds by default. */
  readonly pollInterval?: Duration.DurationInput
}

/**
 * The records of all sessions of a store in the order of its feed, read page by page, and then new ones as they come. Fails with a
 * `LogError` if the store has no feed.
 *
 * @param log - the store
 * @param range - where to begin, and whether to wait at the end
 * @param limit - the most records that are read at a time, and come in a chunk; 64 by default. Fewer are read where they are large
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Stream } from "effect"
 *
 * export const allOf = (log: EventLog.Service) => Stream.runCollect(EventLog.feed(log, { follow: false }))
 * ```
 */
export const feed = (
  log: Pick<Service, "feed">,
  range?: FeedRange,
  limit?: number,
): Stream.Stream<FedRecord, LogError> =>
  Stream.filter(fed(log, range, limit), ({ record }) => !isNotes(record.session))

/** How many records a reader of the feed begins with, and about how much text it then reads at a time, in UTF-16 code units. */
const firstRead = { records: 8, text: 2 ** 20 }

/** How many records are read behind a page: each may be as large as a request. */
const nextRead = (page: ReadonlyArray<FedRecord>, size: number, limit: number): number => {
  const text = page.reduce((sum, { record }) => sum + record.data.length, 1)
  return Math.max(1, Math.min(limit, size * 2, Math.floor((page.length * firstRead.text) / text)))
}

/** {@link feed}, with the records of notes. */
export const fed = (
  log: Pick<Service, "feed">,
  { after, follow = true, pollInterval = "250 millis" }: FeedRange = {},
  limit = 64,
): Stream.Stream<FedRecord, LogError> => {
  const read = log.feed
  if (read === undefined)
    return Stream.fail(
      new LogError({ operation: "feed", reason: "the store has no feed; subscribe to its sessions" }),
    )
  const pageBehind = (
    from: string | undefined,
    size: number,
  ): Effect.Effect<ReadonlyArray<FedRecord>, LogError> =>
    Effect.flatMap(read({ after: from, limit: size }), (page) =>
      page.length > 0 || !follow
        ? Effect.as(notMoved(page.map(({ record }) => record)), page)
        : Effect.zipRight(Effect.sleep(pollInterval), pageBehind(from, size)),
    )
  const begin = { from: after, size: Math.min(limit, firstRead.records) }
  return Stream.paginateChunkEffect(begin, ({ from, size }) =>
    Effect.map(pageBehind(from, size), (page) => [
      Chunk.fromIterable(page),
      Option.map(Option.fromNullable(page.at(-1)), ({ position }) => ({
        from: position,
        size: nextRead(page, size, limit),
      })),
    ]),
  )
}

/** The owners that a session has had, in order, with `null` where it had none any more. It reads the whole log, a page at a time. */
export const ownersIn = (
  log: Pick<Service, "read">,
  session: string,
): Stream.Stream<string | null, LogError> =>
  Stream.mapConcat(records(log, session), (record) => ownersNamed([record]))
