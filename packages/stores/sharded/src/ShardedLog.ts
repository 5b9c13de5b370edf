/** The log over the logs of shards. */
import { EventLog } from "@memfold/log"
import { Effect, Stream } from "effect"
import { type Directory, directoryIn, type Place, placePrefix } from "./Directory.js"
import { type Moved, moveSession } from "./move.js"
import { neverOn, plain, type Places, placesOf, type Placing, samePosition } from "./Places.js"
import { routing } from "./routing.js"
import { saidOf, type Shard } from "./Shard.js"

/** The shards, and where sessions go. */
export interface ShardsOptions extends Placing {
  readonly shards: ReadonlyArray<Shard>
  /** The store that has the places of sessions: the first shard by default. It stays what it is for good. */
  readonly directory?: EventLog.Service | undefined
}

/** A store over shards, and what is done with them. */
export interface ShardedLog extends EventLog.Service {
  readonly shards: ReadonlyArray<Pick<Shard, "name" | "region">>
  /** The shard that has a session; `null` without one. */
  readonly placeOf: (session: string) => Effect.Effect<string | null, EventLog.LogError>
  /**
   * Moves a session to a shard, while it is written to. Fails if it has left that shard before, or if a move there was broken off: `again`
   * says that no process is left which has begun such a move.
   */
  readonly move: (
    session: string,
    shard: string,
    options?: { readonly again?: boolean },
  ) => Effect.Effect<Moved, EventLog.LogError>
  readonly moveOwner: (owner: string, shard: string) => Stream.Stream<Moved, EventLog.LogError>
  /**
   * Moves each session to the shard that it would begin on now: after a shard was added, those that belong there; before one is taken out,
   * all that it has.
   */
  readonly rebalance: Stream.Stream<Moved, EventLog.LogError>
}

/** Sessions that are written to all the time take a while each: several move at once, in any order. */
const atOnce = { concurrency: 8, unordered: true } as const

/** The order of two entries in a list. */
const order = (owner: string | undefined) =>
  owner === undefined
    ? (one: EventLog.SessionInfo, other: EventLog.SessionInfo) =>
        EventLog.compareSessionIds(one.session, other.session)
    : EventLog.compareActivity

/** Lists the sessions of all shards in one order, each from the shard that has it. */
const listing = (places: Places, directory: Directory): EventLog.Service["list"] => {
  const entryOf = (session: string, shard: Shard | null): string => `${shard?.name}\0${session}`
  const list: EventLog.Service["list"] = ({ owner, after, limit }) =>
    Effect.gen(function* () {
      const pages = Effect.forEach(
        places.allowed(owner ?? null),
        (shard) =>
          Effect.mapBoth(shard.log.list({ owner, after, limit }), {
            onFailure: saidOf(undefined, `the shard "${shard.name}"`),
            onSuccess: (page) => page.map((info) => ({ info, shard })),
          }),
        { concurrency: "unbounded" },
      )
      const before = yield* directory.moves
      const first = yield* pages
      // A session that has moved meanwhile may be on none of the pages: on its new shard when they are read again.
      const both = (yield* directory.moves) === before ? first : [...(yield* pages), ...first]
      const compare = order(owner)
      const seen = new Set<string>()
      const found = both
        .flat()
        .filter(({ info, shard }) => {
          const entry = entryOf(info.session, shard)
          return !seen.has(entry) && seen.add(entry)
        })
        .toSorted((one, other) => compare(one.info, other.info))
        .slice(0, limit)
      const sessions = [...new Set(found.map(({ info }) => info.session))].filter(
        (session) => !session.startsWith(placePrefix),
      )
      // Once for each: between two looks, it may move.
      const now = new Map(
        yield* Effect.forEach(
          sessions,
          (session) => {
            const known = places.known(session)
            const shard = seen.has(entryOf(session, known)) ? Effect.succeed(known) : places.look(session)
            return Effect.map(shard, (now) => [session, now] as const)
          },
          { concurrency: 16 },
        ),
      )
      const shown = found.filter(({ info, shard }) => now.get(info.session) === shard)
      const infos = shown.map(({ info }) => info)
      const last = found.at(-1)?.info
      if (found.length < limit || infos.length === limit || last === undefined) return infos
      // Behind the directory, whose ids end with letters and digits, at once.
      const next =
        owner === undefined && last.session.startsWith(placePrefix)
          ? { session: `${placePrefix}~`, updatedTime: 0 }
          : last
      return [...infos, ...(yield* list({ owner, after: next, limit: limit - infos.length }))]
    })
  return list
}

/** A position in the feeds of the shards: one of each. */
const positionOf = (positions: ReadonlyMap<string, string>): string =>
  [...positions].map(([shard, at]) => `${encodeURIComponent(shard)}=${encodeURIComponent(at)}`).join("~")

/** The feeds of the shards, one beside the other: a position is one of each. A moved session comes again, on its new shard. */
const feeding =
  (shards: ReadonlyArray<Shard>): NonNullable<EventLog.Service["feed"]> =>
  ({ after = "", limit }) =>
    Effect.gen(function* () {
      // A position of the first shard from before there were shards: it has gone on behind that.
      const written =
        after === "" || after.includes("=") ? after : positionOf(new Map([[shards[0]!.name, after]]))
      const parts = written === "" ? [] : written.split("~").map((part) => part.split("="))
      const names = new Map(shards.map(({ name }) => [encodeURIComponent(name), name]))
      // What was read of a shard that was taken out is over: its sessions come again on others.
      const known = parts.filter(([name = ""]) => names.has(name))
      if (!parts.every(({ length }) => length === 2) || (known.length === 0 && parts.length > 0))
        return yield* EventLog.wrongPosition()
      const positions = new Map(
        known.map(([name = "", position = ""]) => [names.get(name)!, decodeURIComponent(position)]),
      )
      const found: Array<EventLog.FedRecord> = []
      for (const { name, log } of shards) {
        let isMore = true
        while (log.feed !== undefined && isMore && found.length < limit) {
          const page = yield* Effect.mapError(
            log.feed({ after: positions.get(name), limit: limit - found.length }),
            saidOf(undefined, `the shard "${name}"`),
          )
          for (const { record, position } of page) {
            positions.set(name, position)
            if (record.session.startsWith(placePrefix)) continue
            found.push({ record, position: positionOf(positions) })
          }
          isMore = page.length > 0
        }
      }
      return found
    })

/** Throws for a store whose layers go over the shards: nobody above would know what is below. */
const checkShard = ({ name, log }: Shard): void => {
  // An archive would get the words, and an erasure would be refused.
  if (log.erasure !== undefined)
    throw new TypeError(
      `the shard "${name}" seals what it keeps; shard the stores, and put the layer of @memfold/sealed over the shards`,
    )
  // The last step of a move would remove from the archive what has moved.
  if (log.archived === true)
    throw new TypeError(
      `the shard "${name}" has an archive behind it; shard the stores, and put the archive behind the shards (withArchive)`,
    )
}

/** Replaces data of a session. A copy of what was there before does not get in its stead: a move ends before it, and behind it. */
const replacing = (places: Places) => {
  const replace: NonNullable<EventLog.Service["replace"]> = (session, replaced, at) =>
    Effect.gen(function* () {
      const before = yield* places.settle(session)
      if (before === null) {
        const expectedVersion = at.version
        return yield* new EventLog.VersionConflict({ session, expectedVersion, actualVersion: 0 })
      }
      const { name, log } = yield* places.named(session, before.shard)
      if (log.replace === undefined)
        return yield* new EventLog.LogError({
          operation: "replace",
          session,
          reason: `the shard "${name}" cannot keep parts of a session in an archive; move the session to another shard, or archive whole sessions`,
        })
      yield* log.replace(session, replaced, at)
      // It has moved meanwhile, perhaps as it was before.
      if ((yield* places.settle(session))?.shard !== name) yield* replace(session, replaced, at)
    })
  return replace
}

/** The log, which opens a session on the shard that has it, if all shards can. A mark of an archive has a place of its own. */
const openingOnShards = (
  shards: ReadonlyArray<Shard>,
  reading: ReturnType<typeof routing>["reading"],
  log: ShardedLog,
): ShardedLog => {
  const asks = new Map(shards.map(({ name, log }) => [name, EventLog.openingOf(log)]))
  return [...asks.values()].includes(undefined)
    ? log
    : EventLog.withOpening(log, (session, limit) =>
        reading(session, null as EventLog.Opened | null, ({ name }) =>
          Effect.map(asks.get(name)!(session, limit), (found) => (found.head === null ? null : found)),
        ).pipe(Effect.map((found) => found ?? { head: null, snapshot: null, active: [], page: [] })),
      )
}

/**
 * Makes a store over stores. A store that seals is no shard: the layer that seals goes over the shards.
 *
 * A session takes one more read when a process first uses it, and one more append when it begins. Transactions of the application and
 * notifications of changes are of one database: here, subscribers poll.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog } from "@memfold/log"
 * import { makeSharded } from "@memfold/sharded"
 * import { Effect } from "effect"
 *
 * export const placed = Effect.gen(function* () {
 *   const [a, b] = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
 *   const log = makeSharded({ shards: [{ name: "a", log: a }, { name: "b", log: b }] })
 *   return yield* log.placeOf("chat-1")
 * })
 * ```
 */
export const makeSharded = ({ shards, directory: given, ...placing }: ShardsOptions): ShardedLog => {
  const [first] = shards
  if (first === undefined || new Set(shards.map(({ name }) => name)).size < shards.length)
    throw new TypeError("`shards` must have one shard or more, each with a name of its own")
  for (const shard of shards) checkShard(shard)
  const directory = directoryIn(given ?? first.log)
  const places = placesOf(shards, directory, placing, given === undefined ? first.name : null)

  const { reading, writing, write } = routing(places)

  /** Whether a deletion that was noted has been done by whoever has settled it. */
  const isDeleted = (session: string, at: EventLog.LogPosition, noted: Place) =>
    Effect.gen(function* () {
      if ((yield* directory.find(session))?.version === noted.version) return false
      const [record] = yield* reading(session, [] as ReadonlyArray<EventLog.LogRecord>, ({ log }) =>
        log.read(session, EventLog.oneRecord(at.version)),
      )
      return record?.batchId !== at.batchId
    })

  const remove = (session: string, at?: EventLog.LogPosition): Effect.Effect<boolean, EventLog.LogError> =>
    Effect.gen(function* () {
      const place = yield* places.settle(session)
      if (place === null) return false
      const { log } = yield* places.named(session, place.shard)
      const head = yield* log.head(session)
      if (head === null) {
        const now = yield* directory.find(session)
        // It has moved meanwhile.
        return now !== null && now.version !== place.version ? yield* remove(session, at) : false
      }
      if (at !== undefined && !samePosition(head, at)) return false
      yield* places.clear(session, place)
      const noted = yield* directory.change(session, place.version, { ...plain(place), deleting: head })
      if (noted === null) return yield* remove(session, at)
      const isDone = (yield* log.delete(session, head)) || (yield* isDeleted(session, head, noted))
      yield* directory.change(session, noted.version, plain(place))
      return isDone || at !== undefined ? isDone : yield* remove(session)
    })

  const move: ShardedLog["move"] = (session, name, { again } = {}) =>
    Effect.flatMap(places.named(session, name), (shard) =>
      moveSession(places, directory, session, shard, again),
    )

  const list = listing(places, directory)
  const { projections } = first.log
  return openingOnShards(shards, reading, {
    shards: shards.map(({ name, region }) => ({ name, region })),
    placeOf: (session) =>
      reading(session, null as string | null, ({ name, log }) =>
        Effect.map(log.head(session), (head) => (head === null ? null : name)),
      ),
    move,
    moveOwner: (owner, name) =>
      Stream.mapEffect(EventLog.sessions({ list }, owner), ({ session }) => move(session, name), atOnce),
    rebalance: EventLog.logs({ list }).pipe(
      Stream.mapEffect(
        ({ session, owner = null }) =>
          Effect.gen(function* () {
            const place = yield* places.settle(session)
            const isLeaving = shards.some(({ name, leaving }) => leaving === true && name === place?.shard)
            const never = isLeaving && place !== null ? neverOn(place) : []
            const { name } = yield* places.belongsTo(session, owner, never)
            return place === null || place.shard === name || neverOn(place).includes(name)
              ? []
              : [yield* move(session, name)]
          }),
        atOnce,
      ),
      Stream.flattenIterables,
    ),
    append: (session, records, options) =>
      write("append", session, options, ({ log }) => log.append(session, records, options)),
    // What was copied before has the old data: a move that is under way ends, and its copy goes.
    rewrite: (session, rewritten, records, options) =>
      write("rewrite", session, options, ({ log }) => log.rewrite(session, rewritten, records, options)).pipe(
        Effect.tap(() => Effect.flatMap(places.settle(session), (place) => places.clear(session, place))),
      ),
    ...(shards.some(({ log }) => log.replace !== undefined) ? { replace: replacing(places) } : {}),
    read: (session, page) =>
      reading(session, [] as ReadonlyArray<EventLog.LogRecord>, ({ log }) => log.read(session, page)),
    head: (session) => reading(session, null as EventLog.LogPosition | null, ({ log }) => log.head(session)),
    list,
    delete: remove,
    finishRewrites: (session) =>
      Effect.flatMap(places.look(session), (shard) => shard?.log.finishRewrites?.(session) ?? Effect.void),
    feed: feeding(shards),
    feedEnd: Effect.gen(function* () {
      const positions = new Map<string, string>()
      for (const { name, log } of shards) {
        // In a shard without a feed, nothing is ever behind a position.
        const end = yield* Effect.mapError(
          log.feedEnd ?? Effect.succeed(null),
          saidOf(undefined, `the shard "${name}"`),
        )
        if (end !== null) positions.set(name, end)
      }
      return positions.size === 0 ? null : positionOf(positions)
    }),
    projections: {
      endsWithProcess: projections.endsWithProcess === true,
      get: (session, ...asked) =>
        reading(session, [] as ReadonlyArray<EventLog.ProjectionRow>, ({ log }) =>
          log.projections.get(session, ...asked),
        ),
      put: (session, at, changes) =>
        Effect.flatMap(places.look(session), (shard) =>
          shard !== null
            ? writing(session, shard, ({ log }) => log.projections.put(session, at, changes))
            : at.version === 0
              ? Effect.void
              : new EventLog.VersionConflict({ session, expectedVersion: at.version, actualVersion: 0 }),
        ),
      drop: (kind, session) =>
        session === undefined
          ? Effect.forEach(shards, ({ log }) => log.projections.drop(kind), { discard: true })
          : Effect.flatMap(
              places.look(session),
              (shard) => shard?.log.projections.drop(kind, session) ?? Effect.void,
            ),
    },
  })
}
