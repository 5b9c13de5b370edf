/**
 * The projection rows of a part of an index, as bytes in base 64: its head, and its buckets of terms. The checksum of a row
 * includes its place, so a damaged or misplaced row is never used.
 *
 * A head has the version of the terms, the index of the first message, and for each message its distance in versions to the previous message,
 * its number of terms, and its time: the distance to the previous time, or eight bytes where a time is no whole number of milliseconds. A
 * bucket has terms in order. A term has its postings: the distance in messages to the previous posting and the count as one number. Numbers take
 * seven bits in a byte, the lowest first.
 */
import { Either, Encoding } from "effect"
import { crc32 } from "../event/checksum.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import { isMark } from "../search/marks.js"
import type { Part } from "./SessionIndex.js"
import { atOnce, type Steps } from "@memfold/log/breathe"
import { termsVersion } from "../search/terms.js"

/** The version of the form. A part in another form is built again. */
const formVersion = 5

/** How many terms a bucket has on average: fewer make more rows, more take longer to look through. */
const bucketSize = 32

/** A hash of a term, by which its bucket is found. All marks are in one bucket: a search asks for a mark of each of its words. */
export const hashOf = (term: string): number => crc32(isMark(term) ? "" : term)

/**
 * A part of the stored index of a session: the messages among the events after the part before it. The bucket of a term is
 * named by its hash modulo `buckets`.
 */
export interface StoredPart {
  /** The last event in it: its version, and its batch id. Together they identify the log. */
  readonly version: number
  readonly batchId: string
  readonly buckets: number
}

/** Where a part is: the checksums of its pieces depend on it. */
interface LocatedPart extends StoredPart {
  readonly session: string
}

export const headKey = ({ version }: Pick<StoredPart, "version">): string => `${version}`

export const bucketKey = ({ version }: Pick<StoredPart, "version">, bucket: number): string =>
  `${version}.${bucket}`

/** Counts below this stand beside the distance of a posting, and larger ones behind it: most terms occur once in a message. */
const countsBeside = 4

/** Whether the distance between two times can be written as a number. */
const isWhole = (time: number): boolean => Number.isInteger(time) && Math.abs(time) < 2 ** 50

export const keysOf = (part: StoredPart): ReadonlyArray<string> => [
  headKey(part),
  ...Array.from({ length: part.buckets }, (_, bucket) => bucketKey(part, bucket)),
]

/** The bytes of a row; none if it is missing, or is not base 64. */
const bytesOf = (data: string | undefined): Uint8Array =>
  Either.getOrElse(Encoding.decodeBase64(data ?? ""), () => new Uint8Array())

class Writer {
  private bytes = new Uint8Array(256)
  private length = 4

  private grow(): void {
    const larger = new Uint8Array(2 * this.bytes.length)
    larger.set(this.bytes)
    this.bytes = larger
  }

  number(value: number): void {
    if (this.length + 8 > this.bytes.length) this.grow()
    if (value < 0x80) {
      this.bytes[this.length++] = value
      return
    }
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes[this.length++] = (rest % 0x80) + 0x80
    this.bytes[this.length++] = rest
  }

  /** A whole number of any sign: those near 0 are short. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value)
  }

  posting(distance: number, count: number): void {
    this.number(distance * countsBeside + Math.min(count, countsBeside) - 1)
    if (count >= countsBeside) this.number(count - countsBeside)
  }

  /** Any number, in eight bytes. */
  double(value: number): void {
    if (this.length + 8 > this.bytes.length) this.grow()
    new DataView(this.bytes.buffer).setFloat64(this.length, value)
    this.length += 8
  }

  /** A term, and in how many messages it is: mostly in one. */
  term(value: string, messages: number): void {
    this.number(2 * value.length + (messages === 1 ? 0 : 1))
    if (messages !== 1) this.number(messages)
    for (let at = 0; at < value.length; at++) this.number(value.charCodeAt(at))
  }

  /** The bytes behind their checksum, which begins with the checksum of the place, in base 64. */
  done(place: number): string {
    const sum = crc32(this.bytes.subarray(4, this.length), place)
    for (let at = 0; at < 4; at++) this.bytes[at] = (sum >>> (8 * at)) & 0xff
    return Encoding.encodeBase64(this.bytes.subarray(0, this.length))
  }
}

class Reader {
  at = 4

  constructor(private readonly bytes: Uint8Array) {}

  /** Whether the checksum fits the rest of the bytes at this place. */
  isSound(place: number): boolean {
    let sum = 0
    for (let at = 3; at >= 0; at--) sum = sum * 0x100 + (this.bytes[at] ?? 0)
    return this.bytes.length >= 4 && crc32(this.bytes.subarray(4), place) === sum
  }

  get hasMore(): boolean {
    return this.at < this.bytes.length
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.bytes[this.at++] ?? 0
      if (byte < 0x80) return value + byte * scale
      value += (byte - 0x80) * scale
    }
  }

  signed(): number {
    const value = this.number()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  double(): number {
    this.at += 8
    const { buffer, byteOffset, byteLength } = this.bytes
    return this.at > byteLength ? 0 : new DataView(buffer, byteOffset).getFloat64(this.at - 8)
  }

  /** A term, and in how many messages it is. */
  term(): readonly [term: string, messages: number] {
    const first = this.number()
    const messages = first % 2 === 0 ? 1 : this.number()
    let term = ""
    for (let length = Math.floor(first / 2); length > 0; length--) term += String.fromCharCode(this.number())
    return [term, messages]
  }

  /** Reads `count` postings into a list, from the number of a message on. */
  postings(count: number, from: number): Array<number> {
    const list: Array<number> = []
    let index = from
    for (let left = count; left > 0 && this.hasMore; left--) {
      const value = this.number()
      const beside = (value % countsBeside) + 1
      index += Math.floor(value / countsBeside)
      list.push(index, beside < countsBeside ? beside : countsBeside + this.number())
    }
    return list
  }

  private skipNumber(): void {
    while (this.bytes[this.at++]! >= 0x80);
  }

  skipPostings(count: number): void {
    for (let left = count; left > 0 && this.hasMore; left--) {
      const isBehind = this.bytes[this.at]! % countsBeside === countsBeside - 1
      this.skipNumber()
      if (isBehind) this.skipNumber()
    }
  }
}

const placeOf = ({ session, version, batchId, buckets }: LocatedPart, piece: string): number =>
  crc32(`${session}\n${version}\n${batchId}\n${buckets}\n${piece}`)

/** What the head of a part says. */
export type Head = Pick<Part, "from" | "versions" | "times" | "lengths">

interface EncodedPart {
  readonly part: StoredPart
  readonly rows: ReadonlyArray<ProjectionRow>
}

/** How many buckets are encoded in a step. */
const bucketsPerStep = 64

/** A part, and its rows. A step is some buckets. */
export function* encodeInSteps(
  { session, version, batchId }: Omit<LocatedPart, "buckets">,
  { from, versions, times, lengths, postings }: Part,
): Steps<EncodedPart> {
  const buckets = Math.ceil(postings.size / bucketSize)
  const part = { version, batchId, buckets }
  const at = { ...part, session }
  const head = new Writer()
  const isExact = times.every(isWhole)
  for (const value of [formVersion, termsVersion, from, versions.length, isExact ? 1 : 0]) head.number(value)
  for (const [position, version] of versions.entries()) {
    head.number(version - (versions[position - 1] ?? 0))
    head.number(lengths[position]! - (lengths[position - 1] ?? 0))
    if (isExact) head.signed(times[position]! - (times[position - 1] ?? 0))
    else head.double(times[position]!)
  }
  const inBuckets = Array.from({ length: buckets }, (): Array<string> => [])
  for (const term of postings.keys()) inBuckets[hashOf(term) % buckets]!.push(term)
  const rows = [{ key: headKey(part), data: head.done(placeOf(at, "head")) }]
  for (const [bucket, terms] of inBuckets.entries()) {
    if (bucket % bucketsPerStep === 0) yield
    const writer = new Writer()
    for (const term of terms.toSorted()) {
      const list = postings.get(term)!
      writer.term(term, list.length / 2)
      let before = from
      for (let position = 0; position < list.length; position += 2) {
        writer.posting(list[position]! - before, list[position + 1]!)
        before = list[position]!
      }
    }
    rows.push({ key: bucketKey(part, bucket), data: writer.done(placeOf(at, `${bucket}`)) })
  }
  return { part, rows }
}

/** A part, and its rows, at one go. */
export const encodePart = (...given: Parameters<typeof encodeInSteps>): EncodedPart =>
  atOnce(encodeInSteps(...given))

/** Whether a part is sound, but was made by other rules: then there is nothing that it can be compared with. */
export const isOfOtherRules = (session: string, part: StoredPart, head: string | undefined): boolean => {
  const reader = new Reader(bytesOf(head))
  if (!reader.isSound(placeOf({ ...part, session }, "head"))) return false
  return reader.number() !== formVersion || reader.number() !== termsVersion
}

/** The head of a part; `null` if it is damaged, or of another version of the terms or the form. */
export const decodeHead = (session: string, part: StoredPart, head: string | undefined): Head | null => {
  const reader = new Reader(bytesOf(head))
  if (!reader.isSound(placeOf({ ...part, session }, "head"))) return null
  if (reader.number() !== formVersion || reader.number() !== termsVersion) return null
  const [from, count, isExact] = [reader.number(), reader.number(), reader.number() === 1]
  const [versions, times, lengths]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  let [version, length, time] = [0, 0, 0]
  for (let position = 0; position < count; position++) {
    versions.push((version += reader.number()))
    lengths.push((length += reader.number()))
    times.push(isExact ? (time += reader.signed()) : reader.double())
  }
  return { from, versions, times, lengths }
}

/**
 * Adds the postings of a bucket to `into`, of wanted terms or of all terms. `false` if the bucket is damaged.
 *
 * @param from - the index of the first message of the part
 */
export const decodeBucket = (
  place: LocatedPart,
  {
    bucket,
    data,
    from,
  }: { readonly bucket: number; readonly data: string | undefined; readonly from: number },
  into: Map<string, Array<number>>,
  wanted?: ReadonlySet<string>,
): boolean => {
  const reader = new Reader(bytesOf(data))
  if (!reader.isSound(placeOf(place, `${bucket}`))) return false
  while (reader.hasMore) {
    const [term, messages] = reader.term()
    if (wanted === undefined || wanted.has(term)) into.set(term, reader.postings(messages, from))
    else reader.skipPostings(messages)
  }
  return true
}
