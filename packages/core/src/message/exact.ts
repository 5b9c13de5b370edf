/**
 * Quick checks of plain JSON against the schemas of messages: whether decoding a value would give an equal one, with the
 * same fields in the same order. Nearly every message passes. One that does not may still be valid: the schema decides.
 *
 * An append and the reading of a log check each message; by the schema, that takes several times as long as everything
 * else that is done with it.
 */
import type { Message, Part } from "./Message.js"

/** Whether a value is as a schema would decode it, with its fields in the same order. */
export type Check = (value: unknown) => boolean

/** The fields of an object in the order of the schema; `required` says whether one may be missing. */
type Fields = ReadonlyArray<readonly [name: string, check: Check, required?: "required"]>

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** A check that an object has the required fields, any of the others, and nothing else. */
export const exactly =
  (fields: Fields): Check =>
  (value) => {
    if (!isPlain(value)) return false
    const names = Object.keys(value)
    let position = 0
    for (const [name, check, required] of fields) {
      if (names[position] === name) {
        if (!check(value[name])) return false
        position++
      } else if (required !== undefined) return false
    }
    return position === names.length
  }

/** A string. */
export const text: Check = (value) => typeof value === "string"
/** `true` or `false`. */
export const boolean: Check = (value) => typeof value === "boolean"
/** A number that JSON can say. */
export const finite: Check = (value) => typeof value === "number" && Number.isFinite(value)
/** Any value. */
export const unknown: Check = () => true
const record: Check = (value) => isPlain(value) && !Object.hasOwn(value, "__proto__")
/** One of these values. */
export const literal =
  (...allowed: ReadonlyArray<unknown>): Check =>
  (value) =>
    allowed.includes(value)

/** A whole number, 0 or more. */
export const count: Check = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0

/** An array whose elements all pass. */
export const listOf =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return false
    // `every` would pass over the holes of a sparse array.
    for (let position = 0; position < value.length; position++) if (!check(value[position])) return false
    return true
  }

const partOf = (type: Part["type"], fields: Fields): Check =>
  exactly([["type", literal(type), "required"], ...fields, ["providerData", record]])

const oneOf =
  (checks: Readonly<Partial<Record<Part["type"], Check>>>): Check =>
  (value) => {
    const type = isPlain(value) ? value["type"] : undefined
    return (
      typeof type === "string" &&
      Object.hasOwn(checks, type) &&
      checks[type as Part["type"]]?.(value) === true
    )
  }

const contents = {
  text: partOf("text", [["text", text, "required"]]),
  file: partOf("file", [
    ["mediaType", text, "required"],
    ["uri", text, "required"],
    ["name", text],
  ]),
  opaque: partOf("opaque", [
    ["provider", text, "required"],
    ["data", unknown, "required"],
    ["replaces", literal("text-before")],
    ["model", text],
    ["bound", boolean],
  ]),
}

const part = oneOf({
  ...contents,
  reasoning: partOf("reasoning", [
    ["text", text, "required"],
    ["signature", text],
  ]),
  "tool-call": partOf("tool-call", [
    ["id", text, "required"],
    ["name", text, "required"],
    ["arguments", text, "required"],
  ]),
  "tool-result": partOf("tool-result", [
    ["id", text, "required"],
    ["name", text],
    ["output", text, "required"],
    ["content", listOf(oneOf(contents))],
    ["isError", boolean],
  ]),
})

/** The role of a message. */
export const isRole: Check = literal("system", "user", "assistant", "tool")

const message = exactly([
  ["role", isRole, "required"],
  ["parts", listOf(part), "required"],
  ["name", text],
  ["time", finite],
  ["pinned", boolean],
  [
    "usage",
    exactly([
      ["input", count],
      ["output", count, "required"],
    ]),
  ],
  ["metadata", record],
])

/** Whether a value is a message exactly as the schema would decode it. If not, ask the schema. */
export const isExactMessage = (value: unknown): value is Message => message(value)

/** Whether a value is the description of a message's bound parts exactly as its schema would decode it. */
export const isExactBound: Check = exactly([
  ["tokens", count, "required"],
  ["head", text],
])
