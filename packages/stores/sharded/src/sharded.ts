/** A store over stores. */
import { storeLayer } from "@memfold/catalog"
import { EventLog } from "@memfold/log"
import { Context, Effect, Layer, type Scope } from "effect"
import { checkOptions } from "./options.js"
import type { Placing } from "./Places.js"
import type { Shard } from "./Shard.js"
import { makeSharded, type ShardedLog } from "./ShardedLog.js"

/** The log over shards, for programs that move sessions. */
export class Sharded extends Context.Tag("@memfold/sharded/Sharded")<Sharded, ShardedLog>() {}

/** A shard as a program names it: its store, as a URL or a layer. */
export interface ShardStore {
  readonly store: string | Layer.Layer<EventLog.EventLog, EventLog.LogError>
  readonly region?: string
  /** Whether the shard is to be taken out: no session begins there, and `rebalance` moves all away. */
  readonly leaving?: boolean
}

/** The shards by their names, and where sessions go. */
export interface ShardedOptions extends Placing {
  /** The shards; the first one has the places of all sessions. */
  readonly shards: Readonly<Record<string, string | ShardStore>>
}

const opened = (
  name: string,
  given: string | ShardStore,
): Effect.Effect<Shard, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { store, ...about }: ShardStore = typeof given === "string" ? { store: given } : given
    const layer = typeof store === "string" ? yield* storeLayer(store) : store
    const context = yield* Layer.build(Layer.fresh(layer))
    return { name, ...about, log: Context.get(context, EventLog.EventLog) }
  }).pipe(
    Effect.mapError((error) => {
      const reason = error._tag === "LogError" ? error.reason : error.message
      return new EventLog.LogError({ operation: "open", reason: `the shard "${name}": ${reason}` })
    }),
  )

/**
 * A store over stores, as a layer: for `createMemory({ store })`, and for `Memory.layer`.
 *
 * @param options - the shards by their names, which stay as they are; the first one has the places of all sessions. `place`: what decides
 *   where a session begins; `regionOf`: the region of an owner, whose sessions are on shards of this region alone
 * @throws InvalidOption: an option is unknown, or its value is not allowed
 *
 * @example
 * ```ts
 * import { sharded } from "@memfold/sharded"
 * import { createMemory } from "memfold"
 *
 * const store = sharded({
 *   shards: { a: "postgres://db-a/chats", b: "postgres://db-b/chats", c: "postgres://db-c/chats" },
 *   place: "owner",
 * })
 * const memory = createMemory({ store })
 * await memory.close()
 * ```
 */
export const sharded = (
  options: ShardedOptions,
): Layer.Layer<EventLog.EventLog | Sharded, EventLog.LogError> => {
  checkOptions(options)
  const { shards, ...placing } = options
  return Layer.scopedContext(
    Effect.gen(function* () {
      const all = yield* Effect.forEach(Object.entries(shards), ([name, given]) => opened(name, given))
      const log = yield* Effect.try({
        try: () => makeSharded({ shards: all, ...placing }),
        catch: (error) => new EventLog.LogError({ operation: "open", reason: (error as TypeError).message }),
      })
      return Context.make(EventLog.EventLog, log as EventLog.Service).pipe(Context.add(Sharded, log))
    }),
  )
}
