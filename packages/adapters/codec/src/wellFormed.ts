/**
 * Text as providers read it: half a surrogate pair, as it stands where a text was cut in the middle of an emoji, is no
 * Unicode. Providers refuse the whole request then ("no low surrogate in string").
 */
import { type Fields, isFields } from "./fields.js"

/** The same value with U+FFFD in place of every half of a surrogate pair; the value itself if there is none. */
export const wellFormed = <A>(value: A): A => replaced(value) as A

const replaced = (value: unknown): unknown => {
  if (isWellFormed(value)) return value
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) return value.map(replaced)
  return Object.fromEntries(
    Object.entries(value as Fields).map(([name, inside]) => [name.toWellFormed(), replaced(inside)]),
  )
}

/** Nearly every value is. To find out makes nothing new. */
const isWellFormed = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isWellFormed)
  if (!isFields(value)) return true
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed() || !isWellFormed(value[name])) return false
  }
  return true
}
