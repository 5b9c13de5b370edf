/** Names of entries of the catalog, and the error for a name that has no entry. */
import { OptionGroup } from "@memfold/core"
import { Either, Schema } from "effect"

/**
 * There is no such strategy, summarizer, store or queue. `given` is the name, `allowed` lists the names that there are, and `guess` is what
 * was probably meant.
 */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", {
  kind: Schema.String,
  given: Schema.String,
  allowed: Schema.Array(Schema.String),
  guess: Schema.optional(Schema.String),
}) {
  override get message(): string {
    const meant = OptionGroup.didYouMean(this.guess)
    return `there is no ${this.kind} "${this.given}"; ${meant}allowed: ${this.allowed.join(", ")}`
  }
}

/** A text for which an editor suggests these names; any other text is checked at run time. */
export type Suggested<Name extends string> = Name | (string & {})

/** A text that a program has in it, and that has to be one of these; a text that is known when the program runs is checked then. */
export type Known<Given extends string, Name extends string> = string extends Given
  ? Given
  : Given extends Name
    ? Given
    : Name

/** Finds an entry by its name. `kind` is the word for it in the error. */
export const byName = <A>(
  kind: string,
  entries: ReadonlyMap<string, A>,
  name: string,
): Either.Either<A, UnknownName> => {
  const entry = entries.get(name)
  if (entry !== undefined) return Either.right(entry)
  const allowed = [...entries.keys()]
  return Either.left(
    new UnknownName({ kind, given: name, allowed, guess: OptionGroup.closest(name, allowed) }),
  )
}
