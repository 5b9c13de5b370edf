import { Option, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "../../test/depth.js"
import { disorder } from "../../../testing/src/arbitrary/event.js"
import { Session } from "../index.js"
import { isExactState } from "./exactState.js"
import { Stored, take } from "./Snapshot.js"

const decode = Schema.decodeUnknownOption(Stored)

/** The state in the snapshot after some events, as JSON. */
const stored = (events: Parameters<typeof Session.fold>[1]): unknown =>
  JSON.parse(take(Session.fold(Session.empty("s"), events)).data.slice(8))

/** All places in a value: objects and arrays with one of their keys. */
const placesIn = (value: unknown): ReadonlyArray<readonly [Record<string, unknown>, string]> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [
        [value as Record<string, unknown>, key] as const,
        ...placesIn(inner),
      ])

const strange = fc.constantFrom<unknown>(
  undefined,
  null,
  -1,
  0.5,
  Number.NaN,
  "text",
  "",
  true,
  [],
  {},
  [0],
  ["a"],
)

describe("the quick check of a stored state", () => {
  it("passes what the fold makes", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        expect(isExactState(stored(events))).toBe(true)
      }),
      { numRuns: often(60, 300) },
    )
  })

  it("passes nothing that the schema would refuse or decode to something else", () => {
    let refused = 0
    fc.assert(
      fc.property(
        disorder,
        fc.nat(),
        fc.oneof(
          strange.map((value) => ({ act: "replace" as const, value })),
          fc.constantFrom({ act: "remove" as const }, { act: "add" as const }, { act: "move" as const }),
        ),
        (events, at, change) => {
          const value = stored(events)
          const places = placesIn(value)
          const [object, key] = places[at % places.length]!
          const before = object[key]
          if (change.act === "replace") object[key] = change.value
          else if (change.act === "add") object["another"] = 1
          else {
            // oxlint-disable-next-line typescript/no-dynamic-delete -- the field to be missing is generated
            delete object[key]
            if (change.act === "move") object[key] = before
          }
          if (!isExactState(value)) {
            refused++
            return
          }
          const decoded = decode(value)
          expect(Option.isSome(decoded)).toBe(true)
          expect(JSON.stringify(Option.getOrThrow(decoded))).toBe(JSON.stringify(value))
        },
      ),
      { numRuns: often(300, 3_000) },
    )
    expect(refused).toBeGreaterThan(often(100, 1_000))
  })
})
