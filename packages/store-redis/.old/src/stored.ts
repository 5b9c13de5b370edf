/** How texts, records and the head of a session stand in Redis. */
import type { EventLog } from "@memfold/core"

/** Stands before a text that had to be written as JSON. */
const mark = "\u0000"

/**
 * A text as Redis keeps it: as it is, in UTF-8. Half a character has no UTF-8, and two texts that differ in nothing
 * else would become one; those are written as JSON behind a mark.
 */
export const toStored = (text: string): string =>
  text.isWellFormed() && !text.startsWith(mark) ? text : mark + JSON.stringify(text)

/** The text that {@link toStored} was given. */
export const fromStored = (stored: string): string =>
  stored.startsWith(mark) ? String(JSON.parse(stored.slice(mark.length))) : stored

type Envelope = Pick<EventLog.NewRecord, "at" | "type" | "version" | "checksum">

/** What a record is, beside its commit and its data, as one field: `TIME VERSION CHECKSUM TYPE`. */
export const toHeader = ({ at, type, version, checksum }: Envelope): string =>
  `${at} ${version} ${checksum ?? "-"} ${toStored(type)}`

const fromHeader = (header: string): Envelope => {
  const [at = "", version = "", checksum = ""] = header.split(" ", 3)
  return {
    at: Number(at),
    type: fromStored(header.slice(at.length + version.length + checksum.length + 3)),
    version: Number(version),
    ...(checksum === "-" ? {} : { checksum: Number(checksum) }),
  }
}

/** A record from its entry in the stream: `h` its header, `c` its commit, `d` its data. */
export const toRecord = (
  session: string,
  [id, [, header = "", , commit = "", , data = ""]]: readonly [string, ReadonlyArray<string>],
): EventLog.LogRecord => ({
  session,
  seq: Number.parseInt(id, 10),
  commit: fromStored(commit),
  ...fromHeader(header),
  data: fromStored(data),
})

/** How far a session is. */
export interface Head {
  readonly version: number
  /** Messages behind the last clear. */
  readonly messages: number
  /** The time of the last record. */
  readonly updated: number
  /** The last commit, as it is stored. */
  readonly commit: string
}

/** The field `head` of a session that there is; the scripts write it. */
export const toHead = (stored: string): Head => {
  const [version = "", messages = "", updated = ""] = stored.split(" ", 3)
  return {
    version: Number(version),
    messages: Number(messages),
    updated: Number(updated),
    commit: stored.slice(version.length + messages.length + updated.length + 3),
  }
}
