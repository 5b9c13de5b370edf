/** Values of JSON with one thing wrong, for the quick checks of what is stored. */
import * as fc from "fast-check"

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

const change = fc.oneof(
  strange.map((value) => ({ act: "replace" as const, value })),
  fc.constantFrom({ act: "remove" as const }, { act: "add" as const }, { act: "move" as const }),
)

/** A change of one place in a value, which it changes: another value there, none, one too many, or another order. */
export const damage: fc.Arbitrary<(value: unknown) => void> = fc
  .tuple(fc.nat(), change)
  .map(([at, change]) => (value) => {
    const places = placesIn(value)
    const [object, key] = places[at % places.length]!
    const before = object[key]
    if (change.act === "replace") object[key] = change.value
    else if (change.act === "add" && Array.isArray(object)) object.push(1)
    else if (change.act === "add") object["another"] = 1
    else {
      // oxlint-disable-next-line typescript/no-dynamic-delete -- the field to be missing is generated
      delete object[key]
      if (change.act === "move") object[key] = before
    }
  })
