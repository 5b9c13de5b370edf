/** Values as JSON has them, seen without trust. */
import type { KnownInside } from "@memfold/message/requestFields"

/** An object of a request, or of an answer. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value if it is an object, otherwise an empty one. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The value if it is a list, otherwise an empty one. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Whether a text is a JSON object. */
export const isObjectText = (text: unknown): boolean => {
  try {
    return isFields(JSON.parse(String(text)))
  } catch {
    return false
  }
}

/** The places of the strings (and names of fields) with half a surrogate pair, which are no Unicode text. */
export const halfPairs = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (typeof value === "string") return value.isWellFormed() ? [] : [path]
  if (Array.isArray(value)) return value.flatMap((one, index) => halfPairs(one, `${path}[${index}]`))
  if (!isFields(value)) return []
  return Object.entries(value).flatMap(([name, one]) =>
    name.isWellFormed() ? halfPairs(one, path === "" ? name : `${path}.${name}`) : [path],
  )
}

/** The fields of an object that are not among these; fields that are `undefined` do not travel. */
export const unknownFields = (value: Fields, known: ReadonlySet<string>): ReadonlyArray<string> =>
  Object.keys(value).filter((name) => value[name] !== undefined && !known.has(name))

/** The places of fields that a request does not know in a value, at any depth; `path` is the place of the value. */
export const unknownInside = (value: unknown, inside: KnownInside, path: string): ReadonlyArray<string> => {
  if (inside === true) return []
  if (Array.isArray(value)) return value.flatMap((one, at) => unknownInside(one, inside, `${path}[${at}]`))
  if (!isFields(value)) return []
  if ("types" in inside) {
    const type = value["type"] ?? value["role"]
    const known =
      typeof type === "string" && Object.hasOwn(inside.types, type) ? inside.types[type] : undefined
    return known === undefined ? [] : unknownInside(value, known, path)
  }
  return Object.entries(value).flatMap(([name, one]) => {
    if (one === undefined) return []
    const known = Object.hasOwn(inside.fields, name) ? inside.fields[name] : undefined
    return known === undefined ? [`${path}.${name}`] : unknownInside(one, known, `${path}.${name}`)
  })
}

/** JSON with sorted fields, so that equal values have equal texts. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isFields(value)) return JSON.stringify(value) ?? "null"
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
    .join(",")}}`
}
