/** Decoding what a program gives, whatever it is. */
import { Either } from "effect"
import type { Problem } from "./problem.js"

/** The problem of a value that cannot even be read: its own code throws, or it is deeper than the stack. */
const unreadable = (error: unknown): Problem => ({
  path: "",
  problem: error instanceof RangeError ? "is nested too deeply" : "has a value that cannot be read",
  allowed: "values that JSON.stringify takes",
})

/**
 * Runs a decoder. A list with holes is given to it as a list that has `undefined` there. What is thrown is a decode error
 * like any other, and is not quoted: a getter or a `toJSON` of the value may have thrown it.
 *
 * @param DecodeError - the error of the codec
 * @param input - what was given
 * @param decode - the decoder
 */
export const decoding = <A, E, Given extends E>(
  DecodeError: new (problem: Problem) => Given,
  input: unknown,
  decode: (input: unknown) => Either.Either<A, E>,
): Either.Either<A, E> => {
  try {
    return decode(Array.isArray(input) ? Array.from<unknown>(input) : input)
  } catch (error) {
    return Either.left(new DecodeError(unreadable(error)))
  }
}
