import type { LogRecord } from "../log/EventLog.js"

/**
 * The look-up tables of CRC-32 with the polynomial 0xEDB88320, as in zlib. The table at 256 * n is for a byte that n others
 * follow, so that eight bytes are done at once ("slicing by 8").
 */
const tables = (() => {
  const all = new Int32Array(8 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    all[byte] = value
  }
  for (let at = 256; at < all.length; at++) {
    const before = all[at - 256] ?? 0
    all[at] = (before >>> 8) ^ (all[before & 0xff] ?? 0)
  }
  return all
})()

/** The CRC-32 of a text's UTF-16 code units, low byte first. `start` is the CRC-32 of the text before it. */
export const crc32 = (text: string, start = 0): number => {
  const { length } = text
  let value = ~start
  let at = 0
  for (; at + 3 < length; at += 4) {
    const low = value ^ (text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16))
    const high = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16)
    value =
      tables[0x700 + (low & 0xff)]! ^
      tables[0x600 + ((low >>> 8) & 0xff)]! ^
      tables[0x500 + ((low >>> 16) & 0xff)]! ^
      tables[0x400 + (low >>> 24)]! ^
      tables[0x300 + (high & 0xff)]! ^
      tables[0x200 + ((high >>> 8) & 0xff)]! ^
      tables[0x100 + ((high >>> 16) & 0xff)]! ^
      tables[high >>> 24]!
  }
  for (; at < length; at++) {
    const unit = text.charCodeAt(at)
    value = (value >>> 8) ^ tables[(value ^ unit) & 0xff]!
    value = (value >>> 8) ^ tables[(value ^ (unit >>> 8)) & 0xff]!
  }
  return ~value >>> 0
}

/** The CRC-32 of bytes. `start` is the CRC-32 of what is before them. */
export const crc32OfBytes = (bytes: Uint8Array, start = 0): number => {
  const { length } = bytes
  let value = ~start
  for (let at = 0; at < length; at++) value = (value >>> 8) ^ tables[(value ^ bytes[at]!) & 0xff]!
  return ~value >>> 0
}

/** The CRC-32 of what stands in front. Most records that are read or written have it in common with the one before. */
let front = { session: "", type: "", schemaVersion: 0, crc: crc32("\n\n0\n") }

/**
 * The checksum of a record: the CRC-32 of all of it. The session, version, batch id and time are in it, so that a record is
 * damaged in any other place than its own, too.
 */
export const checksumOf = (record: Omit<LogRecord, "checksum">): number => {
  const { session, type, schemaVersion, version, batchId, time, data } = record
  if (front.type !== type || front.session !== session || front.schemaVersion !== schemaVersion)
    front = { session, type, schemaVersion, crc: crc32(`${session}\n${type}\n${schemaVersion}\n`) }
  return crc32(data, crc32(`${version}\n${batchId}\n${time}\n`, front.crc))
}
