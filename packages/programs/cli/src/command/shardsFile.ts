/** The file that names the shards of a store over stores. */
import { sharded } from "@memfold/sharded"
import { Effect, Schema } from "effect"
import { UsageError } from "./failure.js"
import { parsedFile } from "./parsedFile.js"

/** What a file of shards has. A program that uses the same shards gives `sharded` the same. */
const Shards = Schema.Struct({
  shards: Schema.Record({
    key: Schema.NonEmptyString,
    value: Schema.Union(
      Schema.String,
      Schema.Struct({
        store: Schema.String,
        region: Schema.optionalWith(Schema.String, { exact: true }),
        leaving: Schema.optionalWith(Schema.Boolean, { exact: true }),
      }),
    ),
  }).pipe(Schema.filter((shards) => Object.keys(shards).length > 0)),
  place: Schema.optional(Schema.Literal("session", "owner")),
})

/** The store over the shards that a file names; `option` is the name of the option that names the file, for errors. */
export const shardsIn = (option: string, path: string) =>
  Effect.gen(function* () {
    const parsed = yield* parsedFile(option, path)
    const given = yield* Effect.mapError(
      Schema.decodeUnknown(Shards)(parsed, { onExcessProperty: "error" }),
      () =>
        new UsageError({
          problem: `${option} ${path}: it is {"shards":{"NAME":"URL"}}, with "place": "session" or "owner" if you want`,
        }),
    )
    return sharded(given)
  })
