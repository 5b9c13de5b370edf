/** The prices of a run: presets by name, or a file. */
import { Prices } from "@memfold/prices"
import { Effect, Either, Schema } from "effect"
import { valueOr, withoutMark } from "../transcript/source.js"
import { UsageError } from "../command/failure.js"
import { readText } from "../command/transcripts.js"

const presets: ReadonlyMap<string, Prices.Prices> = new Map(Object.entries(Prices.presets))

export const presetNames: ReadonlyArray<string> = [...presets.keys()]

/** A provider whose cache keeps whole messages, and one whose cache keeps tokens: what a policy costs depends on it. */
const byDefault: ReadonlyArray<Prices.PresetName> = ["claude-sonnet-5.5", "gpt-6.2-sol"]

const Stored = Schema.Union(Prices.Prices, Schema.Array(Prices.Prices))

/** The prices in a file, one or a list, with the fields of a preset. */
const pricesIn = (file: string): Effect.Effect<ReadonlyArray<Prices.Prices>, UsageError> =>
  Effect.flatMap(readText(file), (text) =>
    Either.mapBoth(Schema.decodeUnknownEither(Stored)(valueOr(withoutMark(text), null)), {
      onLeft: () =>
        new UsageError({
          problem: `--prices ${file}: it is no JSON of prices; each has ${Object.keys(Prices.Prices.fields).join(", ")}, in dollars for a million tokens`,
        }),
      onRight: (stored) => (Array.isArray(stored) ? stored : [stored]) as ReadonlyArray<Prices.Prices>,
    }),
  )

/** The prices of the given names and files, in their order. */
export const labPrices = (
  given: ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<Prices.Prices>, UsageError> =>
  Effect.forEach(given.length === 0 ? byDefault : given, (one) => {
    const preset = presets.get(one)
    if (preset !== undefined) return Effect.succeed([preset])
    return /[/\\]|\.json$/.test(one)
      ? pricesIn(one)
      : new UsageError({
          problem: `there are no prices "${one}"; allowed: ${presetNames.join(", ")}, or a JSON file`,
        })
  }).pipe(Effect.map((found) => found.flat()))
