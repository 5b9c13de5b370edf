/** Checks records as they are read: a damaged log is not copied as if it were whole. */
import { EventCodec, EventLog } from "@memfold/core"
import { Effect, Stream } from "effect"
import type { Source } from "./Source.js"

const broken = (session: string, reason: string): EventLog.LogError =>
  new EventLog.LogError({
    operation: "read",
    session,
    reason: `${reason}; run memfold verify for details`,
  })

/**
 * Reads records in order. Fails if one is missing or damaged. A damaged summary is passed on, because the fold ignores
 * it.
 */
export const readSound = (
  source: Pick<Source, "records">,
  session: string,
  options: Pick<EventLog.ReadOptions, "fromVersion" | "toVersion"> = {},
): Stream.Stream<EventLog.LogRecord, EventLog.LogError> =>
  source.records(session, options).pipe(
    Stream.mapAccumEffect(options.fromVersion ?? 1, (seq, record) => {
      if (record.version !== seq) return broken(session, `event ${seq} is missing`)
      const { type, checksum } = record
      const whole = checksum === undefined || checksum === EventCodec.checksumOf(record)
      if (!whole && type !== "SummaryCommitted") return broken(session, `event ${seq} is damaged`)
      return Effect.succeed([seq + 1, record] as const)
    }),
  )
