/**
 * Reads the log: decodes its records, and folds the events from the first one.
 *
 * One pass is enough unless an event invalidates an earlier commit: the state no longer has the messages that the commit
 * covered. Then a second pass skips the commit. It ends at the same version as the first pass, which has found all
 * invalidations up to there. A third pass is never needed.
 */
import { Chunk, Effect, Either, Stream } from "effect"
import { after, breather } from "../event/breathe.js"
import { DamagedEvent, decode, type RecordedEvent } from "../event/EventCodec.js"
import type { LogError, LogRecord, ReadOptions, Service as EventLog } from "../log/EventLog.js"
import { evolve, type Invalidated, requiresReplay } from "./evolve.js"
import { empty, type SessionState } from "./SessionState.js"

/** Decodes the record that is expected at `version`. A missing event is an error, because its content is unknown. */
export const decodeAt = (version: number, record: LogRecord): Either.Either<RecordedEvent, DamagedEvent> => {
  if (record.version === version) return decode(record)
  const detail = `it is missing, while event ${record.version} is there; restore the log from a backup`
  return Either.left(new DamagedEvent({ session: record.session, version, detail }))
}

/**
 * The decoded events of a session, in order.
 *
 * The stream fails with `LogError` if the store fails, and with `DamagedEvent` at an event that is missing or damaged.
 *
 * @param options the versions to read, and the order; the whole log, oldest first, by default
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 * import { Stream } from "effect"
 *
 * const summariesOf = (log: EventLog.Service, session: string) =>
 *   Session.readEvents(log, session).pipe(Stream.filter(({ event }) => event._tag === "SummaryCommitted"))
 * ```
 */
export const readEvents = (
  log: Pick<EventLog, "read">,
  session: string,
  options: ReadOptions = {},
): Stream.Stream<RecordedEvent, LogError | DamagedEvent> =>
  Stream.suspend(() => {
    const step = options.reverse === true ? -1 : 1
    let next = step === 1 ? Math.max(options.fromVersion ?? 1, 1) : null
    const breathe = breather()
    /** The events of some records, and why the next one cannot be read. */
    const decoded = (records: Chunk.Chunk<LogRecord>) => {
      const events: Array<RecordedEvent> = []
      let damage: DamagedEvent | null = null
      let breath: Effect.Effect<void> | null = null
      for (const record of records) {
        breath = breathe() ?? breath
        const event = decodeAt(next ?? record.version, record)
        if (Either.isLeft(event)) {
          damage = event.left
          break
        }
        next = record.version + step
        events.push(event.right)
      }
      return after(breath, Effect.succeed({ events, damage }))
    }
    return log.read(session, options).pipe(
      Stream.chunks,
      // The next records are decoded when the reader is done with these: the pauses serve its work too.
      Stream.mapConcat((page) => Chunk.chunksOf(page, 64)),
      Stream.mapEffect(decoded),
      Stream.flatMap(({ events, damage }) =>
        damage === null
          ? Stream.fromChunk(Chunk.unsafeFromArray(events))
          : Stream.concat(Stream.fromChunk(Chunk.unsafeFromArray(events)), Stream.fail(damage)),
      ),
    )
  })

/** Collects something else during a fold, from each event and the states before and after it. */
export interface Collector<A> {
  readonly start: () => A
  readonly step: (
    collected: A,
    recorded: RecordedEvent,
    change: { readonly before: SessionState; readonly after: SessionState; readonly skipped: boolean },
  ) => A
}

/** A state, the last event in it, and the collected result. */
export interface Replayed<A> {
  readonly state: SessionState
  readonly last: RecordedEvent | null
  readonly collected: A
}

const none: Invalidated = new Set()

/** Reads events from the first one, up to a version if it is given (included). */
export type ReadTo<E, R = never> = (to?: number) => Stream.Stream<RecordedEvent, E, R>

/** Folds the events of a session from its first one. */
export const replay = <A, E, R>(
  session: string,
  read: ReadTo<E, R>,
  { start, step }: Collector<A>,
): Effect.Effect<Replayed<A>, E, R> => {
  const pass = (skip: Invalidated, to?: number) =>
    Effect.suspend(() => {
      const invalidated = new Set<number>()
      let again = false
      return Stream.runFold(
        read(to),
        { state: empty(session), last: null, collected: start() } as Replayed<A>,
        ({ state, collected }, recorded): Replayed<A> => {
          const { event, version } = recorded
          if (event._tag === "SummaryInvalidated" && event.version < version) {
            invalidated.add(event.version)
            again ||= requiresReplay(state, recorded)
          }
          const next = evolve(state, recorded, skip)
          const change = { before: state, after: next, skipped: skip.has(version) }
          return { state: next, last: recorded, collected: step(collected, recorded, change) }
        },
      ).pipe(Effect.map((replayed) => ({ replayed, invalidated, again })))
    })
  return Effect.flatMap(pass(none), ({ replayed, invalidated, again }) =>
    again
      ? Effect.map(pass(invalidated, replayed.state.version), (second) => second.replayed)
      : Effect.succeed(replayed),
  )
}
