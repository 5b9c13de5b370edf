/** Records that a store reads in pages: as a stream for everyone, and page by page for the engine. */
import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { LogError, LogRecord, ReadOptions } from "./EventLog.js"

/** The versions of a page, both ends included, and the order of its records. */
export interface PageRange {
  readonly fromVersion: number
  readonly toVersion: number
  readonly reverse: boolean
}

/** Some records, and how to read the next ones; `null` if there are none. */
interface Page {
  readonly records: ReadonlyArray<LogRecord>
  readonly next: Effect.Effect<Page, LogError> | null
}

type Records = Stream.Stream<LogRecord, LogError>

/** The first page of each stream that {@link readInPages} has made. */
const firstPages = new WeakMap<Records, Effect.Effect<Page, LogError>>()

/**
 * The records of a session as a stream, for the method `read` of a store that reads a page at a time. The engine opens a
 * session by the pages themselves: in a new process, a stream takes longer than everything it reads then.
 *
 * @param options - what `read` was asked for
 * @param pageSize - how many records a full page has; a page with fewer is the last one
 * @param readPage - reads the first records of a range, in its order
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const readingOf =
 *   (stored: ReadonlyArray<EventLog.LogRecord>): EventLog.Service["read"] =>
 *   (session, options) =>
 *     EventLog.readInPages(options, 100, ({ fromVersion, toVersion, reverse }) => {
 *       const found = stored.filter(
 *         (record) =>
 *           record.session === session && record.version >= fromVersion && record.version <= toVersion,
 *       )
 *       return Effect.succeed((reverse ? found.toReversed() : found).slice(0, 100))
 *     })
 * ```
 */
export const readInPages = (
  { fromVersion = 1, toVersion = Number.MAX_SAFE_INTEGER, reverse = false }: ReadOptions = {},
  pageSize: number,
  readPage: (range: PageRange) => Effect.Effect<ReadonlyArray<LogRecord>, LogError>,
): Records => {
  const pageOf = (range: PageRange): Effect.Effect<Page, LogError> =>
    Effect.map(readPage(range), (records) => {
      const last = records.length < pageSize ? undefined : records.at(-1)
      if (last === undefined) return { records, next: null }
      const rest = reverse ? { toVersion: last.version - 1 } : { fromVersion: last.version + 1 }
      return { records, next: pageOf({ ...range, ...rest }) }
    })
  const first = pageOf({ fromVersion: Math.max(fromVersion, 1), toVersion, reverse })
  const stream = Stream.suspend(() =>
    Stream.paginateChunkEffect(first, (page) =>
      Effect.map(page, ({ records, next }) => [Chunk.unsafeFromArray(records), Option.fromNullable(next)]),
    ),
  )
  firstPages.set(stream, first)
  return stream
}

/** Folds records in their order, up to the first failure of a step. */
export const foldRecords = <A, E>(
  records: Records,
  start: A,
  step: (before: A, record: LogRecord) => Either.Either<A, E>,
): Effect.Effect<A, LogError | E> => {
  const foldPages = (page: Effect.Effect<Page, LogError>, before: A): Effect.Effect<A, LogError | E> =>
    Effect.flatMap(page, ({ records, next }) => {
      let current = before
      for (const record of records) {
        const after = step(current, record)
        if (Either.isLeft(after)) return after
        current = after.right
      }
      return next === null ? Effect.succeed(current) : foldPages(next, current)
    })
  const first = firstPages.get(records)
  return first === undefined ? Stream.runFoldEffect(records, start, step) : foldPages(first, start)
}
