/** Arbitraries of what a provider sends, for the round trips of all codecs (L16). */
import * as fc from "fast-check"

/** Any JSON value but negative zero, which JSON text has no word for. */
export const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)))

/** Texts that codecs break: empty ones, emoji, half a surrogate pair, JSON. */
export const wireText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "你好，在吗？", "ok 👩‍👩‍👧", "half \ud83d", '{"a": 1}', "line\r\nline"),
)

/** Makes objects: fields that `requiredKeys` does not name may be missing, and some of the `unknown` ones may be there. */
export const objectsWith =
  (...unknown: ReadonlyArray<string>) =>
  <T extends object>(
    model: { [K in keyof T]: fc.Arbitrary<T[K]> },
    requiredKeys: Array<keyof T & string> = Object.keys(model) as Array<keyof T & string>,
  ) =>
    fc
      .tuple(
        fc.dictionary(fc.constantFrom(...unknown), json, { maxKeys: 2 }),
        fc.record(model, { requiredKeys }),
      )
      .map(([more, known]) => ({ ...more, ...known }))
