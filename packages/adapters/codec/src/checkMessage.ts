/** The check of a message of a format, before it is decoded. */
import { Either, Schema } from "effect"
import { isFields } from "./fields.js"
import { foreignProblem, type Library } from "./foreign.js"
import { kindOf, type Problem, problemOf } from "./problem.js"

/**
 * Makes a check of unknown input: it must be no message of another library, be an object with one of the roles, and fit that
 * role's schema. The check returns the input itself, so nothing is copied or dropped, or a {@link Problem}.
 *
 * @param own - the library whose messages are checked
 */
export const checkMessage = <Wire>(
  schemas: Readonly<Record<string, Schema.Schema.AnyNoContext>>,
  own: Library,
): ((input: unknown) => Either.Either<Wire, Problem>) => {
  const allowed = Object.keys(schemas).join(", ")
  return (input) => {
    const foreign = foreignProblem(input, own)
    if (foreign !== undefined) return Either.left(foreign)
    if (!isFields(input)) {
      return Either.left({
        path: "",
        problem: `is ${kindOf(input)}`,
        allowed: "an object with role and content",
      })
    }
    const { role } = input as { readonly role?: unknown }
    const schema = typeof role === "string" && Object.hasOwn(schemas, role) ? schemas[role] : undefined
    if (schema === undefined) {
      const problem = role === undefined || role === null ? "has no role" : "has an unknown role"
      return Either.left({ path: "role", problem, allowed })
    }
    return Either.mapBoth(Schema.decodeUnknownEither(schema)(input), {
      onLeft: problemOf,
      onRight: () => input as Wire,
    })
  }
}
