/** The file that names the shards of a store over stores, and commands that take it in place of a store. */
import { Options } from "@effect/cli"
import { withoutSecrets } from "@memfold/catalog"
import { sharded } from "@memfold/sharded"
import { Effect, Layer, Option, Schema } from "effect"
import { UsageError } from "./failure.js"
import * as options from "./options.js"

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

export const aboutShards =
  'The shards as JSON: {"shards":{"a":"postgres://db-a/chats","b":"postgres://db-b/chats"},"place":"owner"}.'

/** The store over the shards that a file names. */
export const shardsIn = (path: string) =>
  Effect.gen(function* () {
    const parsed = yield* options.parsedFile("--shards", path)
    const given = yield* Effect.mapError(
      Schema.decodeUnknown(Shards)(parsed, { onExcessProperty: "error" }),
      () =>
        new UsageError({
          problem: `--shards ${path}: it is {"shards":{"NAME":"URL"}}, with "place": "session" or "owner" if you want`,
        }),
    )
    return sharded(given)
  })

/** A store, or shards. To be handed to {@link existing}. */
export const storeOrShards = {
  store: Options.optional(options.store),
  shards: options.optionalText("shards", "FILE", aboutShards),
}

interface Given {
  readonly store: Option.Option<string>
  readonly shards: Option.Option<string>
}

/** What an error calls the store. */
export const nameOf = ({ store, shards }: Given): string =>
  Option.match(shards, {
    onSome: (path) => `--shards ${path}`,
    onNone: () => withoutSecrets(Option.getOrElse(store, () => "")),
  })

/** The store that exists, or the one over the shards. Shards are opened to be written to: who looks for a session may have to end its move. */
export const existing = ({ store, shards }: Given, access: { readonly readonly: boolean }) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      if (Option.isSome(store) === Option.isSome(shards))
        return yield* new UsageError({ problem: "give --store URL, or --shards FILE" })
      return Option.isSome(shards)
        ? yield* shardsIn(shards.value)
        : options.existingStore({ store: Option.getOrThrow(store) }, access)
    }),
  )
