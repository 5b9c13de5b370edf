import type { LogRecord } from "../log/EventLog.js"

/** The look-up table of CRC-32 with the polynomial 0xEDB88320, as in zlib. */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** The CRC-32 of a text's UTF-16 code units, low byte first. `start` is the CRC-32 of the text before it. */
export const crc32 = (text: string, start = 0): number => {
  let value = ~start
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    value = (value >>> 8) ^ (table[(value ^ unit) & 0xff] ?? 0)
    value = (value >>> 8) ^ (table[(value ^ (unit >>> 8)) & 0xff] ?? 0)
  }
  return ~value >>> 0
}

/** The checksum of a record: the CRC-32 of its type, schema version and data, which are all that the fold uses. */
export const checksumOf = ({
  type,
  schemaVersion: version,
  data,
}: Pick<LogRecord, "type" | "schemaVersion" | "data">): number => crc32(data, crc32(`${type}\n${version}\n`))
