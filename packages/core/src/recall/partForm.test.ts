import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { crc32 } from "../event/checksum.js"
import { decodeBucket, decodeHead, encodePart, hashOf, isOfOtherRules } from "./partForm.js"
import type { Part } from "./SessionIndex.js"

const place = { session: "s", version: 90, batchId: "b" }

/** Any part: terms of any text, also of halves of surrogate pairs, and large numbers. */
const part = fc
  .record({
    from: fc.nat({ max: 5_000_000 }),
    messages: fc.array(
      fc.record({
        behind: fc.oneof(fc.nat({ max: 3 }), fc.nat()),
        terms: fc.dictionary(
          fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
          fc.integer({ min: 1, max: 300 }),
        ),
      }),
      { maxLength: 40 },
    ),
    clears: fc.nat(),
  })
  .map(({ from, messages, clears }): Part & { clears: number } => {
    const postings = new Map<string, Array<number>>()
    const [versions, lengths]: [Array<number>, Array<number>] = [[], []]
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
    return { from, versions, lengths, postings, clears }
  })

describe("the stored form of a part", () => {
  it("says what was put in, and all terms with one hash are in one bucket", () => {
    fc.assert(
      fc.property(part, (given) => {
        const { head, buckets, ...at } = encodePart(place, given)
        const stored = { ...at, head, buckets: buckets.length }
        const { postings, ...rest } = given
        expect(decodeHead("s", stored)).toEqual(rest)
        const all = new Map<string, Array<number>>()
        for (const [bucket, bytes] of buckets.entries())
          expect(decodeBucket({ ...stored, ...place }, { bucket, bytes, from: given.from }, all)).toBe(true)
        expect(all).toEqual(postings)
        for (const [term, list] of postings) {
          const bucket = hashOf(term) % buckets.length
          const one = new Map<string, Array<number>>()
          const input = { bucket, bytes: buckets[bucket]!, from: given.from }
          expect(decodeBucket({ ...stored, ...place }, input, one, new Set([term]))).toBe(true)
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

  it("is nothing when a byte has changed, at another place, or by other rules", () => {
    fc.assert(
      fc.property(part, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, where, change) => {
        const { head, buckets, ...at } = encodePart(place, given)
        const stored = { ...at, head, buckets: buckets.length }
        const changed = (bytes: Uint8Array) =>
          bytes.map((byte, at) => (at === where % bytes.length ? byte ^ change : byte))
        expect(decodeHead("s", { ...stored, head: changed(head) })).toBeNull()
        for (const other of [{ version: 91 }, { batchId: "c" }, { buckets: stored.buckets + 1 }])
          expect(decodeHead("s", { ...stored, ...other })).toBeNull()
        expect(decodeHead("t", stored)).toBeNull()
        expect(isOfOtherRules("s", stored)).toBe(false)
        for (const [bucket, bytes] of buckets.entries()) {
          const input = { bucket, bytes, from: given.from }
          const into = new Map()
          expect(decodeBucket({ ...stored, ...place }, { ...input, bytes: changed(bytes) }, into)).toBe(false)
          expect(decodeBucket({ ...stored, ...place }, { ...input, bucket: bucket + 1 }, into)).toBe(false)
          expect(decodeBucket({ ...stored, ...place, session: "t" }, input, into)).toBe(false)
          expect(into.size).toBe(0)
        }
      }),
    )
  })

  it("of another version of the terms is sound, and not used", () => {
    const { head, ...at } = encodePart(place, {
      from: 0,
      versions: [],
      lengths: [],
      postings: new Map(),
      clears: 0,
    })
    const stored = { ...at, head, buckets: 0 }
    // The checksum of the place is what stands before the bytes; a change of one byte is put right with it.
    const other = head.slice()
    other[5] = 99
    const before = crc32(head.subarray(4))
    const after = crc32(other.subarray(4))
    for (let byte = 0; byte < 4; byte++)
      other[byte] = other[byte]! ^ (((before ^ after) >>> (8 * byte)) & 0xff)
    expect(isOfOtherRules("s", { ...stored, head: other })).toBe(true)
    expect(decodeHead("s", { ...stored, head: other })).toBeNull()
    expect(decodeHead("s", stored)).not.toBeNull()
  })
})
