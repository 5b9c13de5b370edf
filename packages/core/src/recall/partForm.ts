/**
 * The projection rows of a part of an index, as bytes in base 64: its head, and its buckets of terms. The checksum of a row
 * includes its place, so a damaged or misplaced row is never used.
 *
 * A head has the version of the terms, the index of the first message, and for each message its
 * distance in versions to the previous message, its number of terms, and its time in eight bytes. A bucket has terms in order. A term has its postings:
 * the distance in messages to the previous posting, and the count. Numbers take seven bits in a byte, the lowest first.
 */
import { Either, Encoding } from "effect"
import { crc32 } from "../event/checksum.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import { isMark } from "../search/marks.js"
import type { Part } from "./SessionIndex.js"
import { atOnce, type Steps } from "../search/steps.js"
import { termsVersion } from "../search/terms.js"

/** The version of the form. A part in another form is built again. */
const formVersion = 4

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

/** The key of the row with the head of a part. */
export const headKey = ({ version }: Pick<StoredPart, "version">): string => `${version}`

/** The key of the row with a bucket of a part. */
export const bucketKey = ({ version }: Pick<StoredPart, "version">, bucket: number): string =>
  `${version}.${bucket}`

/** The keys of all rows of a part. */
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

  /** Any number, in eight bytes. */
  double(value: number): void {
    if (this.length + 8 > this.bytes.length) this.grow()
    new DataView(this.bytes.buffer).setFloat64(this.length, value)
    this.length += 8
  }

  text(value: string): void {
    this.number(value.length)
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

  double(): number {
    this.at += 8
    const { buffer, byteOffset, byteLength } = this.bytes
    return this.at > byteLength ? 0 : new DataView(buffer, byteOffset).getFloat64(this.at - 8)
  }

  text(): string {
    let text = ""
    for (let length = this.number(); length > 0; length--) text += String.fromCharCode(this.number())
    return text
  }

  /** Skips `count` numbers. */
  skip(count: number): void {
    for (let left = count; left > 0 && this.hasMore; this.at++) if (this.bytes[this.at]! < 0x80) left--
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
  for (const value of [formVersion, termsVersion, from, versions.length]) head.number(value)
  for (const [position, version] of versions.entries()) {
    head.number(version - (versions[position - 1] ?? 0))
    head.number(lengths[position]! - (lengths[position - 1] ?? 0))
    head.double(times[position]!)
  }
  const inBuckets = Array.from({ length: buckets }, (): Array<string> => [])
  for (const term of postings.keys()) inBuckets[hashOf(term) % buckets]!.push(term)
  const rows = [{ key: headKey(part), data: head.done(placeOf(at, "head")) }]
  for (const [bucket, terms] of inBuckets.entries()) {
    if (bucket % bucketsPerStep === 0) yield
    const writer = new Writer()
    for (const term of terms.toSorted()) {
      writer.text(term)
      const list = postings.get(term)!
      writer.number(list.length / 2)
      let before = from
      for (let position = 0; position < list.length; position += 2) {
        writer.number(list[position]! - before)
        writer.number(list[position + 1]!)
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
  const [from, count] = [reader.number(), reader.number()]
  const [versions, times, lengths]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  let [version, length] = [0, 0]
  for (let position = 0; position < count; position++) {
    versions.push((version += reader.number()))
    lengths.push((length += reader.number()))
    times.push(reader.double())
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
    const term = reader.text()
    const count = reader.number()
    if (wanted !== undefined && !wanted.has(term)) {
      reader.skip(2 * count)
      continue
    }
    const list: Array<number> = []
    let index = from
    for (let position = 0; position < count; position++) {
      index += reader.number()
      list.push(index, reader.number())
    }
    into.set(term, list)
  }
  return true
}
