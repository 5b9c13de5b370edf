/**
 * What the store of a shard says of itself: the name of the shard, and that of the first one, which has the directory. A wrong URL, or
 * another order, is then an error before anything begins or moves: two shards in one store would delete what moves between them, and
 * with another directory every session would begin once more. The first shard may be a store that had sessions before there were shards.
 */
import { EventLog } from "@memfold/log"
import { Clock, Effect, Schema } from "effect"
import { type Directory, makeId, type Place, placePrefix } from "./Directory.js"
import { saidOf, type Shard } from "./Shard.js"

const Identity = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    /** The first shard; `null` if the directory is in a store of its own. */
    first: Schema.NullOr(Schema.String),
    /** Whether the store had sessions before it became a shard: those without a place are there. */
    had: Schema.Boolean,
  }),
)

/** The log in the store of a shard that has its identity. */
const identityLog = `${placePrefix}shard`

const decode = Schema.decodeUnknownEither(Identity)

const placesIn = (first: string | null): string =>
  first === null
    ? "a directory of its own"
    : `"${first}" as the first shard, which has the places of sessions`

/** Whether a store has a session that has no place: it was there before the shards. */
const hasOthers = (directory: Directory, log: EventLog.Service): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.gen(function* () {
    const behindPlaces = { session: `${placePrefix}~`, updatedTime: 0 }
    const [found] = yield* log.list({ limit: 1 })
    const isPlace = found?.session.startsWith(placePrefix) === true
    const [other] = isPlace ? yield* log.list({ after: behindPlaces, limit: 1 }) : [found]
    return other !== undefined && (yield* directory.find(other.session)) === null
  })

/**
 * The shards by their names. What their stores say of themselves is read once in a process.
 *
 * @param first - the shard that has the directory; `null` if a store of its own has it
 */
export const namedShards = (shards: ReadonlyArray<Shard>, directory: Directory, first: string | null) => {
  const byName = new Map(shards.map((shard) => [shard.name, shard]))
  /** What the stores that were read have said; `null` for one that says nothing yet. */
  const said = new Map<string, { readonly had: boolean } | null>()
  let isChecked = false

  const failed = (session: string, reason: string) =>
    new EventLog.LogError({ operation: "place", session, reason })

  /** Reads the identity of a shard, and says what is wrong with it; `null` if nothing is. */
  const read = (session: string, { name, log }: Shard): Effect.Effect<string | null, EventLog.LogError> =>
    Effect.gen(function* () {
      const [record] = yield* Effect.mapError(
        log.read(identityLog, EventLog.oneRecord(1)),
        saidOf(session, `the shard "${name}"`),
      )
      if (record !== undefined) {
        const found = decode(record.data)
        if (found._tag === "Left")
          return `what the shard "${name}" says of itself cannot be read; restore it from a backup`
        const is = found.right
        if (is.name !== name)
          return `the store of the shard "${name}" is the shard "${is.name}" already; give each shard a store of its own, and keep its name`
        if (is.first !== first)
          return `the shard "${name}" goes with ${placesIn(is.first)}, and is used with ${placesIn(first)}; otherwise sessions would begin once more`
        said.set(name, is)
      } else said.set(name, null)
      return null
    })

  /** Checks a shard before a session is looked for there. */
  const check = (session: string, shard: Shard): Effect.Effect<void, EventLog.LogError> =>
    said.has(shard.name)
      ? Effect.void
      : Effect.flatMap(read(session, shard), (wrong) =>
          wrong === null ? Effect.void : failed(session, wrong),
        )

  /** Checks a shard before a session begins or moves there. Its store gets an identity if it has none. */
  const identify = (session: string, shard: Shard): Effect.Effect<void, EventLog.LogError> =>
    Effect.gen(function* () {
      yield* check(session, shard)
      const { name, log } = shard
      if (said.get(name) !== null) return
      const had = yield* hasOthers(directory, log)
      if (had && name !== first)
        return yield* failed(
          session,
          `the store of the shard "${name}" has sessions of its own, which would not be found; ${first === null ? "copy them to a store over these shards" : `give the store that has them as the first shard, and the others empty`}`,
        )
      const time = yield* Clock.currentTimeMillis
      const data = JSON.stringify({ name, first, had })
      yield* log
        .append(identityLog, [{ time, type: "Shard", schemaVersion: 1, data }], {
          expectedVersion: 0,
          batchId: yield* makeId,
        })
        .pipe(
          Effect.catchTag("VersionConflict", () => Effect.void),
          Effect.mapError(saidOf(session, `the shard "${name}"`)),
        )
      // Another process may have given it another one.
      said.delete(name)
      yield* check(session, shard)
    })

  /** Checks all shards before a session is said to be nowhere, but for those that are away: the others answer without them. */
  const checkAll = (session: string): Effect.Effect<void, EventLog.LogError> =>
    Effect.gen(function* () {
      if (isChecked) return
      const found = yield* Effect.forEach(
        shards,
        (shard) => Effect.orElseSucceed(read(session, shard), () => null),
        {
          concurrency: "unbounded",
        },
      )
      const wrong = found.find((one) => one !== null)
      if (wrong !== undefined) return yield* failed(session, wrong)
      isChecked = true
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
    /** The place of a session. One that was there before the shards is on the first one, and the directory does not have it yet. */
    find: (session: string): Effect.Effect<Place | null, EventLog.LogError> =>
      Effect.gen(function* () {
        const place = yield* directory.find(session)
        if (place !== null) return place
        yield* checkAll(session)
        const shard = first === null ? undefined : byName.get(first)
        if (shard === undefined || said.get(shard.name)?.had === false) return null
        const head = yield* shard.log.head(session)
        return head === null ? null : { shard: shard.name, left: [], version: 0 }
      }),
    /** The first shard says whether it had sessions before any gets a place. */
    beginPlaces: (session: string): Effect.Effect<void, EventLog.LogError> =>
      first === null ? Effect.void : identify(session, byName.get(first)!),
  }
}
