/**
 * Encodes events to stored records and decodes them. Decoding upcasts old schema versions with pure functions, skips
 * events of a newer memfold, and reports the session and version of an event that it cannot read.
 */
import { Array, Effect, Either, ParseResult, Schema } from "effect"
import { atOnce, mappedInSteps, type Steps } from "@memfold/log/breathe"
import { type LogRecord, type NewRecord, type RewrittenRecord, sealedStart } from "@memfold/log/EventLog"
import { exactCheck } from "./exactCheck.js"
import type { Message } from "@memfold/message/Message"
import { Actor, CurrentActor } from "./Actor.js"
import { checksumInSteps, checksumOf } from "./checksum.js"
import { Event, schemaVersions } from "./Event.js"
import { ofData, toData, toSchema } from "./messageData.js"

export { checksumOf } from "./checksum.js"

/** An event of an unknown type or of a newer schema version: the log keeps it, and the fold skips it. */
export interface UnknownEvent {
  readonly _tag: "UnknownEvent"
  readonly type: string
  readonly schemaVersion: number
}

/**
 * A damaged summary. It is not an error: the log still has all the messages that it covered. The fold treats it as never
 * committed, and a later compaction covers the messages again.
 */
export interface DamagedSummary {
  readonly _tag: "DamagedSummary"
  readonly detail: string
}

/**
 * A message that cannot be read. It is not an error: the session goes on without its content, which nothing else has. It keeps
 * its place among the messages, so that the indexes of later ones stay right.
 */
export interface DamagedMessage {
  readonly _tag: "DamagedMessage"
  readonly detail: string
}

/** A decoded event: a known one, an unknown one, or a damaged summary or message. */
export type AnyEvent = Event | UnknownEvent | DamagedSummary | DamagedMessage

/** What stands in the place of a message that cannot be read: nobody knows its role, and an answer without parts says nothing. */
export const unreadable: Message = { role: "assistant", parts: [] }

/** The message that an event appended, or {@link unreadable} in its place; `null` for an event that appended none. */
export const appendedMessage = (event: AnyEvent): Message | null => {
  if (event._tag === "DamagedMessage") return unreadable
  return event._tag === "MessageAppended" ? event.message : null
}

/** A decoded event with its session, version, id and time. */
export interface RecordedEvent<E = AnyEvent> {
  readonly session: string
  /** Its position in the session's log, from 1, without gaps. */
  readonly version: number
  /** Its batch id and its version; unique within a session. */
  readonly id: string
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  readonly event: E
  /** Who did it; absent if nobody has said so. */
  readonly actor?: Actor
}

/** An event that is to be appended: with its time, and with who does it. */
export type TimedEvent = Pick<RecordedEvent<Event>, "time" | "event" | "actor">

/** Events with their time, and with the current actor (see `as`). */
export const timedNow = <Events extends ReadonlyArray<Event>>(
  time: number,
  events: Events,
): Effect.Effect<Array.ReadonlyArray.With<Events, TimedEvent>> =>
  Effect.map(CurrentActor, (actor) =>
    Array.map(events, (event): TimedEvent => (actor === null ? { time, event } : { time, event, actor })),
  )

/**
 * A stored event cannot be read. Other sessions, and the events of this session before `version`, are not affected.
 * `detail` says what is wrong.
 */
export class DamagedEvent extends Schema.TaggedError<DamagedEvent>()("DamagedEvent", {
  session: Schema.String,
  version: Schema.Number,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Event ${this.version} of session "${this.session}" is damaged: ${this.detail}`
  }
}

/** The id of a stored event: its batch id, a dot and its version. */
export const eventId = ({ batchId, version }: Pick<LogRecord, "batchId" | "version">): string =>
  `${batchId}.${version}`

/**
 * The batch id of a stored event, taken from its id: events that came in one append have one.
 *
 * @example
 * ```ts
 * import { EventCodec } from "@memfold/core"
 *
 * console.log(EventCodec.batchIdOf({ id: "turn-7.12", version: 12 })) // "turn-7"
 * ```
 */
export const batchIdOf = ({ id, version }: Pick<RecordedEvent, "id" | "version">): string =>
  id.slice(0, -1 - String(version).length)

/**
 * New events as they will stand in the log of a session.
 *
 * @param place the session, and its version before the events
 * @param batchId the batch id that they will be appended with
 * @param events the events with their times, in order
 */
export const recordedAfter = (
  { session, version: before }: Pick<RecordedEvent, "session" | "version">,
  batchId: string,
  events: ReadonlyArray<TimedEvent>,
): ReadonlyArray<RecordedEvent> =>
  events.map((timed, position) => {
    const version = before + 1 + position
    return { session, version, id: eventId({ batchId, version }), ...timed }
  })

/** Converts the data of an event from one schema version to the next. It must be a pure function. */
export type Upcaster = (data: unknown) => unknown

/** For each event type, the upcasters by the schema version that they start from. */
export type Upcasters = Readonly<Record<string, Readonly<Record<number, Upcaster>>>>

/** A change of an event's schema adds an upcaster here and raises the schema version of the event. */
const upcasters: Upcasters = {
  // Version 2 has a short form for most messages; the others are as before.
  MessageAppended: { 1: (data) => data },
}

// The schema itself is compiled when it is first needed: most processes need it for nothing, and all of them import this.
const isExactEvent = exactCheck(Event)
const isActor = exactCheck(Actor)

const dataOf = (event: Event): object => {
  if (event._tag === "MessageAppended") {
    const data = toData(event)
    if (data !== null) return data
  }
  const { _tag, ...data } = isExactEvent(event) ? event : Schema.encodeSync(Event)(event)
  return data
}

/**
 * Encodes an event: its type, its schema version, and its data as JSON text. {@link encodeBatch} adds what the place in
 * the log decides.
 *
 * @example
 * ```ts
 * import { EventCodec } from "@memfold/core"
 *
 * const stored = EventCodec.encode({ _tag: "SessionCleared" })
 * console.log(stored.type, stored.data) // SessionCleared {}
 * ```
 */
export const encode = (event: Event, actor?: Actor): Pick<LogRecord, "type" | "schemaVersion" | "data"> => {
  const { _tag } = event
  const data = actor === undefined ? dataOf(event) : { ...dataOf(event), actor }
  return { type: _tag, schemaVersion: schemaVersions[_tag], data: JSON.stringify(data) }
}

/**
 * Encodes the events of a batch for a session, with their checksums.
 *
 * @param place the session, and its version before the events
 * @param batchId the batch id that they will be appended with
 * @param events the events with their times, in order
 *
 * @example
 * ```ts
 * import { EventCodec } from "@memfold/core"
 *
 * const cleared = { time: 0, event: { _tag: "SessionCleared" } } as const
 * const [record] = EventCodec.encodeBatch({ session: "chat-1", version: 8 }, "batch-3", [cleared])
 * console.log(record?.checksum)
 * ```
 */
export const encodeBatch = <Events extends ReadonlyArray<TimedEvent>>(
  { session, version }: Pick<RecordedEvent, "session" | "version">,
  batchId: string,
  events: Events,
): Array.ReadonlyArray.With<Events, NewRecord> =>
  atOnce(encodeBatchSteps({ session, version }, batchId, events))

/** {@link encodeBatch} in steps: a batch can be long, and an event. */
export const encodeBatchSteps = <Events extends ReadonlyArray<TimedEvent>>(
  { session, version }: Pick<RecordedEvent, "session" | "version">,
  batchId: string,
  events: Events,
): Steps<Array.ReadonlyArray.With<Events, NewRecord>> =>
  mappedInSteps(events, function* ({ time, event, actor }, position): Steps<NewRecord> {
    const { type, schemaVersion, data } = encode(event, actor)
    const at = version + 1 + position
    const record = { session, version: at, batchId, time, type, schemaVersion, data }
    const checksum = yield* checksumInSteps(record)
    return { time, type, schemaVersion, data, checksum }
  }) as Steps<Array.ReadonlyArray.With<Events, NewRecord>>

/** Encodes the new content of an event that is in the log already. */
export const encodeRewritten = (recorded: RecordedEvent<Event>): RewrittenRecord => {
  const { session, version, time, event, actor } = recorded
  const stored = encode(event, actor)
  const checksum = checksumOf({ session, version, batchId: batchIdOf(recorded), time, ...stored })
  return { version, schemaVersion: stored.schemaVersion, data: stored.data, checksum }
}

/** The fields that name summaries, by event type. */
const summaryFields: { readonly [Type in string]?: ReadonlyArray<string> } = {
  SummaryCommitted: ["summary"],
  SummarySuperseded: ["summary", "by"],
  SummaryInvalidated: ["summary"],
} satisfies Partial<Record<Event["_tag"], ReadonlyArray<string>>>

/** Event data with other summary ids. What a newer memfold wrote stays as it is: nobody knows what names a summary there. */
const withSummaryIds = (
  { type, schemaVersion, data }: LogRecord,
  idOf: (summary: string) => string,
): string => {
  const fields = summaryFields[type]
  if (fields === undefined || schemaVersion !== schemaVersions[type as Event["_tag"]]) return data
  let values: unknown
  try {
    values = JSON.parse(data)
  } catch {
    return data
  }
  if (typeof values !== "object" || values === null) return data
  const changed = Object.entries(values).map(([field, value]) =>
    fields.includes(field) && typeof value === "string" ? [field, idOf(value)] : [field, value],
  )
  return JSON.stringify(Object.fromEntries(changed))
}

/**
 * A record for another place in the log. A damaged one stays damaged, because nobody knows its content.
 *
 * @param record the record in its place
 * @param place where the copy will be
 * @param idOf the id in the copy of a summary that the record names
 */
export const movedTo = (
  record: LogRecord,
  place: Pick<LogRecord, "session" | "version" | "batchId">,
  idOf: (summary: string) => string,
): NewRecord => {
  const { time, type, schemaVersion, checksum } = record
  if (checksum !== undefined && checksum !== checksumOf(record))
    return { time, type, schemaVersion, data: record.data, checksum }
  const copy = { time, type, schemaVersion, data: withSummaryIds(record, idOf) }
  return checksum === undefined ? copy : { ...copy, checksum: checksumOf({ ...copy, ...place }) }
}

/**
 * Makes a {@link decode} with other upcasters and schema versions than memfold's. It is for tests of schema changes.
 *
 * @param steps the upcasters, by event type and by the schema version that they start from
 * @param current the newest known schema version of each event type
 * @returns a function from a record to its event, or to a {@link DamagedEvent}
 */
export const decodeWith =
  (steps: Upcasters, current: Readonly<Record<string, number>>) =>
  (record: LogRecord): Either.Either<RecordedEvent, DamagedEvent> => {
    const { session, version, time } = record
    let actor: Actor | undefined
    const recorded = <E extends AnyEvent>(event: E): Either.Either<RecordedEvent, DamagedEvent> => {
      const plain = { session, version, id: eventId(record), time, event }
      return Either.right(actor === undefined ? plain : { ...plain, actor })
    }
    const damaged = (detail: string): Either.Either<RecordedEvent, DamagedEvent> => {
      if (record.type === "SummaryCommitted") return recorded({ _tag: "DamagedSummary", detail })
      if (record.type === "MessageAppended") return recorded({ _tag: "DamagedMessage", detail })
      return Either.left(new DamagedEvent({ session, version, detail }))
    }
    // Nothing is lost, so the session must not go on without it.
    if (record.data.startsWith(sealedStart))
      return Either.left(
        new DamagedEvent({ session, version, detail: "it is sealed; open the store with its keys (sealed)" }),
      )
    if (record.checksum !== undefined && record.checksum !== checksumOf(record)) {
      return damaged("it is not as it was written, or not in its place: the checksum does not match")
    }
    const known = Object.hasOwn(current, record.type) ? current[record.type] : undefined
    if (known === undefined || record.schemaVersion > known) {
      return recorded({ _tag: "UnknownEvent", type: record.type, schemaVersion: record.schemaVersion })
    }
    let data: unknown
    try {
      data = JSON.parse(record.data)
      for (let schema = record.schemaVersion; schema < known; schema++) {
        const step = steps[record.type]?.[schema]
        if (step === undefined)
          return damaged(`there is no upcaster from schema version ${schema} of ${record.type}`)
        data = step(data)
      }
    } catch {
      return damaged(`its data is not readable as ${record.type} of schema version ${record.schemaVersion}`)
    }
    if (typeof data !== "object" || data === null) return damaged("its data is not an object")
    let stored: object = data
    if ("actor" in data) {
      const { actor: given, ...rest } = data
      // An actor of a later form tells less, and its event is there all the same.
      actor = isActor(given) ? given : undefined
      stored = rest
    }
    const isMessage = record.type === "MessageAppended"
    const message = isMessage ? ofData(stored) : null
    if (message !== null) return recorded(message)
    const event = { _tag: record.type, ...stored }
    if (event._tag === record.type && isExactEvent(event)) return recorded(event)
    const given = { ...(isMessage ? toSchema(stored) : stored), _tag: record.type }
    return Either.match(Schema.decodeUnknownEither(Event)(given), {
      onLeft: (error) => damaged(`${record.type} does not fit its schema at ${where(error)}`),
      onRight: recorded,
    })
  }

/** The path of the first mismatch. It leaves out the value, which may be private. */
const where = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path.map(String).join(".") || "its root"

/**
 * Decodes a stored record.
 *
 * A damaged summary or message is a result and not an error; an unknown event is a result too. Any other record that cannot be read
 * gives a {@link DamagedEvent}.
 *
 * @example
 * ```ts
 * import { EventCodec } from "@memfold/core"
 * import { Either } from "effect"
 *
 * const stored = EventCodec.encode({ _tag: "SessionCleared" })
 * const record = { session: "chat-1", version: 1, batchId: "b1", time: 0, ...stored }
 * console.log(Either.map(EventCodec.decode(record), ({ event }) => event._tag))
 * ```
 */
export const decode: (record: LogRecord) => Either.Either<RecordedEvent, DamagedEvent> = decodeWith(
  upcasters,
  schemaVersions,
)
