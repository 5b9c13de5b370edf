/**
 * Messages of some libraries have values that JSON has no form for: addresses as `URL` and files as bytes. A log stores them
 * as text, and beside it which of them were no text, so that they come back as they were.
 */
import { Schema } from "effect"
import { isFields } from "./fields.js"

/** A value that was no text: where it is, and what it was. */
export const Special = Schema.Struct({
  at: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  is: Schema.Literal("url", "bytes"),
})
export type Special = typeof Special.Type

/** A value as JSON has it, and the special ones inside. */
export interface Frozen {
  readonly json: unknown
  readonly special: ReadonlyArray<Special>
}

type Path = ReadonlyArray<string | number>

const base64 = (bytes: Uint8Array): string => {
  let text = ""
  // In pieces: a function call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  }
  return btoa(text)
}

/** The bytes; the text itself if it is no base64 any more. */
const bytesOf = (text: string): Uint8Array | string => {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
  } catch {
    return text
  }
}

const isOmitted = (value: unknown): boolean =>
  value === undefined || typeof value === "function" || typeof value === "symbol"

/**
 * The value as JSON. Bytes are base64, and dates the text that JSON writes; fields that are `undefined` are left out.
 *
 * @throws TypeError for a value that JSON refuses, such as a `bigint`
 */
export const freeze = (value: unknown): Frozen => {
  const special: Array<Special> = []
  const written = (one: unknown, at: Path): unknown => {
    if (typeof one === "bigint") throw new TypeError("JSON has no big integers")
    if (typeof one === "number") return Number.isFinite(one) ? one + 0 : null
    if (typeof one !== "object" || one === null) return one
    if (one instanceof URL) {
      special.push({ at, is: "url" })
      return one.href
    }
    if (one instanceof Uint8Array || one instanceof ArrayBuffer) {
      special.push({ at, is: "bytes" })
      return base64(one instanceof Uint8Array ? one : new Uint8Array(one))
    }
    if ("toJSON" in one && typeof one.toJSON === "function") return written(one.toJSON(), at)
    if (Array.isArray(one)) {
      // A hole in a list is nothing, as for JSON.stringify: `map` would leave it out.
      return Array.from(one, (item: unknown, index) =>
        isOmitted(item) ? null : written(item, [...at, index]),
      )
    }
    return Object.fromEntries(
      Object.entries(one).flatMap(([key, inside]) =>
        isOmitted(inside) ? [] : [[key, written(inside, [...at, key])]],
      ),
    )
  }
  return { json: written(value, []), special }
}

const replaced = (value: unknown, [key, ...rest]: Path, is: Special["is"]): unknown => {
  if (key === undefined) {
    if (typeof value !== "string") return value
    if (is === "bytes") return bytesOf(value)
    return URL.canParse(value) ? new URL(value) : value
  }
  if (Array.isArray(value) && typeof key === "number" && key in value) {
    return value.with(key, replaced(value[key], rest, is))
  }
  return isFields(value) && Object.hasOwn(value, key)
    ? { ...value, [key]: replaced(value[key], rest, is) }
    : value
}

/** The value with its special values as they were. */
export const thaw = (json: unknown, special: ReadonlyArray<Special> = []): unknown =>
  special.reduce((value, { at, is }) => replaced(value, at, is), json)
