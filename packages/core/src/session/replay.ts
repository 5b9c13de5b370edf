/**
 * The one reader of the log: from stored records to events, and from events to whatever is folded from them.
 *
 * Folding goes forward in one pass. An event that invalidates an earlier commit is the exception: the fold has let go
 * of the messages that the commit covered. Then the range is read a second time, and this time the commit is skipped.
 * Two passes are always enough: the second one ends where the first one did, and all invalidations up to there are known.
 */
import { Effect, Either, Stream } from "effect"
import { DamagedEvent, decode, type RecordedEvent } from "../event/EventCodec.js"
import type { LogError, LogRecord, ReadOptions, Service as EventLog } from "../log/EventLog.js"
import { evolve, type Invalidated, requiresReplay } from "./evolve.js"
import { empty, type SessionState } from "./SessionState.js"

/** Decodes the record that is expected at `version`. A missing event is an error: nobody knows what it said. */
export const decodeAt = (version: number, record: LogRecord): Either.Either<RecordedEvent, DamagedEvent> => {
  if (record.version === version) return decode(record)
  const detail = `it is missing, while event ${record.version} is there; restore the log from a backup`
  return Either.left(new DamagedEvent({ session: record.session, version, detail }))
}

/** The decoded events of a session, in order and without a hole. */
export const readEvents = (
  log: Pick<EventLog, "read">,
  session: string,
  options: ReadOptions = {},
): Stream.Stream<RecordedEvent, LogError | DamagedEvent> =>
  Stream.suspend(() => {
    const step = options.reverse === true ? -1 : 1
    let next = step === 1 ? Math.max(options.fromVersion ?? 1, 1) : null
    return log.read(session, options).pipe(
      Stream.mapEffect((record) => {
        const seq = next ?? record.version
        next = record.version + step
        return decodeAt(seq, record)
      }),
    )
  })

/** One step of a fold: the state before and after an event, and whatever else is collected on the way. */
export interface Collector<A> {
  readonly start: () => A
  readonly step: (
    collected: A,
    recorded: RecordedEvent,
    change: { readonly before: SessionState; readonly after: SessionState; readonly skipped: boolean },
  ) => A
}

/** A state, the last event in it, and what was collected on the way. */
export interface Replayed<A> {
  readonly state: SessionState
  readonly last: RecordedEvent | null
  readonly collected: A
}

const none: Invalidated = new Set()

/** Reads events from the first one, up to a version if one is given. */
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
          const after = evolve(state, recorded, skip)
          const change = { before: state, after, skipped: skip.has(version) }
          return { state: after, last: recorded, collected: step(collected, recorded, change) }
        },
      ).pipe(Effect.map((replayed) => ({ replayed, invalidated, again })))
    })
  return Effect.flatMap(pass(none), ({ replayed, invalidated, again }) =>
    again
      ? Effect.map(pass(invalidated, replayed.state.version), (second) => second.replayed)
      : Effect.succeed(replayed),
  )
}
