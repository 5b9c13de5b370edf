/** Finds fields of records under the names that different programs use. */
import type { JsonObject } from "../transcript/source.js"

const plain = (name: string): string => name.toLowerCase().replaceAll("_", "")

/** The first of these names that a record has, in snake_case or camelCase: `created_at` matches `createdAt`, too. */
export const nameIn = (columns: ReadonlyArray<string>, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const column = columns.find((one) => plain(one) === plain(name))
    if (column !== undefined) return column
  }
  return undefined
}

/** The value of the first of these fields; `undefined` if the record has none of them. */
export const fieldOf = (record: JsonObject, names: ReadonlyArray<string>): unknown => {
  const name = nameIn(Object.keys(record), names)
  return name === undefined ? undefined : record[name]
}

export const chatNames = ["chat_id", "conversation_id", "thread_id", "session_id"] as const

/** An id as text; `null` if the value is not an id. */
export const idOf = (value: unknown): string | null => {
  if (typeof value === "string" && value !== "") return value
  return typeof value === "number" || typeof value === "bigint" ? String(value) : null
}
