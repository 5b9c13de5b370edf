/**
 * Schemas for the files of other programs, whose fields come and go with versions: a field that is not as it should be counts
 * as missing, and unknown ones are passed over.
 */
import { Effect, Schema } from "effect"

const orNothing = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optional(
    Schema.UndefinedOr(schema).annotations({ decodingFallback: () => Effect.succeed(undefined) }),
  )

/** A text with something in it. */
export const text = orNothing(Schema.NonEmptyString)
/** A count of tokens. */
export const count = orNothing(Schema.NonNegativeInt)
export const flag = orNothing(Schema.Boolean)
/** Anything, as it is. */
export const any = Schema.optional(Schema.Unknown)

/** An object with these fields; of anything else, one without them. */
const object = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const schema = Schema.Struct(fields) as unknown as Schema.Schema<Schema.Struct.Type<Fields>, unknown>
  const empty = Schema.decodeUnknownOption(schema)({})
  return schema.annotations({ decodingFallback: () => Effect.orDie(empty) })
}

/** A field with an {@link object}. */
export const record = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const schema = object(fields)
  return Schema.optionalWith(schema, { default: () => Schema.decodeUnknownSync(schema)({}) })
}

/** A field with a list; an empty one if it is anything else. */
const listed = <A>(schema: Schema.Schema<A, unknown>) =>
  Schema.optionalWith(Schema.Array(schema).annotations({ decodingFallback: () => Effect.succeed([]) }), {
    default: () => [],
  })
export const list = listed(Schema.Unknown)
export const records = <Fields extends Schema.Struct.Fields>(fields: Fields) => listed(object(fields))

/** Reads an object, by the schema of these fields. */
export const reads = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const decode = Schema.decodeUnknownSync(object(fields))
  return (value: unknown) => decode(value)
}

/** A value as text: itself, or its JSON. */
export const written = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)
