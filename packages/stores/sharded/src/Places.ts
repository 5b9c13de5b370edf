/** Where sessions are, as a process knows it: what it has seen holds, because a session never returns to a shard that it has left. */
import { EventLog } from "@memfold/log"
import { Clock, Effect } from "effect"
import type { Directory, Place } from "./Directory.js"
import { namedShards } from "./Identity.js"
import { rendezvous, type Shard } from "./Shard.js"

/** How many places are remembered. */
const mostKnown = 100_000

/**
 * For how long a process writes to a place that it has seen before it looks again, in milliseconds: so long after a move has begun, each
 * process that writes knows of it, and looks before each write.
 */
export const trusted = 5_000

/** For how long a write waits for a session that is held: its mover has died by then. */
const longestHold = 5_000

/** How long a write waits before it looks again whether the session is still held. */
const pause = 20

const noName = "the function `place` has to answer with the name of a shard or `undefined`, at once"

/** What decides where a new session goes. */
export interface Placing {
  /**
   * - `session`, the default: sessions are spread evenly
   * - `owner`: the sessions of an owner are together, so that recall over them is on one shard. One without an owner is placed by its id
   * - a function: the name of the shard, or `undefined` to leave it to the id
   */
  readonly place?:
    | "session"
    | "owner"
    | ((session: string, owner: string | null) => string | undefined)
    | undefined
  /** The region of an owner: its sessions are on shards of this region, and are not looked for elsewhere. */
  readonly regionOf?: ((owner: string) => string | undefined) | undefined
}

/** Whether a log is where it was; not, if it is gone. */
export const samePosition = (
  one: EventLog.LogPosition | null,
  other: EventLog.LogPosition | undefined,
): boolean => one !== null && one.version === other?.version && one.batchId === other.batchId

/** A place with nothing under way. */
export const plain = ({ shard, left, tried }: Omit<Place, "version">): Omit<Place, "version"> => ({
  shard,
  left,
  tried,
})

/** The shards that a session is never on again. */
export const neverOn = ({ left, tried = [] }: Pick<Place, "left" | "tried">): ReadonlyArray<string> => [
  ...left,
  ...tried,
]

const failed = (operation: string, session: string, reason: string) =>
  new EventLog.LogError({ operation, session, reason })

/**
 * The places of sessions on shards.
 *
 * @param first - the shard that has the directory; `null` if a store of its own has it
 */
export const placesOf = (
  shards: ReadonlyArray<Shard>,
  directory: Directory,
  { place: placing = "session", regionOf }: Placing,
  first: string | null,
) => {
  const known = new Map<string, { readonly shard: Shard; readonly since: number }>()
  const { beginPlaces, find, has, named } = namedShards(shards, directory, first)

  const remember = (session: string, shard: Shard): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (since) => {
      if (known.size >= mostKnown) known.clear()
      known.set(session, { shard, since })
    })

  /** The shards that may have sessions of an owner. */
  const allowed = (owner: string | null): ReadonlyArray<Shard> => {
    const region = owner === null ? undefined : regionOf?.(owner)
    return region === undefined ? shards : shards.filter((shard) => shard.region === region)
  }

  /** The shard of a place. What moves is not remembered. */
  const shardOf = (session: string, place: Place | null): Effect.Effect<Shard | null, EventLog.LogError> =>
    Effect.gen(function* () {
      if (place === null) return null
      const shard = yield* named(session, place.shard)
      if (place.to === undefined) {
        yield* remember(session, shard)
        return shard
      }
      known.delete(session)
      if (place.at === undefined) return shard
      return (yield* shard.log.head(session)) === null ? yield* named(session, place.to) : shard
    })

  /** Where a session is by the directory; `null` without a place. */
  const look = (session: string) => Effect.flatMap(find(session), (place) => shardOf(session, place))

  /** Where a session is for whoever writes. What was seen long ago is looked up again meanwhile: nobody waits for that. */
  const toWrite = (session: string): Effect.Effect<Shard | null, EventLog.LogError> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const seen = known.get(session)
      if (seen !== undefined) {
        if (now - seen.since < trusted) return seen.shard
        known.set(session, { ...seen, since: now })
        yield* Effect.forkDaemon(Effect.ignore(look(session)))
        return seen.shard
      }
      for (;;) {
        const place = yield* find(session)
        if (place?.held !== true) return yield* shardOf(session, place)
        if ((yield* Clock.currentTimeMillis) - now < longestHold) yield* Effect.sleep(pause)
        else yield* settle(session)
      }
    })

  /** The shard that a session of an owner belongs to, if it is new or if it is never again on some. */
  const belongsTo = (
    session: string,
    owner: string | null,
    never: ReadonlyArray<string> = [],
  ): Effect.Effect<Shard, EventLog.LogError> => {
    const among = allowed(owner).filter(({ name, leaving }) => leaving !== true && !never.includes(name))
    const asked: unknown = typeof placing === "function" ? placing(session, owner) : undefined
    if (asked !== undefined && typeof asked !== "string") return failed("place", session, noName)
    const key = placing === "owner" && owner !== null ? `owner ${owner}` : `session ${session}`
    const shard = asked === undefined ? rendezvous(among, key) : among.find(({ name }) => name === asked)
    return shard === undefined
      ? failed(
          "place",
          session,
          asked === undefined
            ? "no shard that stays, and that it has not left, is in the region of its owner; add one"
            : `it is to be on the shard "${asked}", which this store does not have in the region of its owner, or which is leaving`,
        )
      : Effect.succeed(shard)
  }

  /** Finds or chooses the place of a session that begins. */
  const choose = (session: string, owner: string | null): Effect.Effect<Shard, EventLog.LogError> =>
    Effect.gen(function* () {
      const found = yield* look(session)
      if (found !== null) return found
      const { name } = yield* belongsTo(session, owner)
      yield* beginPlaces(session)
      yield* named(session, name, true)
      yield* directory.change(session, 0, { shard: name, left: [] })
      return yield* choose(session, owner)
    })

  /**
   * Ends what is under way with a session: a move that is not decided is taken back, one that is decided is finished, and a deletion is
   * done. Whoever does it, it comes to the same end, and what stopped halfway is nobody's: the session never goes where it was copied to.
   */
  const settle = (session: string): Effect.Effect<Place | null, EventLog.LogError> =>
    Effect.gen(function* () {
      for (;;) {
        const place = yield* find(session)
        if (place === null) return null
        const { to, at, deleting, version, left } = place
        const shard = yield* named(session, place.shard)
        const takenBack = {
          ...plain(place),
          tried: [...(place.tried ?? []), ...(to === undefined ? [] : [to])],
        }
        if (deleting !== undefined) {
          yield* shard.log.delete(session, deleting)
          yield* directory.change(session, version, plain(place))
        } else if (to === undefined) return place
        else if (at === undefined) yield* directory.change(session, version, takenBack)
        else {
          const head = yield* shard.log.head(session)
          if (samePosition(head, at)) yield* shard.log.delete(session, at)
          else if (head === null) {
            known.delete(session)
            yield* directory.change(session, version, {
              ...plain(place),
              shard: to,
              left: [...left, place.shard],
            })
          } else yield* directory.change(session, version, takenBack)
        }
      }
    })

  /** Deletes what moves that were broken off have copied. */
  const clear = (session: string, place: Pick<Place, "tried"> | null) =>
    Effect.forEach(
      (place?.tried ?? []).filter(has),
      (name) => Effect.flatMap(named(session, name), ({ log }) => log.delete(session)),
      { discard: true },
    )

  return {
    clear,
    known: (session: string): Shard | null => known.get(session)?.shard ?? null,
    forget: (session: string): void => void known.delete(session),
    named,
    allowed,
    look,
    toWrite,
    choose,
    belongsTo,
    settle,
  }
}

/** The places of sessions on shards. */
export type Places = ReturnType<typeof placesOf>
