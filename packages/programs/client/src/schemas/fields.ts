/** What fields of requests are made of. */
import { Schema } from "effect"

/** A schema, and what a value of it is for. */
export const described = <S extends Schema.Annotable.All>(schema: S, description: string) =>
  Schema.annotations<S>({ description })(schema)

export const text = (description: string) => described(Schema.String, description)

export const number = (description: string) => described(Schema.Number, description)

/** A field that may be left out. It is described beside its schema, whose errors go on saying what is allowed. */
export const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optional(schema).annotations({ description })

/** Who stands behind words, the most trusted first. */
export const Origin = Schema.Literal("system", "user", "assistant", "tool", "retrieved", "external")

/** A number in a query, which has it as a text. */
export const count = Schema.compose(text("a whole number, 0 or more"), Schema.NumberFromString).pipe(
  Schema.int(),
  Schema.nonNegative(),
)

/** The most tokens of what one request recalls. */
export const mostRecalled = 100_000

/** Yes or no in a query. */
export const flag = Schema.transformLiterals(["true", true], ["false", false])

export const TimeFromString = Schema.NumberFromString.annotations({
  description: "Milliseconds since the epoch",
})
