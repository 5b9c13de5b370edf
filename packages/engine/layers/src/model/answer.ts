/** Parses a model's response into facts. A response in any other form than the requested JSON is an error. */
import { Either, Schema } from "effect"
import type { NewFact } from "../Extractor.js"
import { mayBeSecret } from "../rules/MatchedFact.js"

const Text = Schema.optional(Schema.NullOr(Schema.String))

const Answer = Schema.Struct({ facts: Schema.Array(Schema.Unknown) })

const AnswerInText = Schema.parseJson(Answer)

const Given = Schema.Struct({
  layer: Schema.optionalWith(Schema.Literal("user", "scope"), { default: () => "user" }),
  kind: Text,
  predicate: Text,
  key: Text,
  subject: Text,
  value: Schema.optional(Schema.Unknown),
  text: Text,
  quote: Schema.optionalWith(Schema.Union(Schema.String, Schema.Array(Schema.String)), {
    default: () => [],
  }),
  validFrom: Text,
  validUntil: Text,
  ended: Schema.optional(Schema.NullOr(Schema.Boolean)),
})

/** What stands for something that is no fact: it is refused and counted. */
const noFact: NewFact = { quote: [] }

/** The inside of a fence that encloses the whole text; the text itself without one. */
const unfenced = (text: string): string => {
  const trimmed = text.replace(/^\ufeff/, "").trim()
  if (!trimmed.startsWith("```") || !trimmed.endsWith("```") || trimmed.length < 6) return trimmed
  const lineEnd = trimmed.indexOf("\n")
  const language = trimmed.slice(3, Math.max(lineEnd, 3)).trim()
  return /^(?:json)?$/i.test(language) && lineEnd !== -1 ? trimmed.slice(lineEnd + 1, -3) : trimmed
}

/** A date as a model writes it; `undefined` for anything else. */
const timeOf = (date: string | null | undefined): number | undefined => {
  const time = typeof date === "string" && /^\d{4}(?:-\d|$)/.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

const factIn = (given: unknown): NewFact =>
  Either.match(Schema.decodeUnknownEither(Given)(given), {
    onLeft: () => noFact,
    onRight: ({ layer, quote, value, ended, validFrom, validUntil, ...texts }) => ({
      layer,
      quote,
      ...Object.fromEntries(Object.entries(texts).filter(([, text]) => typeof text === "string")),
      value: value ?? undefined,
      ended: ended ?? false,
      validFrom: timeOf(validFrom),
      validUntil: timeOf(validUntil),
    }),
  })

/** The facts in a response, as a text or as an object. The error contains text of the response and must not be shown or logged. */
export const factsIn = (answer: unknown): Either.Either<ReadonlyArray<NewFact>, unknown> =>
  Either.map(
    typeof answer === "string"
      ? Schema.decodeUnknownEither(AnswerInText)(unfenced(answer))
      : Schema.decodeUnknownEither(Answer)(answer),
    ({ facts }) =>
      facts
        .map(factIn)
        .filter(({ text = "", value }) => !mayBeSecret(`${text}\n${JSON.stringify(value) ?? ""}`)),
  )
