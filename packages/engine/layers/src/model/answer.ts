/** Parses a model's response into facts. A response in any other form than the requested JSON is an error. */
import { Either, Schema } from "effect"
import type { NewFact } from "../Extractor.js"
import { mayBeSecret } from "../rules/MatchedFact.js"

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

/** The facts in a response. The error contains text of the response and must not be shown or logged. */
export const factsIn = (answer: unknown): Either.Either<ReadonlyArray<NewFact>, unknown> =>
  Either.map(decode(typeof answer === "string" ? unfenced(answer) : answer), ({ facts }) =>
    facts
      .map(({ key, ...fact }) => ({ ...fact, key: key ?? undefined }))
      .filter(({ text }) => !mayBeSecret(text)),
  )
