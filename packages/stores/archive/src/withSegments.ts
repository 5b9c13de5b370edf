/** A store whose sessions have old parts in an archive, as if they were in the store. */
import { EventLog } from "@memfold/log"
import { Cache, Duration, Effect, Exit } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import {
  broughtBack,
  fetch,
  isMoved,
  mostAgain,
  placeOf,
  type Records,
  release,
  type Segment,
  segmentOf,
  settle,
} from "./segments.js"

/** How many segments a process keeps, and for how long: pages of a history follow one another. */
const kept = { capacity: 8, time: Duration.minutes(5) }

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
      /** The records of rows: all, or up to the one with which their text reaches a length. */
      const resolved = (rows: Records, length = Number.POSITIVE_INFINITY) =>
        Effect.gen(function* () {
          const whole = new Map<string, Records>()
          const found: Array<EventLog.LogRecord> = []
          let text = 0
          for (const row of rows) {
            let record = row
            if (isMoved(row)) {
              const place = placeOf(row)
              const id = JSON.stringify([place.session, place.name])
              const records = whole.get(id) ?? (yield* segments.get(id))
              whole.set(id, records)
              record = yield* broughtBack(row, place, records)
            }
            found.push(record)
            if ((text += record.data.length) >= length) break
          }
          return found
        })
      /** Reads again if an object went away: the records are back in the store. */
      const again = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.retry(read, {
          times: mostAgain,
          while: (error) => error instanceof ArchiveError && error.isGone === true,
        })
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
              Effect.flatMap((rows) =>
                rows.some(isMoved) ? resolved(rows, EventLog.pageText) : Effect.succeed(rows),
              ),
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
