/**
 * How a session's keys are named: `PREFIX:{TAG}:KIND:SESSION`, for example `memfold:{2r}:log:chat-1`.
 *
 * The tag in braces is the only part of a key that a cluster hashes. It names one of {@link buckets} buckets, and
 * not the session, so that a session's keys and the list of all sessions of its bucket share a slot: one script can
 * keep them true together. The session stands last and may hold any character.
 */
import { crc32 } from "node:zlib"

/** Into so many parts the sessions of a prefix are spread; each lies in one slot, and so on one master. */
export const buckets = 256

/** A cluster's number of slots. */
const slots = 16_384

/** The checksum that a cluster finds slots with (CRC-16/XMODEM). */
const crc16 = (text: string): number => {
  let value = 0
  for (const byte of Buffer.from(text)) {
    value ^= byte << 8
    for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ (value & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return value
}

/** One short tag for each bucket, with slots at even distances, so that every master gets its share. */
const tags: ReadonlyArray<string> = (() => {
  const found = new Map<number, string>()
  for (let number = 0; found.size < buckets; number++) {
    const tag = number.toString(36)
    const bucket = Math.floor((crc16(tag) % slots) / (slots / buckets))
    if (!found.has(bucket)) found.set(bucket, tag)
  }
  return Array.from({ length: buckets }, (_, bucket) => found.get(bucket) ?? "")
})()

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

/** The keys of one session. Other programs may read them; see the package's README for what they hold. */
export interface SessionKeys {
  /** A stream: the records, with the version as their id. */
  readonly log: string
  /** A hash: the version, the last commit, times, and which summary is active. */
  readonly meta: string
  /** A hash: for each commit id, where its batch stands. */
  readonly commits: string
  /** A hash: the cached fold. */
  readonly snapshot: string
  /** A hash: the active summary. */
  readonly summary: string
  /** A sorted set: the ids of all sessions of the same bucket. */
  readonly sessions: string
  /** Where a log is written anew, within one script. */
  readonly draft: string
}

/** A prefix as it stands in keys. Without braces of its own it ends where the tag begins: prefixes cannot overlap. */
export const prefixOf = (prefix: string): string =>
  toStored(prefix).replaceAll(/[%{}]/g, (brace) => `%${brace.charCodeAt(0).toString(16).toUpperCase()}`)

const key = (prefix: string, bucket: number, kind: string): string =>
  `${prefixOf(prefix)}:{${tags[bucket] ?? ""}}:${kind}`

/** The lists of sessions of a prefix, one for each bucket. */
export const sessionLists = (prefix: string): ReadonlyArray<string> =>
  tags.map((_, bucket) => key(prefix, bucket, "sessions"))

/**
 * The keys of a session.
 *
 * @example
 * ```ts
 * import { keysOf } from "@memfold/store-redis"
 *
 * console.log(keysOf("memfold", "chat-1").log) // memfold:{…}:log:chat-1
 * ```
 */
export const keysOf = (prefix: string, session: string): SessionKeys => {
  const name = toStored(session)
  const bucket = crc32(name) % buckets
  const of = (kind: string) => `${key(prefix, bucket, kind)}:${name}`
  return {
    log: of("log"),
    meta: of("meta"),
    commits: of("commits"),
    snapshot: of("snapshot"),
    summary: of("summary"),
    sessions: key(prefix, bucket, "sessions"),
    draft: of("draft"),
  }
}
