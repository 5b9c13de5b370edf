/** The events of all sessions of a store, in the order of its feed. */
import { Either, Stream } from "effect"
import type { LogError, LogRecord, Service as EventLog } from "@memfold/log/EventLog"
import { type FeedRange, feed as fedRecords } from "@memfold/log/pages"
import { decode, eventId, type RecordedEvent } from "../event/EventCodec.js"
import { retryTransient } from "../shell/retry.js"
import { InvalidInput } from "./input.js"

export type { FeedRange }

/** An event in the feed. Its session and its `id` name it for good. */
export interface FedEvent extends RecordedEvent {
  /** Where to go on behind it: keep the position of the last event that is done, and give it as `after`. */
  readonly position: string
}

/** Who reads everything goes on behind what cannot be read; a read of the session says what is wrong with it. */
const eventOf = (record: LogRecord): RecordedEvent =>
  Either.getOrElse(decode(record), () => {
    const { session, version, time, type, schemaVersion } = record
    return {
      session,
      version,
      id: eventId(record),
      time,
      event: { _tag: "UnknownEvent", type, schemaVersion },
    }
  })

/** Reads the feed of a store. */
export const feed = (
  { feed: read }: EventLog,
  range?: FeedRange,
): Stream.Stream<FedEvent, LogError | InvalidInput> =>
  fedRecords(read === undefined ? {} : { feed: (page) => retryTransient(read(page)) }, range).pipe(
    Stream.mapError((error) =>
      error.refused === "position" ? new InvalidInput({ session: "", detail: error.reason }) : error,
    ),
    Stream.map(({ record, position }) => ({ ...eventOf(record), position })),
  )
