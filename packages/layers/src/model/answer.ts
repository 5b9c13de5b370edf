/** What a model answered, as facts; or nothing at all, if it is not exactly what it was asked for. */
import { Either, Schema } from "effect"
import type { NewFact } from "../Extractor.js"
import { mayBeSecret } from "../rules/Found.js"

const Answer = Schema.parseJson(
  Schema.Struct({
    facts: Schema.Array(
      Schema.Struct({
        layer: Schema.Literal("user", "scope"),
        kind: Schema.NonEmptyString,
        key: Schema.optional(Schema.NullOr(Schema.String)),
        text: Schema.NonEmptyString,
      }),
    ),
  }),
)

const decode = Schema.decodeUnknownEither(Answer)

/** The inside of a fence that encloses the whole text; the text itself without one. */
const unfenced = (text: string): string => {
  const trimmed = text.replace(/^\ufeff/, "").trim()
  if (!trimmed.startsWith("```") || !trimmed.endsWith("```") || trimmed.length < 6) return trimmed
  const lineEnd = trimmed.indexOf("\n")
  const language = trimmed.slice(3, Math.max(lineEnd, 3)).trim()
  return /^(?:json)?$/i.test(language) && lineEnd !== -1 ? trimmed.slice(lineEnd + 1, -3) : trimmed
}

/** The facts in an answer. Whatever else it may be is an error, which nobody should show: it holds what was said. */
export const factsIn = (answer: unknown): Either.Either<ReadonlyArray<NewFact>, unknown> =>
  Either.map(decode(typeof answer === "string" ? unfenced(answer) : answer), ({ facts }) =>
    facts
      .map(({ key, ...fact }) => ({ ...fact, key: key ?? undefined }))
      .filter(({ text }) => !mayBeSecret(text)),
  )
