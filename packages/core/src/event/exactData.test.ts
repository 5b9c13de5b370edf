import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "../../test/depth.js"
import { byTag } from "../../../testing/src/arbitrary/event.js"
import { Event } from "../index.js"
import { isExactData } from "./exactData.js"

const decode = Schema.decodeUnknownEither(Event.Event)

const strange = fc.constantFrom<unknown>(undefined, null, -1, 0.5, "text", true, [], {}, [0], ["a"])

/** All places in a value: objects and arrays with one of their keys. */
const placesIn = (value: unknown): ReadonlyArray<readonly [Record<string, unknown>, string]> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [
        [value as Record<string, unknown>, key] as const,
        ...placesIn(inner),
      ])

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
        fc.property(
          events,
          fc.nat(),
          fc.oneof(
            strange.map((value) => ({ act: "replace" as const, value })),
            fc.constantFrom({ act: "remove" as const }, { act: "add" as const }, { act: "move" as const }),
          ),
          (event, at, change) => {
            const data = stored(event)
            const places = placesIn(data)
            const [object, key] = places[at % places.length]!
            const before = object[key]
            if (change.act === "replace") object[key] = change.value
            else if (change.act === "add") object["another"] = 1
            else {
              // oxlint-disable-next-line typescript/no-dynamic-delete -- the field to be missing is generated
              delete object[key]
              if (change.act === "move") object[key] = before
            }
            if (!isExactData(type, data)) return void refused++
            const decoded = decode({ _tag: type, ...data })
            expect(Either.isRight(decoded)).toBe(true)
            expect(JSON.stringify(Either.getOrThrow(decoded))).toBe(JSON.stringify({ _tag: type, ...data }))
          },
        ),
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
