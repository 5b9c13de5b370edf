/**
 * Events to stored records and back. Reading upcasts old versions with pure functions, keeps what a newer
 * memfold wrote, and names the session and sequence number of whatever it cannot read.
 */
import { Either, ParseResult, Schema } from "effect"
import type { LogRecord } from "../log/EventLog.js"
import { checksumOf } from "./checksum.js"
import { Event, schemaVersions } from "./Event.js"

export { checksumOf } from "./checksum.js"

/** An event of a type or version this memfold does not know: kept in the log, skipped by the fold. */
export interface UnknownEvent {
  readonly _tag: "UnknownEvent"
  readonly type: string
  readonly schemaVersion: number
}

/**
 * A stored summary that cannot be read. It is no error of the session: the messages it stood for are all in the
 * log, so the fold does as if it had never been committed, and it is written anew (reference design 3).
 */
export interface DamagedSummary {
  readonly _tag: "DamagedSummary"
  readonly detail: string
}

/** What a stored event can turn out to be. */
export type AnyEvent = Event | UnknownEvent | DamagedSummary

/** A stored event with its envelope. */
export interface RecordedEvent<E = AnyEvent> {
  readonly session: string
  /** Its place in the session's log: contiguous, from 1. */
  readonly version: number
  /** Its batch and its place; within a session it names one event. */
  readonly id: string
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  readonly event: E
}

/** A stored event that cannot be read. Other sessions, and this one up to `seq - 1`, are not touched by it. */
export class DamagedEvent extends Schema.TaggedError<DamagedEvent>()("DamagedEvent", {
  session: Schema.String,
  version: Schema.Number,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Event ${this.version} of session "${this.session}" is damaged: ${this.detail}`
  }
}

/** The id of a stored event. */
export const eventId = ({ batchId, version }: Pick<LogRecord, "batchId" | "version">): string =>
  `${batchId}.${version}`

/** The commit that a stored event came with. */
export const batchIdOf = ({ id, version }: Pick<RecordedEvent, "id" | "version">): string =>
  id.slice(0, -1 - String(version).length)

/** Brings the data of one version to the next. */
export type Upcaster = (data: unknown) => unknown

/** For each event type, the upcaster that leaves the version of its key. */
export type Upcasters = Readonly<Record<string, Readonly<Record<number, Upcaster>>>>

/** No event has changed its form yet. The first that does puts its step here and raises its version. */
const upcasters: Upcasters = {}

const encodeEvent = Schema.encodeSync(Event)
const decodeEvent = Schema.decodeUnknownEither(Event)

/** The stored form of an event: its type, its version, its data as JSON, and a checksum over them. */
export const encode = (
  event: Event,
): Required<Pick<LogRecord, "type" | "schemaVersion" | "data" | "checksum">> => {
  const { _tag, ...data } = encodeEvent(event)
  const stored = { type: _tag, schemaVersion: schemaVersions[_tag], data: JSON.stringify(data) }
  return { ...stored, checksum: checksumOf(stored) }
}

/**
 * Decodes with a table of upcasters and current versions of one's own; {@link decode} is this with memfold's.
 */
export const decodeWith =
  (steps: Upcasters, current: Readonly<Record<string, number>>) =>
  (record: LogRecord): Either.Either<RecordedEvent, DamagedEvent> => {
    const { session, version, time } = record
    const envelope = { session, version, id: eventId(record), time }
    const damaged = (detail: string): Either.Either<RecordedEvent, DamagedEvent> =>
      record.type === "SummaryCommitted"
        ? Either.right({ ...envelope, event: { _tag: "DamagedSummary", detail } })
        : Either.left(new DamagedEvent({ session, version, detail }))
    if (record.checksum !== undefined && record.checksum !== checksumOf(record)) {
      return damaged("its data is not what was written: the checksum does not match")
    }
    const known = Object.hasOwn(current, record.type) ? current[record.type] : undefined
    if (known === undefined || record.schemaVersion > known) {
      return Either.right({
        ...envelope,
        event: { _tag: "UnknownEvent", type: record.type, schemaVersion: record.schemaVersion },
      })
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
      return damaged(`its data is not readable as ${record.type} of version ${record.schemaVersion}`)
    }
    if (typeof data !== "object" || data === null) return damaged("its data is not an object")
    return Either.match(decodeEvent({ ...data, _tag: record.type }), {
      onLeft: (error) => damaged(`${record.type} does not fit its schema at ${where(error)}`),
      onRight: (event) => Either.right({ ...envelope, event }),
    })
  }

/** The path of the first thing that did not fit, without the value that stood there. */
const where = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path.map(String).join(".") || "its root"

/** Reads a stored record. */
export const decode: (record: LogRecord) => Either.Either<RecordedEvent, DamagedEvent> = decodeWith(
  upcasters,
  schemaVersions,
)
