/** The events of all sessions of a store, in the order of its feed. */
import { Effect, Either, Schema, Stream } from "effect"
import {
  consume as consumed,
  type ConsumeOptions,
  type Done,
  type FedRecord,
  type LogError,
  type LogRecord,
  reasonOf,
  redeliver as redelivered,
  type Redelivered,
  type Service as EventLog,
} from "@memfold/log/EventLog"
import { type FeedRange, feed as fedRecords } from "@memfold/log/pages"
import { decode, eventId, type RecordedEvent } from "../event/EventCodec.js"
import { retryTransient } from "../shell/retry.js"
import { InvalidInput } from "./input.js"

export type { ConsumeOptions, Done, FeedRange, Redelivered }

/** An event in the feed. Its session and its `id` name it for good. */
export interface FedEvent extends RecordedEvent {
  /** Where to go on behind it: keep the position of the last event that is done, and give it as `after`. */
  readonly position: string
}

/** What is known of an event whose data nobody can read. */
const unknown = (record: LogRecord): RecordedEvent => {
  const { session, version, time, type, schemaVersion } = record
  return { session, version, id: eventId(record), time, event: { _tag: "UnknownEvent", type, schemaVersion } }
}

/**
 * An event of the feed as it is read. Who reads everything goes on behind what cannot be read; a read of the session says what is wrong
 * with it.
 */
const fedOf = ({ record, position, unreadable }: FedRecord): FedEvent => ({
  ...(unreadable === undefined ? Either.getOrElse(decode(record), () => unknown(record)) : unknown(record)),
  position,
})

/** A position that is none of the store is a mistake of who asks. */
const asked = (error: LogError): LogError | InvalidInput =>
  error.refused === "position" ? new InvalidInput({ session: "", detail: error.reason }) : error

/** Reads the feed of a store. */
export const feed = (
  { feed: read }: EventLog,
  range?: FeedRange,
): Stream.Stream<FedEvent, LogError | InvalidInput> =>
  fedRecords(read === undefined ? {} : { feed: (page) => retryTransient(read(page)) }, range).pipe(
    Stream.mapError(asked),
    Stream.map(fedOf),
  )

/** What is done with events, which answers with an effect, with a promise, or at once. It is done with all of them, if it does not say else. */
export type Consumer = (events: ReadonlyArray<FedEvent>) => Effect.Effect<Done, Error> | Promise<Done> | Done

/** A consumer of the feed has failed: nothing of what it was called with is kept, and it comes again. `cause` is what it failed with. */
export class ConsumerFailed extends Schema.TaggedError<ConsumerFailed>()("ConsumerFailed", {
  group: Schema.String,
  cause: Schema.Defect,
}) {
  /** Why, without what an error may quote. */
  get reason(): string {
    return reasonOf(this.cause)
  }
  override get message(): string {
    const { cause, group } = this
    return `The consumer of group "${group}" failed: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

/** A consumer, as a port of stores calls it. */
const handling = (group: string, handle: Consumer) => {
  const failed = (cause: unknown) => new ConsumerFailed({ group, cause })
  return (page: ReadonlyArray<FedRecord>): Effect.Effect<Done, ConsumerFailed> =>
    Effect.tryPromise({ try: async () => handle(page.map(fedOf)), catch: failed }).pipe(
      Effect.flatMap((done) =>
        Effect.isEffect(done) ? Effect.mapError(done, failed) : Effect.succeed(done),
      ),
    )
}

/**
 * Consumes the feed of a store as one of a group: what `consume` of a memory does, for a program that has only the store.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param handle - what is done with events
 * @param options - where a new group begins, and how
 *
 * @example
 * ```ts
 * import { type EventLog, Memory } from "@memfold/core"
 *
 * export const shown = (log: EventLog.Service) =>
 *   Memory.consume(log, "shown", (events) => console.log(events.length), { follow: false })
 * ```
 */
export const consume = (
  log: EventLog,
  group: string,
  handle: Consumer,
  options?: ConsumeOptions,
): Effect.Effect<void, ConsumerFailed | LogError> => consumed(log, group, handling(group, handle), options)

/**
 * Hands over what a group has given up, each event once, in a call of its own.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param handle - what is done with an event, such as a webhook
 *
 * @example
 * ```ts
 * import { type EventLog, Memory } from "@memfold/core"
 * import { Stream } from "effect"
 *
 * export const again = (log: EventLog.Service) =>
 *   Stream.runCollect(Memory.redeliver(log, "crm", ([event]) => console.log(event?.session)))
 * ```
 */
export const redeliver = (
  log: EventLog,
  group: string,
  handle: Consumer,
): Stream.Stream<Redelivered, LogError> => redelivered(log, group, handling(group, handle))
