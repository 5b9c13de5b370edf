import type { Steps } from "@memfold/log/breathe"
import type { LogRecord } from "@memfold/log/EventLog"

/** What JavaScript platforms have besides the language: this package has no types of any of them. */
declare class TextEncoder {
  encode(text: string): Uint8Array
}
type Crc32 = (data: string | Uint8Array, start?: number) => number
interface Platform {
  readonly process?: { readonly getBuiltinModule?: (name: string) => { readonly crc32?: Crc32 } }
}

export const encoder = new TextEncoder()

/** The remainders of all bytes, for CRC-32 with the polynomial 0xEDB88320, as in zlib. */
const allRemainders = () =>
  Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    return value
  })
/** Made where there is no zlib. */
let remainders: Int32Array | undefined

/** CRC-32 where there is no zlib. */
export const crc32InJavaScript: Crc32 = (data, start = 0) => {
  const bytes = typeof data === "string" ? encoder.encode(data) : data
  remainders ??= allRemainders()
  let value = ~start
  for (const byte of bytes) value = (value >>> 8) ^ remainders[(value ^ byte) & 0xff]!
  return ~value >>> 0
}

/**
 * The CRC-32 of bytes, or of a text's UTF-8. `start` is the CRC-32 of what is before them. Node's zlib takes a fifth of the
 * time; it is asked for without an import, for platforms that have none.
 */
export const crc32: Crc32 =
  (globalThis as Platform).process?.getBuiltinModule?.("node:zlib").crc32 ?? crc32InJavaScript

/** The CRC-32 of the first fields of a record, cached: consecutive records mostly have the same first fields. */
let front = { session: "", type: "", schemaVersion: 0, crc: crc32("\n\n0\n") }

/**
 * The checksum of a record: the CRC-32 of all of it. The session, version, batch id and time are in it, so that a record is
 * damaged in any other place than its own, too.
 */
export const checksumOf = (record: Omit<LogRecord, "checksum">): number => {
  const { session, type, schemaVersion, version, batchId, time, data } = record
  if (front.type !== type || front.session !== session || front.schemaVersion !== schemaVersion)
    front = { session, type, schemaVersion, crc: crc32(`${session}\n${type}\n${schemaVersion}\n`) }
  return crc32(`${version}\n${batchId}\n${time}\n${data}`, front.crc)
}

/** How many code units a step takes: a text is made to bytes for it. */
const stepLength = 2 ** 20

/** {@link checksumOf} in steps: the data can be long. */
export function* checksumInSteps(record: Omit<LogRecord, "checksum">, length = stepLength): Steps<number> {
  const { data } = record
  if (data.length <= length) return checksumOf(record)
  let checksum = checksumOf({ ...record, data: "" })
  for (let from = 0; from < data.length;) {
    yield
    // Both halves of a surrogate pair are one character.
    const isBetween = (data.charCodeAt(from + length - 1) & 0xfc00) === 0xd800
    const to = from + length + (isBetween ? 1 : 0)
    checksum = crc32(data.slice(from, to), checksum)
    from = to
  }
  return checksum
}
