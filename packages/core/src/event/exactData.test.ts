import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { damage } from "../../test/damaged.js"
import { often } from "@memfold/harness/depth"
import { byTag } from "@memfold/testing/arbitrary"
import { Event } from "../index.js"
import { isExactData } from "./exactData.js"

const decode = Schema.decodeUnknownEither(Event.Event)

/** The data of an event as it is stored. */
const stored = (event: Event.Event): Record<string, unknown> => {
  const { _tag, ...data } = Schema.encodeSync(Event.Event)(event)
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>
}

describe.each(["CompactionStarted", "SummaryCommitted", "SummarySuperseded"] as const)(
  "the quick check of %s",
  (type) => {
    const events = byTag[type] as fc.Arbitrary<Event.Event>

    it("passes what the schema encodes", () => {
      fc.assert(
        fc.property(events, (event) => {
          expect(isExactData(type, stored(event))).toBe(true)
        }),
        { numRuns: often(60, 300) },
      )
    })

    it("passes nothing that the schema would refuse or decode to something else", () => {
      let refused = 0
      const runs = often(300, 3_000)
      fc.assert(
        fc.property(events, damage, (event, damaged) => {
          const data = stored(event)
          damaged(data)
          if (!isExactData(type, data)) return void refused++
          const decoded = decode({ _tag: type, ...data })
          expect(Either.isRight(decoded)).toBe(true)
          expect(JSON.stringify(Either.getOrThrow(decoded))).toBe(JSON.stringify({ _tag: type, ...data }))
        }),
        { numRuns: runs },
      )
      expect(refused).toBeGreaterThan(runs / 4)
    })
  },
)

it("leaves every other type to the schema", () => {
  expect(isExactData("SessionCleared", {})).toBe(false)
  expect(isExactData("constructor", {})).toBe(false)
})
