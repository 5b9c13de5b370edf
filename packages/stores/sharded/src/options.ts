/** The options of a store over shards, and what each must be. */
import { OptionGroup } from "@memfold/core"
import { Layer, Schema } from "effect"

const { Callable, option, orLayer, problemIn } = OptionGroup

const Text = Schema.String.pipe(Schema.filter((given) => given.trim() !== ""))

/** A shard that is more than the URL of its store. */
const shardOptions = {
  store: option(orLayer(Schema.String), "the URL of a store, or a layer"),
  region: option(Text, "the name of a region"),
  leaving: option(Schema.Boolean, "true or false"),
}

const shardedOptions = {
  // An array has numbers for names.
  shards: option(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }).pipe(
      Schema.filter((shards) => Object.keys(shards).length > 0),
    ),
    'an object of shards by their names, such as { a: "sqlite:a.db", b: "sqlite:b.db" }',
  ),
  place: option(
    Schema.Union(Schema.Literal("session", "owner"), Callable),
    '"session", "owner", or a function from the id of a session and its owner to the name of a shard',
  ),
  regionOf: option(Callable, "a function from the id of an owner to the name of a region"),
}

/** What is wrong with the name of a shard, or with the shard; `null` if nothing is. */
const problemOf = (name: string, shard: unknown): OptionGroup.InvalidOption | null => {
  const refused = (option: string, allowed: string) => new OptionGroup.InvalidOption({ option, allowed })
  const path = `shards.${name}`
  if (name.trim() === "" || /^(?:0|[1-9]\d*)$/.test(name))
    return refused(path, "under a name that is not empty and no whole number, whose order is not kept")
  if (typeof shard === "string") return null
  if (typeof shard !== "object" || shard === null || Layer.isLayer(shard))
    return refused(path, "the URL of a store, or an object like { store, region, leaving }")
  return problemIn(shardOptions, { store: null, ...shard }, `${path}.`)
}

/**
 * Checks the options, as a type checker would.
 *
 * @throws InvalidOption: the first wrong option
 */
export const checkOptions = (given: object): void => {
  const options = { shards: null, ...given }
  const wrong =
    problemIn(shardedOptions, options) ??
    Object.entries(options.shards ?? {})
      .map(([name, shard]) => problemOf(name, shard))
      .find((problem) => problem !== null)
  if (wrong !== undefined) throw wrong
}
