import { Buffer } from "node:buffer"
import { crc32 as zlibCrc32 } from "node:zlib"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { event } from "@memfold/testing/arbitrary"
import * as EventCodec from "./EventCodec.js"
import { checksumInSteps, checksumOf, crc32, crc32InJavaScript } from "./checksum.js"
import { atOnce } from "@memfold/log/breathe"

const same = (id: string): string => id

describe("the checksum", () => {
  it.each([
    ["zlib", crc32],
    ["JavaScript", crc32InJavaScript],
  ])("is the CRC-32 that everybody knows, of the UTF-8 text: by %s", (_name, crc) => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.string({ unit: "binary" }),
        (text, more) => {
          const bytes = Buffer.from(text)
          expect(crc(text)).toBe(zlibCrc32(bytes))
          expect(crc(bytes)).toBe(zlibCrc32(bytes))
          expect(crc(more, crc(text))).toBe(zlibCrc32(Buffer.from(more), zlibCrc32(bytes)))
        },
      ),
    )
    expect(crc("")).toBe(0)
  })

  it("is the same in steps, wherever they end", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 100 }),
        fc.integer({ min: 1, max: 9 }),
        (data, length) => {
          const record = {
            session: "s",
            version: 7,
            batchId: "c",
            time: 1,
            type: "T",
            schemaVersion: 1,
            data,
          }
          expect(atOnce(checksumInSteps(record, length))).toBe(checksumOf(record))
        },
      ),
    )
  })

  it("finds every change of a single character, and every move to another place", () => {
    fc.assert(
      fc.property(event, fc.nat(), (event, at) => {
        const [stored] = EventCodec.encodeBatch({ session: "s", version: 6 }, "c", [{ time: 0, event }])
        const record = { session: "s", version: 7, batchId: "c", ...stored! }
        expect(Either.isRight(EventCodec.decode(record))).toBe(true)
        const position = at % record.data.length
        const other = record.data[position] === "1" ? "2" : "1"
        const data = record.data.slice(0, position) + other + record.data.slice(position + 1)
        for (const changed of [
          { data },
          { schemaVersion: record.schemaVersion + 1 },
          { type: `${record.type}s` },
          { session: "t" },
          { version: 8 },
          { batchId: "d" },
          { time: 1 },
        ]) {
          expect(checksumOf({ ...record, ...changed })).not.toBe(record.checksum)
          const decoded = EventCodec.decode({ ...record, ...changed })
          expect(Either.isRight(decoded) && decoded.right.event._tag).toBe(
            !("type" in changed) &&
              (record.type === "SummaryCommitted"
                ? "DamagedSummary"
                : record.type === "MessageAppended" && "DamagedMessage"),
          )
        }
      }),
    )
  })

  it("of a copy belongs to its new place, unless the record is damaged", () => {
    const place = { session: "t", version: 2, batchId: "d" }
    const [stored] = EventCodec.encodeBatch({ session: "s", version: 6 }, "c", [
      { time: 0, event: { _tag: "SessionCleared" } },
    ])
    const record = { session: "s", version: 7, batchId: "c", ...stored! }
    const decoded = (changed: object) =>
      EventCodec.decode({ ...place, ...EventCodec.movedTo({ ...record, ...changed }, place, same) })
    expect(Either.isRight(decoded({}))).toBe(true)
    expect(Either.isLeft(decoded({ data: "{} " }))).toBe(true)
  })

  it("stays with summaries that a newer memfold has written: nobody knows what names them", () => {
    const superseded = { _tag: "SummarySuperseded", summary: "a", by: "b" } as const
    const record = { session: "s", version: 1, batchId: "c", time: 0, ...EventCodec.encode(superseded) }
    const moved = (changed: object) =>
      EventCodec.movedTo({ ...record, ...changed }, record, (id) => `${id}2`).data
    expect(moved({})).toBe('{"summary":"a2","by":"b2"}')
    expect(moved({ schemaVersion: 99 })).toBe(record.data)
    for (const data of ["{", "null", '"summary"']) expect(moved({ data })).toBe(data)
  })

  it("is not asked of what was written without one", () => {
    const record = { session: "s", version: 1, batchId: "c", time: 0 }
    const stored = EventCodec.encode({ _tag: "SessionCleared" })
    expect(Either.isRight(EventCodec.decode({ ...record, ...stored }))).toBe(true)
    expect(EventCodec.movedTo({ ...record, ...stored }, record, same)).not.toHaveProperty("checksum")
  })
})
