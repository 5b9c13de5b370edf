/** Comparing JSON values, and objects by what they have beyond others. */
import { type Fields, isFields } from "@memfold/codec"

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
