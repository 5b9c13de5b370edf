import { Buffer } from "node:buffer"
import { crc32 as zlibCrc32 } from "node:zlib"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { event } from "../../../testing/src/arbitrary/event.js"
import { EventCodec } from "../index.js"
import { checksumOf, crc32 } from "./checksum.js"

describe("the checksum", () => {
  it("is the CRC-32 that everybody knows, of the UTF-16 text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(crc32(text)).toBe(zlibCrc32(Buffer.from(text, "utf16le")))
      }),
    )
    expect(crc32("")).toBe(0)
  })

  it("finds every change of a single character, in the data, the type and the version", () => {
    fc.assert(
      fc.property(event, fc.nat(), (event, at) => {
        const stored = EventCodec.encode(event)
        const record = { session: "s", version: 7, batchId: "c", time: 0, ...stored }
        expect(Either.isRight(EventCodec.decode(record))).toBe(true)
        const position = at % stored.data.length
        const other = stored.data[position] === "1" ? "2" : "1"
        const data = stored.data.slice(0, position) + other + stored.data.slice(position + 1)
        for (const changed of [
          { data },
          { schemaVersion: stored.schemaVersion + 1 },
          { type: `${stored.type}s` },
        ]) {
          expect(checksumOf({ ...stored, ...changed })).not.toBe(stored.checksum)
          const decoded = EventCodec.decode({ ...record, ...changed })
          expect(Either.isRight(decoded) && decoded.right.event._tag).toBe(
            stored.type === "SummaryCommitted" && !("type" in changed) && "DamagedSummary",
          )
        }
      }),
    )
  })

  it("is not asked of what was written without one", () => {
    const { checksum: _checksum, ...stored } = EventCodec.encode({ _tag: "SessionCleared" })
    expect(
      Either.isRight(EventCodec.decode({ session: "s", version: 1, batchId: "c", time: 0, ...stored })),
    ).toBe(true)
  })
})
