/**
 * Arithmetic on plain JSON objects. A codec knows some fields of what a provider sends; the others are what is
 * left when the known ones are taken away, and come back when both are put together again.
 */

/** A JSON object whose fields are not known in advance. */
export type Fields = { readonly [key: string]: unknown }

/** Whether `value` is a JSON object: no list, no null. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields that have a value. */
export const present = <A extends object>(
  fields: A,
): { readonly [K in keyof A]?: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as A

/** The field of that name if it is the object's own, never one inherited (`__proto__`, `constructor`). */
const own = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)

/**
 * What `raw` has and `known` does not, nested objects included; `undefined` if that is nothing.
 * `restore(known, rest(raw, known))` gives `raw` again wherever {@link agrees} holds.
 */
export const rest = (raw: Fields, known: Fields): Fields | undefined => {
  const left = Object.entries(raw).flatMap(([key, value]): Array<[string, unknown]> => {
    if (value === undefined) return []
    if (!Object.hasOwn(known, key)) return [[key, value]]
    const inside = known[key]
    const nested = isFields(value) && isFields(inside) ? rest(value, inside) : undefined
    return nested === undefined ? [] : [[key, nested]]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** `known` with the fields of `extra` beside it; where both have a value, the known one stays. Without `extra`, which most messages are, it is `known`. */
export const restore = (known: Fields, extra?: Fields): Fields =>
  extra === undefined
    ? known
    : {
        ...extra,
        ...Object.fromEntries(
          Object.entries(known).map(([key, value]) => {
            const beside = own(extra, key)
            return [key, isFields(value) && isFields(beside) ? restore(value, beside) : value]
          }),
        ),
      }

/** Whether `raw` has every field of `known`, with the same value. */
export const agrees = (raw: Fields, known: Fields): boolean =>
  Object.entries(known).every(([key, value]) => {
    const there = own(raw, key)
    return isFields(value) ? isFields(there) && agrees(there, value) : there === value
  })

/** Whether two JSON values are the same; the order of fields does not matter. */
export const isSame = (one: unknown, other: unknown): boolean => {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSame(item, other[index]))
    )
  }
  if (!isFields(one)) return one === other
  if (!isFields(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

/** The fields of `raw` that `known` does not have, or has with another value: `{ ...known, ...patchOf(raw, known) }`. */
export const patchOf = (raw: Fields, known: Fields): Fields =>
  Object.fromEntries(
    Object.entries(raw).filter(
      ([name, value]) => !(Object.hasOwn(known, name) && isSame(value, known[name])),
    ),
  )
