/** Checks records as they are read: a damaged log is not copied as if it were whole. */
import { EventCodec } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Effect, Either, Stream } from "effect"
import type { Source } from "./Source.js"

const nothing: ReadonlySet<number> = new Set()

const broken = (session: string, reason: string): EventLog.LogError =>
  new EventLog.LogError({
    operation: "read",
    session,
    reason: `${reason}; run memfold verify for details`,
  })

/** Reads the records of a session up to the version that the source says it has. Fails if the log has lost its end. */
export const readToEnd = (
  source: Pick<Source, "records" | "version">,
  session: string,
  {
    toVersion = Number.MAX_SAFE_INTEGER,
    ...range
  }: Pick<EventLog.ReadOptions, "fromVersion" | "toVersion"> = {},
): Stream.Stream<EventLog.LogRecord, EventLog.LogError> =>
  Stream.unwrap(
    Effect.map(source.version(session), (version) => {
      const end = Math.min(version, toVersion)
      let last = (range.fromVersion ?? 1) - 1
      const failIfLost = Effect.suspend(() =>
        last >= end
          ? Effect.void
          : Effect.flatMap(source.version(session), (now) =>
              // Of a session that is deleted at this moment, nothing is lost.
              now < version ? Effect.void : broken(session, `event ${last + 1} is missing`),
            ),
      )
      return source.records(session, { ...range, toVersion }).pipe(
        Stream.map((record) => {
          last = record.version
          return record
        }),
        Stream.concat(Stream.execute(failIfLost)),
      )
    }),
  )

/** The versions of the messages of which an event says that the session goes on without them. */
const setAsideIn = (
  source: Pick<Source, "records">,
  session: string,
): Effect.Effect<ReadonlySet<number>, EventLog.LogError> =>
  source.records(session).pipe(
    Stream.filter(({ type }) => type === "MessageSetAside"),
    Stream.runFold(new Set<number>(), (found, record) => {
      const event = Either.getOrNull(EventCodec.decode(record))?.event
      return event?._tag === "MessageSetAside" ? found.add(event.version) : found
    }),
  )

/**
 * Reads records in order. Fails if one is missing or damaged. A damaged summary is passed on, because the fold ignores
 * it; and so is a damaged message that a repair has set aside, because nothing else is left to do about it.
 */
export const readSound = (
  source: Pick<Source, "records" | "version">,
  session: string,
  options: Pick<EventLog.ReadOptions, "fromVersion" | "toVersion"> = {},
): Stream.Stream<EventLog.LogRecord, EventLog.LogError> =>
  Stream.unwrap(
    Effect.map(Effect.cached(setAsideIn(source, session)), (setAside) =>
      readToEnd(source, session, options).pipe(
        Stream.mapAccumEffect(options.fromVersion ?? 1, (seq, record) => {
          const { version, type, checksum, schemaVersion } = record
          if (version !== seq) return broken(session, `event ${seq} is missing`)
          const passed = Effect.succeed([seq + 1, record] as const)
          // What is in an archive is checked by whoever reads it there.
          const isMoved = schemaVersion === EventLog.movedSchema
          const whole = isMoved || checksum === undefined || checksum === EventCodec.checksumOf(record)
          if (whole || type === "SummaryCommitted") return passed
          return Effect.flatMap(type === "MessageAppended" ? setAside : Effect.succeed(nothing), (known) =>
            known.has(version) ? passed : broken(session, `event ${seq} is damaged`),
          )
        }),
      ),
    ),
  )
