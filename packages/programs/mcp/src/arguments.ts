/**
 * The arguments of a tool as clients send them. Models write lists, objects, numbers and booleans as JSON text, and `null` for
 * what is optional; both are read where the schema takes nothing of the kind.
 */
import * as z from "zod"

const takes = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success

/** The schema of a value that is there. */
const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
    ? inner(schema.unwrap())
    : schema

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The fields as their schemas take them. A field that need not be there is left out if it is `null`. */
const fields = (shape: Readonly<Record<string, z.core.$ZodType>>, given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
      const read = schema === undefined ? value : readAs(schema, value)
      const missing =
        read === null && schema !== undefined && !takes(schema, null) && takes(schema, undefined)
      return missing ? [] : [[name, read]]
    }),
  )

/**
 * The value that was meant. What the schema takes stays as it is: a text that is JSON remains a text where texts are allowed.
 *
 * @returns a value that the schema takes, if there is one; otherwise what is nearest, for the schema to refuse
 */
export const readAs = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (takes(schema, value)) return value
  const wanted = inner(schema)
  if (wanted instanceof z.ZodUnion) {
    const read = wanted.options.map((option) => readAs(option, value))
    return read.find((one) => takes(wanted, one)) ?? value
  }
  if (typeof value === "string") {
    const meant = parsed(value)
    return typeof meant === "string" ? value : readAs(schema, meant)
  }
  if (wanted instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((one) => readAs(wanted.element, one))
  }
  return wanted instanceof z.ZodObject && isObject(value) ? fields(wanted.shape, value) : value
}
