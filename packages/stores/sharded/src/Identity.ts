/**
 * What the store of a shard says of itself: the name of the shard, and that of the first one, which has the directory. A wrong URL, or
 * another order, is then an error before anything begins or moves: two shards in one store would delete what moves between them, and
 * with another directory every session would begin once more.
 */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Schema } from "effect"
import { makeId, placePrefix } from "./Directory.js"
import type { Shard } from "./Shard.js"

const Identity = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    /** The first shard; `null` if the directory is in a store of its own. */
    first: Schema.NullOr(Schema.String),
  }),
)

/** The log in the store of a shard that has its identity. */
const identityLog = `${placePrefix}shard`

const decode = Schema.decodeUnknownEither(Identity)

const placesIn = (first: string | null): string =>
  first === null
    ? "a directory of its own"
    : `"${first}" as the first shard, which has the places of sessions`

/** What is wrong with a shard by its identity; `null` if nothing is. */
const wrongIn = (name: string, first: string | null, data: string): string | null => {
  const found = decode(data)
  if (found._tag === "Left")
    return `what the shard "${name}" says of itself cannot be read; restore it from a backup`
  const is = found.right
  if (is.name !== name)
    return `the store of the shard "${name}" is the shard "${is.name}" already; give each shard a store of its own, and keep its name`
  return is.first === first
    ? null
    : `the shard "${name}" goes with ${placesIn(is.first)}, and is used with ${placesIn(first)}; otherwise sessions would begin once more`
}

/**
 * The shards by their names. What their stores say of themselves is checked once in a process.
 *
 * @param first - the shard that has the directory; `null` if a store of its own has it
 */
export const namedShards = (shards: ReadonlyArray<Shard>, first: string | null) => {
  const byName = new Map(shards.map((shard) => [shard.name, shard]))
  const [identified, unnamed] = [new Set<string>(), new Set<string>()]
  let isChecked = false

  const read = ({ name, log }: Shard) =>
    Effect.map(
      log.read(identityLog, { fromVersion: 1, toVersion: 1, reverse: false, limit: 1 }),
      ([record]) => {
        const wrong = record === undefined ? null : wrongIn(name, first, record.data)
        if (wrong === null) (record === undefined ? unnamed : identified).add(name)
        return wrong
      },
    )

  const failed = (session: string, reason: string) =>
    new EventLog.LogError({ operation: "place", session, reason })

  /** Checks a shard before a session is looked for there. */
  const check = (session: string, shard: Shard): Effect.Effect<void, EventLog.LogError> =>
    identified.has(shard.name) || unnamed.has(shard.name)
      ? Effect.void
      : Effect.flatMap(read(shard), (wrong) => (wrong === null ? Effect.void : failed(session, wrong)))

  /** Checks a shard before a session begins or moves there. Its store gets an identity if it has none. */
  const identify = (session: string, shard: Shard): Effect.Effect<void, EventLog.LogError> =>
    Effect.gen(function* () {
      yield* check(session, shard)
      const { name, log } = shard
      if (identified.has(name)) return
      const entry = {
        time: yield* Clock.currentTimeMillis,
        type: "Shard",
        schemaVersion: 1,
        data: JSON.stringify({ name, first }),
      }
      yield* log
        .append(identityLog, [entry], { expectedVersion: 0, batchId: yield* makeId })
        .pipe(Effect.catchTag("VersionConflict", () => Effect.void))
      // Another process may have given it another one.
      unnamed.delete(name)
      yield* check(session, shard)
    })

  return {
    has: (name: string): boolean => byName.has(name),
    /**
     * The shard of a name.
     *
     * @param begins - whether the session begins there, or moves there or away
     */
    named: (session: string, name: string, begins = false): Effect.Effect<Shard, EventLog.LogError> => {
      const shard = byName.get(name)
      return shard === undefined
        ? failed(session, `it is on the shard "${name}", which this store does not have; add it`)
        : Effect.as(begins ? identify(session, shard) : check(session, shard), shard)
    },
    /** Checks all shards before a session is said to be nowhere, but for those that are away: the others answer without them. */
    checkAll: (session: string): Effect.Effect<void, EventLog.LogError> =>
      Effect.gen(function* () {
        if (isChecked) return
        const found = yield* Effect.forEach(
          shards,
          (shard) => Effect.orElseSucceed(read(shard), () => null),
          { concurrency: "unbounded" },
        )
        const wrong = found.find((one) => one !== null)
        if (wrong !== undefined) return yield* failed(session, wrong)
        isChecked = true
      }),
  }
}
