/**
 * The names of a session's keys: `PREFIX:{TAG}:KIND:SESSION`, for example `memfold:{62}:log:chat-1`.
 *
 * A cluster hashes only the tag in braces. The tag stands for one of {@link buckets} buckets and not for the session:
 * a session's keys and the list of all sessions in its bucket share a slot, and one script can change them together. The
 * session comes last and may contain any character.
 */
import { crc32 } from "node:zlib"
import { toStored } from "./stored.js"

/** The sessions of a prefix are spread over this many buckets. Each bucket is in one slot, and so on one master. */
export const buckets = 256

const slots = 16_384

/** The checksum that a cluster derives slots from (CRC-16/XMODEM). */
const crc16 = (text: string): number => {
  let value = 0
  for (const byte of Buffer.from(text)) {
    value ^= byte << 8
    for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ (value & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return value
}

/** One short tag for each bucket. Their slots are evenly spaced, which gives every master its share. */
const tags: ReadonlyArray<string> = (() => {
  const found = new Map<number, string>()
  for (let number = 0; found.size < buckets; number++) {
    const tag = number.toString(36)
    const bucket = Math.floor((crc16(tag) % slots) / (slots / buckets))
    if (!found.has(bucket)) found.set(bucket, tag)
  }
  return Array.from({ length: buckets }, (_, bucket) => found.get(bucket) ?? "")
})()

/** The keys of one session. Other programs may read them; the package's README describes their content. */
export interface SessionKeys {
  /** A stream: the records. A record's version is its id. */
  readonly log: string
  /** A hash: the session's version, its description, the kinds of its rows, and the range of each batch by its id. */
  readonly meta: string
  /** A hash: the rows of a kind, such as `snapshot` or `summary`. The field of a row is `=` and its key. */
  readonly rows: (kind: string) => string
  /** A sorted set: the ids of all sessions in the same bucket. */
  readonly sessions: string
  /** The start of the keys of sets: the ids of an owner's sessions in the same bucket. The owner follows. */
  readonly owned: string
  /**
   * A hash: the last rewrite of each session in the same bucket whose old text may still be in the servers' files, by its
   * batch id.
   */
  readonly unfinished: string
  /** A stream: which versions were written of the sessions in the same bucket, by their numbers and in the order of the writes. */
  readonly feed: string
  /** A hash: the sessions of the feed of the same bucket by their numbers; `#` has the last number, `@` that the feed has begun: 1 once all are entered. */
  readonly numbers: string
  /** A stream that exists only inside the script that rewrites a log. */
  readonly draft: string
}

const escaped = (text: string, characters: RegExp): string =>
  toStored(text).replaceAll(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** A prefix in the form it has in keys. Its braces are escaped: the first brace ends it, and prefixes cannot overlap. */
const prefixOf = (prefix: string): string => escaped(prefix, /[%{}]/g)

/** A kind of rows in the form it has in keys and for scripts. Its colons are escaped: a colon ends it. */
export const kindOf = (kind: string): string => escaped(kind, /[%:]/g)

/** The key that has the number of the stored form of a prefix. */
export const formKeyOf = (prefix: string): string => `${prefixOf(prefix)}:{${tags[0]}}:form`

/** The slot of a key in a cluster. */
export const slotOf = (key: string): number => crc16(/\{(.*?)\}/s.exec(key)?.[1] ?? key) % slots

/** The keys that the sessions of a bucket share. */
type BucketKeys = Pick<SessionKeys, "sessions" | "owned" | "unfinished" | "feed" | "numbers">

const inBucket = (start: string): BucketKeys => ({
  sessions: `${start}sessions`,
  owned: `${start}owned:`,
  unfinished: `${start}unfinished`,
  feed: `${start}feed`,
  numbers: `${start}numbers`,
})

/** The keys of each bucket of a prefix. */
export const bucketKeys = (prefix: string): ReadonlyArray<BucketKeys> =>
  tags.map((tag) => inBucket(`${prefixOf(prefix)}:{${tag}}:`))

/** The most sessions whose keys are kept: making the keys of a session takes as long as sending a request. */
const mostKept = 1_000

/** Finds the keys of the sessions of a prefix. */
export type KeysOf = (session: string) => SessionKeys

/** The keys of every session of a prefix; the prefix is escaped once. */
export const keysUnder = (prefix: string): KeysOf => {
  const escaped = prefixOf(prefix)
  const kept = new Map<string, SessionKeys>()
  return (session) => {
    const known = kept.get(session)
    if (known !== undefined) return known
    const name = toStored(session)
    const start = `${escaped}:{${tags[crc32(name) % buckets] ?? ""}}:`
    const keys = {
      log: `${start}log:${name}`,
      meta: `${start}meta:${name}`,
      rows: (kind: string) => `${start}rows:${kindOf(kind)}:${name}`,
      draft: `${start}draft:${name}`,
      ...inBucket(start),
    }
    if (kept.size >= mostKept) kept.clear()
    kept.set(session, keys)
    return keys
  }
}

/**
 * The keys of a session.
 *
 * @param prefix - the `prefix` option of the log
 * @param session - the id of the session
 * @returns the names of its keys, whether they exist or not
 *
 * @example
 * ```ts
 * import { keysOf } from "@memfold/store-redis"
 *
 * console.log(keysOf("memfold", "chat-1").log) // memfold:{…}:log:chat-1
 * ```
 */
export const keysOf = (prefix: string, session: string): SessionKeys => keysUnder(prefix)(session)
