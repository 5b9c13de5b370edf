/** Names of fields: `camelCase` in the Agents SDK, `snake_case` in the Responses API. */
import { type Fields, isFields } from "@memfold/codec"

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())

const renamed = (value: unknown, rename: (name: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [rename(name), renamed(one, rename)]))
}

/** The value with all its fields, nested ones included, named as in the Responses API. */
export const toSnake = (value: unknown): unknown => renamed(value, snake)

/** The value with all its fields, nested ones included, named as in the Agents SDK. */
export const toCamel = (value: unknown): unknown => renamed(value, camel)

/** The fields, without the named ones and without undefined ones. */
export const without = (fields: Fields, ...names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== undefined && !names.includes(name)),
  )
