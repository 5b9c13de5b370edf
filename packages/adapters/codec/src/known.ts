/** What a request knows of a message: providers refuse a request with any other field. */
import { type Fields, isFields } from "./fields.js"

/** The fields that a request knows of an object. An object in a field is checked, too, if its own fields are given. */
export interface KnownFields {
  readonly [field: string]: true | KnownFields
}

/** Fields that are known, and nothing of which is checked. */
export const known = (names: string): KnownFields =>
  Object.fromEntries(names.split(" ").map((name) => [name, true as const]))

/**
 * The object with the fields that a request knows.
 *
 * @param fields - the object
 * @param allowed - what the request knows of it
 * @param further - names of fields that are sent, too, wherever they stand
 *
 * @example
 * ```ts
 * import { known, onlyKnown } from "@memfold/codec"
 *
 * const message = { role: "assistant", content: "4", usage: { total: 12 }, reasoning_content: "2 + 2" }
 * console.log(onlyKnown(message, known("role content"))) // { role: "assistant", content: "4" }
 * console.log(onlyKnown(message, known("role content"), new Set(["reasoning_content"])))
 * ```
 */
export const onlyKnown = (
  fields: Fields,
  allowed: KnownFields,
  further: ReadonlySet<string> = new Set(),
): Fields => {
  const kept = Object.entries(fields).flatMap(([name, value]): ReadonlyArray<[string, unknown]> => {
    if (further.has(name)) return [[name, value]]
    const inside = Object.hasOwn(allowed, name) ? allowed[name] : undefined
    if (inside === undefined) return []
    return [[name, isFields(value) && inside !== true ? onlyKnown(value, inside, further) : value]]
  })
  return kept.length === Object.keys(fields).length && kept.every(([name, value]) => fields[name] === value)
    ? fields
    : Object.fromEntries(kept)
}
