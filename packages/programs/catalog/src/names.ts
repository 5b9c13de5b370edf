/** Names of entries of the catalog, and the error for a name that has no entry. */
import { Either, Schema } from "effect"

/** There is no such strategy, summarizer or store. `allowed` lists the names that there are. */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", {
  kind: Schema.String,
  name: Schema.String,
  allowed: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `there is no ${this.kind} "${this.name}"; allowed: ${this.allowed.join(", ")}`
  }
}

/** A text for which an editor suggests these names; any other text is checked at run time. */
export type Suggested<Name extends string> = Name | (string & {})

/** Finds an entry by its name. `kind` is the word for it in the error. */
export const byName = <A>(
  kind: string,
  entries: ReadonlyMap<string, A>,
  name: string,
): Either.Either<A, UnknownName> => {
  const entry = entries.get(name)
  return entry === undefined
    ? Either.left(new UnknownName({ kind, name, allowed: [...entries.keys()] }))
    : Either.right(entry)
}
