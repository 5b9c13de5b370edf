import { type EventCodec, type EventLog, Session } from "@memfold/core"
import type { Effect, Stream } from "effect"

/** The projection rows of a session, for a store that has to write them again. */
export const projectionsOf = (
  session: string,
  records: Stream.Stream<EventLog.LogRecord, EventLog.LogError>,
): Effect.Effect<ReadonlyArray<EventLog.ProjectionChange>, EventLog.LogError | EventCodec.DamagedEvent> =>
  Session.projectionsOf(session, Session.decodeRecords(records))
