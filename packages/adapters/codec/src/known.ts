/** Leaves out of a message what a request does not know: providers refuse a request with any other field. */
import { type Fields, isFields } from "./fields.js"
import type { KnownFields, KnownInside, KnownTypes } from "@memfold/message/requestFields"

/** The fields that an object has by its `type`, or by its `role`; `undefined` if nothing is known of it. */
export const knownOf = ({ types }: KnownTypes, object: Fields): KnownFields | undefined => {
  const type = object["type"] ?? object["role"]
  return typeof type === "string" && Object.hasOwn(types, type) ? types[type] : undefined
}

const insideOf = (value: unknown, inside: KnownInside, further: ReadonlySet<string>): unknown => {
  if (inside === true) return value
  if (Array.isArray(value)) {
    const sent = value.map((one: unknown) => insideOf(one, inside, further))
    return sent.every((one, at) => one === value[at]) ? value : sent
  }
  if (!isFields(value)) return value
  const allowed = "types" in inside ? knownOf(inside, value) : inside
  return allowed === undefined ? value : onlyKnown(value, allowed, further)
}

/**
 * The object with the fields that a request knows, at every depth. What is inside of an object of a type that is not known stays as it
 * came: it is new, or of a server that has it.
 *
 * @param object - the object
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
  object: Fields,
  { fields }: KnownFields,
  further: ReadonlySet<string> = new Set(),
): Fields => {
  const kept = Object.entries(object).flatMap(([name, value]): ReadonlyArray<[string, unknown]> => {
    if (further.has(name)) return [[name, value]]
    const inside = Object.hasOwn(fields, name) ? fields[name] : undefined
    return inside === undefined ? [] : [[name, insideOf(value, inside, further)]]
  })
  return kept.length === Object.keys(object).length && kept.every(([name, value]) => object[name] === value)
    ? object
    : Object.fromEntries(kept)
}
