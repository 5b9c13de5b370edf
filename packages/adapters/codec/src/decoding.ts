/** Decoding what a program gives, whatever it is. */
import { atOnce, mapped, type Steps } from "@memfold/log/breathe"
import { Either } from "effect"
import { kindOf, type Problem } from "./problem.js"

/** The problem of a value that cannot even be read: its own code throws, or it is deeper than the stack. */
const unreadable = (error: unknown): Problem => ({
  path: "",
  problem: error instanceof RangeError ? "is nested too deeply" : "has a value that cannot be read",
  allowed: "values that JSON.stringify takes",
})

/** The class of a decode error: see `DecodeError`. */
export type ErrorClass<E> = new (problem: Problem & { readonly index?: number }) => E

/**
 * Runs a decoder in steps. A list with holes is given to it as a list that has `undefined` there. What is thrown is a decode error
 * like any other, and is not quoted: a getter or a `toJSON` of the value may have thrown it.
 *
 * @param DecodeError - the error of the codec
 * @param input - what was given
 * @param decode - the decoder
 */
export function* decoding<A, E, Given extends E>(
  DecodeError: ErrorClass<Given>,
  input: unknown,
  decode: (input: unknown) => Steps<Either.Either<A, E>>,
): Steps<Either.Either<A, E>> {
  try {
    return yield* decode(Array.isArray(input) ? Array.from<unknown>(input) : input)
  } catch (error) {
    return Either.left(new DecodeError(unreadable(error)))
  }
}

/** The decoders of a format: of one message, and of a list, whose first wrong message is the error of the whole. */
export interface Decoder<A, E> {
  readonly one: (input: unknown) => Either.Either<A, E>
  readonly list: (input: unknown) => Either.Either<ReadonlyArray<A>, E>
  /** A list in steps, between which others have their turn. */
  readonly inSteps: (input: unknown) => Steps<Either.Either<ReadonlyArray<A>, E>>
}

/**
 * Makes the decoders of a format.
 *
 * @param DecodeError - the error of the codec
 * @param decode - decodes one message
 * @param allowed - what a list has to be
 *
 * @example
 * ```ts
 * import { DecodeError, decoder } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 * import { atOnce, mapped, type Steps } from "@memfold/log/breathe"
import { Either } from "effect"
 *
 * class LineError extends DecodeError<LineError>()("LineError") {}
 * const lines = decoder(LineError, (input) =>
 *   typeof input === "string"
 *     ? Either.right(Message.user(input))
 *     : Either.left({ path: "", problem: "is no line", allowed: "a string" }),
 * )
 * console.log(String(Either.flip(lines.list(["Hi", 4])).pipe(Either.getOrThrow))) // LineError: message 1 is no line; …
 * ```
 */
export const decoder = <A, E>(
  DecodeError: ErrorClass<E>,
  decode: (input: unknown) => Either.Either<A, Problem>,
  allowed = "a list of messages",
): Decoder<A, E> => {
  const inSteps: Decoder<A, E>["inSteps"] = (input) =>
    decoding(DecodeError, input, function* (given) {
      if (!Array.isArray(given))
        return Either.left(new DecodeError({ path: "", problem: `is ${kindOf(given)}`, allowed }))
      const decoded = yield* mapped(given, (one: unknown, index) =>
        Either.mapLeft(decode(one), (problem) => new DecodeError({ ...problem, index })),
      )
      return Either.all(decoded)
    })
  return {
    one: (input) =>
      atOnce(
        // oxlint-disable-next-line require-yield -- one message is one step
        decoding(DecodeError, input, function* (given) {
          return Either.mapLeft(decode(given), (problem) => new DecodeError(problem))
        }),
      ),
    list: (input) => atOnce(inSteps(input)),
    inSteps,
  }
}

/** Runs work that writes values as JSON: a value that JSON has no form for is a problem. */
export const asJson = <A>(work: () => A): Either.Either<A, Problem> =>
  Either.try({
    try: work,
    catch: () => ({
      path: "",
      problem: "has a value that JSON has no form for",
      allowed: "values that JSON.stringify takes, addresses (URL) and bytes",
    }),
  })
