import { Either, Encoding } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { crc32 } from "../event/checksum.js"
import { decodeBucket, decodeHead, encodePart, hashOf, isOfOtherRules, keysOf } from "./partForm.js"
import type { Part } from "./SessionIndex.js"

const place = { session: "s", version: 90, batchId: "b" }

/** Any part: terms of any text, also of halves of surrogate pairs, and large numbers. */
const part = fc
  .record({
    from: fc.nat({ max: 5_000_000 }),
    isExact: fc.boolean(),
    messages: fc.array(
      fc.record({
        behind: fc.oneof(fc.nat({ max: 3 }), fc.nat()),
        time: fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
        terms: fc.dictionary(
          fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
          fc.integer({ min: 1, max: 300 }),
        ),
      }),
      { maxLength: 40 },
    ),
  })
  .map(({ from, isExact, messages }): Part => {
    const postings = new Map<string, Array<number>>()
    const [versions, lengths]: [Array<number>, Array<number>] = [[], []]
    const times = messages.map(({ time }) => (isExact ? Math.trunc(time % 2 ** 42) + 0 : time))
    for (const [at, { behind, terms }] of messages.entries()) {
      versions.push((versions.at(-1) ?? 0) + 1 + behind)
      const own = Object.entries(terms)
      lengths.push((lengths.at(-1) ?? 0) + own.reduce((sum, [, count]) => sum + count, 0))
      for (const [term, count] of own) {
        const list = postings.get(term)
        if (list === undefined) postings.set(term, [from + at, count])
        else list.push(from + at, count)
      }
    }
    return { from, versions, times, lengths, postings }
  })

/** The bytes of a row, changed, in base 64 again. */
const changedRow = (data: string, change: (bytes: Uint8Array) => void): string => {
  const bytes = Either.getOrThrow(Encoding.decodeBase64(data))
  change(bytes)
  return Encoding.encodeBase64(bytes)
}

describe("the stored form of a part", () => {
  it("says what was put in, and all terms with one hash are in one bucket", () => {
    fc.assert(
      fc.property(part, (given) => {
        const { part, rows } = encodePart(place, given)
        const [head, ...buckets] = rows.map(({ data }) => data)
        const { postings, ...rest } = given
        expect(rows.map(({ key }) => key)).toEqual(keysOf(part))
        expect(decodeHead("s", part, head)).toEqual(rest)
        const all = new Map<string, Array<number>>()
        for (const [bucket, data] of buckets.entries())
          expect(decodeBucket({ ...part, ...place }, { bucket, data, from: given.from }, all)).toBe(true)
        expect(all).toEqual(postings)
        for (const [term, list] of postings) {
          const bucket = hashOf(term) % buckets.length
          const one = new Map<string, Array<number>>()
          const input = { bucket, data: buckets[bucket], from: given.from }
          expect(decodeBucket({ ...part, ...place }, input, one, new Set([term]))).toBe(true)
          expect(one).toEqual(new Map([[term, list]]))
        }
      }),
    )
  })

  it("is the same whatever the order in which the terms came", () => {
    fc.assert(
      fc.property(part, (given) => {
        const postings = new Map([...given.postings].toReversed())
        expect(encodePart(place, { ...given, postings })).toEqual(encodePart(place, given))
      }),
    )
  })

  it("is nothing when a byte has changed, when it is missing, at another place, or by other rules", () => {
    fc.assert(
      fc.property(part, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, where, change) => {
        const { part, rows } = encodePart(place, given)
        const [head = "", ...buckets] = rows.map(({ data }) => data)
        const changed = (data: string) =>
          changedRow(data, (bytes) => {
            bytes[where % bytes.length]! ^= change
          })
        for (const other of [changed(head), "no base 64", undefined])
          expect(decodeHead("s", part, other)).toBeNull()
        for (const other of [{ version: 91 }, { batchId: "c" }, { buckets: part.buckets + 1 }])
          expect(decodeHead("s", { ...part, ...other }, head)).toBeNull()
        expect(decodeHead("t", part, head)).toBeNull()
        expect(isOfOtherRules("s", part, head)).toBe(false)
        for (const [bucket, data] of buckets.entries()) {
          const input = { bucket, data, from: given.from }
          const into = new Map()
          for (const other of [changed(data), undefined])
            expect(decodeBucket({ ...part, ...place }, { ...input, data: other }, into)).toBe(false)
          expect(decodeBucket({ ...part, ...place }, { ...input, bucket: bucket + 1 }, into)).toBe(false)
          expect(decodeBucket({ ...part, ...place, session: "t" }, input, into)).toBe(false)
          expect(into.size).toBe(0)
        }
      }),
    )
  })

  it("of another version of the terms is sound, and not used", () => {
    const { part, rows } = encodePart(place, {
      from: 0,
      versions: [],
      times: [],
      lengths: [],
      postings: new Map(),
    })
    const head = rows[0]!.data
    // The checksum of the place is what stands before the bytes; a change of one byte is put right with it.
    const other = changedRow(head, (bytes) => {
      const before = crc32(bytes.subarray(4))
      bytes[5] = 99
      const after = crc32(bytes.subarray(4))
      for (let byte = 0; byte < 4; byte++)
        bytes[byte] = bytes[byte]! ^ (((before ^ after) >>> (8 * byte)) & 0xff)
    })
    expect(isOfOtherRules("s", part, other)).toBe(true)
    expect(decodeHead("s", part, other)).toBeNull()
    expect(decodeHead("s", part, head)).not.toBeNull()
  })
})
