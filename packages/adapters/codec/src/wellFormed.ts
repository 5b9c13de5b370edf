/**
 * Text as providers read it: half a surrogate pair, as it stands where a text was cut in the middle of an emoji, is no
 * Unicode. Providers refuse the whole request then ("no low surrogate in string").
 */
import { type Fields, isFields } from "./fields.js"

/** The same value with U+FFFD in place of every half of a surrogate pair; the value itself if there is none. */
export const wellFormed = <A>(value: A): A => replaced(value) as A

const replaced = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) {
    const written = value.map(replaced)
    return written.every((one, index) => one === value[index]) ? value : written
  }
  return isFields(value) ? inFields(value) : value
}

const inFields = (fields: Fields): Fields => {
  const written = Object.entries(fields).map(
    ([name, value]) => [name.toWellFormed(), replaced(value)] as const,
  )
  return written.every(([name, value]) => fields[name] === value) ? fields : Object.fromEntries(written)
}
