/** A log as it should be: what is damaged is not handed on as if it were whole. */
import { EventCodec, EventLog } from "@memfold/core"
import { Effect, Stream } from "effect"

const broken = (session: string, reason: string): EventLog.LogError =>
  new EventLog.LogError({
    operation: "read",
    session,
    reason: `${reason}; see what memfold verify says of it`,
  })

/**
 * Reads records forwards. Fails where one is missing, or is not what was written. A summary is handed on as it is: the
 * fold passes over one that is damaged.
 */
export const readSound = (
  log: Pick<EventLog.Service, "read">,
  session: string,
  options: Pick<EventLog.ReadOptions, "fromVersion" | "toVersion"> = {},
): Stream.Stream<EventLog.LogRecord, EventLog.LogError> =>
  log.read(session, options).pipe(
    Stream.mapAccumEffect(options.fromVersion ?? 1, (seq, record) => {
      if (record.version !== seq) return broken(session, `event ${seq} is missing`)
      const { type, checksum } = record
      const whole = checksum === undefined || checksum === EventCodec.checksumOf(record)
      if (!whole && type !== "SummaryCommitted")
        return broken(session, `event ${seq} is not what was written`)
      return Effect.succeed([seq + 1, record] as const)
    }),
  )
