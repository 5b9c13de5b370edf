/** The form that texts, records and the head of a session have in Redis. */
import type { EventLog } from "@memfold/log"

/** The first character of a text that is stored as JSON. */
const mark = "\u0000"

/**
 * A text in the form that Redis keeps: unchanged, in UTF-8. Half a surrogate pair has no UTF-8, so texts that differ only
 * in such halves would become equal; they are stored as JSON behind a mark.
 */
export const toStored = (text: string): string =>
  text.isWellFormed() && !text.startsWith(mark) ? text : mark + JSON.stringify(text)

/**
 * The text that {@link toStored} was given. A text that another program has damaged is returned unchanged: whoever reads it
 * checks it, with or without a mark.
 */
export const fromStored = (stored: string): string => {
  if (!stored.startsWith(mark)) return stored
  try {
    return String(JSON.parse(stored.slice(mark.length)))
  } catch {
    return stored
  }
}

type Envelope = Pick<EventLog.NewRecord, "time" | "type" | "schemaVersion" | "checksum">

/** All of a record but its batch and its data, as one field: `TIME SCHEMA CHECKSUM TYPE`. */
export const toHeader = ({ time, type, schemaVersion: version, checksum }: Envelope): string =>
  `${time} ${version} ${checksum ?? "-"} ${toStored(type)}`

const fromHeader = (header: string): Envelope => {
  const [time = "", schema = "", checksum = ""] = header.split(" ", 3)
  return {
    time: Number(time),
    type: fromStored(header.slice(time.length + schema.length + checksum.length + 3)),
    schemaVersion: Number(schema),
    ...(checksum === "-" ? {} : { checksum: Number(checksum) }),
  }
}

/** An entry of a stream: its id, and its fields with their values. */
export type Entry = readonly [id: string, fields: ReadonlyArray<string>]

/** A record from its entry in the stream: `h` is its header, `b` its batch id, `d` its data. */
export const toRecord = (
  session: string,
  [id, [, header = "", , batch = "", , data = ""]]: Entry,
): EventLog.LogRecord => ({
  session,
  version: Number.parseInt(id, 10),
  batchId: fromStored(batch),
  ...fromHeader(header),
  data: fromStored(data),
})

/** The start of the field `head` (`VERSION BATCH UPDATED`): the version of a session, and the batch of its last record. */
export const toStartOfHead = (version: number, batchId: string | undefined): string =>
  batchId === undefined ? `${version} ` : `${version} ${toStored(batchId)} `

/** A session's version, and the batch id and the time of its last record, from the field `head`. */
export const fromHead = (
  head: string,
): Pick<EventLog.SessionInfo, "version" | "updatedTime"> & EventLog.LogPosition => {
  const [behindVersion, behindBatch] = [head.indexOf(" "), head.lastIndexOf(" ")]
  return {
    version: Number(head.slice(0, Math.max(behindVersion, 0))),
    batchId: fromStored(head.slice(behindVersion + 1, behindBatch)),
    updatedTime: Number(head.slice(behindBatch + 1)),
  }
}
