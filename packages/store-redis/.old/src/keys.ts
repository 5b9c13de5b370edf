/**
 * How a session's keys are named: `PREFIX:{TAG}:KIND:SESSION`, for example `memfold:{62}:log:chat-1`.
 *
 * The tag in braces is the only part of a key that a cluster hashes. It names one of {@link buckets} buckets, and
 * not the session, so that a session's keys and the list of all sessions of its bucket share a slot: one script can
 * keep them true together. The session stands last and may hold any character.
 */
import { crc32 } from "node:zlib"
import { toStored } from "./stored.js"

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

/** The keys of one session. Other programs may read them; see the package's README for what they hold. */
export interface SessionKeys {
  /** A stream: the records, with the version as their id. */
  readonly log: string
  /** A hash: how far the session is, which summary is active, and for each commit id where its batch stands. */
  readonly meta: string
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

/** Where a cluster has a key, by its tag. */
export const slotOf = (key: string): number => crc16(/\{(.*?)\}/s.exec(key)?.[1] ?? key) % slots

/** How all keys of a bucket begin. */
const stemOf = (prefix: string, tag: string): string => `${prefixOf(prefix)}:{${tag}}:`

/** The lists of sessions of a prefix, one for each bucket. */
export const sessionLists = (prefix: string): ReadonlyArray<string> =>
  tags.map((tag) => `${stemOf(prefix, tag)}sessions`)

const bucketOf = (name: string): number => crc32(name) % buckets

const keysAt = (stem: string, name: string): SessionKeys => ({
  log: `${stem}log:${name}`,
  meta: `${stem}meta:${name}`,
  snapshot: `${stem}snapshot:${name}`,
  summary: `${stem}summary:${name}`,
  sessions: `${stem}sessions`,
  draft: `${stem}draft:${name}`,
})

/** The keys of every session of a prefix, for those who ask often. */
export const keysUnder = (prefix: string): ((session: string) => SessionKeys) => {
  const stems = tags.map((tag) => stemOf(prefix, tag))
  return (session) => {
    const name = toStored(session)
    return keysAt(stems[bucketOf(name)] ?? "", name)
  }
}

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
  return keysAt(stemOf(prefix, tags[bucketOf(name)] ?? ""), name)
}
