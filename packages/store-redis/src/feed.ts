/**
 * The feed of all sessions. Each bucket has a stream of what was written in it, which the script of the write adds to: so a position in the
 * feed is a position in each of these streams. An entry names the versions that a write has added, and their session by a number.
 */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { Connection } from "./Connection.js"
import { bucketKeys, keysUnder } from "./keys.js"
import type { Target } from "./Options.js"
import type { Script } from "./scripts.js"
import { fromStored, toRecord } from "./stored.js"

/** How many requests run at a time. */
const concurrency = 512

const about = { operation: "feed" }

/** Behind which entry of its stream a bucket is, and which version of the next entry came last, if not all of that has come. */
interface Place {
  readonly entry: string
  readonly version: number
}

const start: Place = { entry: "0-0", version: 0 }

/** An id of a stream, in short: a position has one for each bucket. */
const short = (id: string): string =>
  id
    .split("-")
    .map((number) => Number(number).toString(36))
    .join("-")

const textOf = ({ entry, version }: Place): string =>
  entry === start.entry && version === 0
    ? ""
    : `${short(entry)}${version === 0 ? "" : `_${version.toString(36)}`}`

const placeOf = (text: string): Place | null => {
  if (text === "") return start
  const [, time = "", sequence = "", version = "0"] =
    /^([0-9a-z]{1,10})-([0-9a-z]{1,10})(?:_([0-9a-z]{1,10}))?$/.exec(text) ?? []
  return time === ""
    ? null
    : {
        entry: `${Number.parseInt(time, 36)}-${Number.parseInt(sequence, 36)}`,
        version: Number.parseInt(version, 36),
      }
}

interface Entry {
  readonly bucket: number
  readonly id: string
  readonly number: string
  readonly from: number
  readonly to: number
}

const entriesOf = (
  bucket: number,
  found: ReadonlyArray<readonly [id: string, fields: ReadonlyArray<string>]>,
) =>
  found.map(([id, [, number = "", , range = ""]]): Entry => {
    const [from = 0, to = from] = range.split("-").map(Number)
    return { bucket, id, number, from, to }
  })

/** By the time of their servers, which is near the order of the writes; those of a bucket are in their order. */
const byTime = (one: Entry, other: Entry): number => {
  const [time = 0, sequence = 0] = one.id.split("-").map(Number)
  const [otherTime = 0, otherSequence = 0] = other.id.split("-").map(Number)
  return time - otherTime || sequence - otherSequence
}

/**
 * Makes the reader of the feed.
 *
 * @param enter - enters sessions that were written by a memfold without a feed; `null` where nothing is to be written
 */
export const feeding = (
  connection: Connection,
  { prefix, mode }: Target,
  enter: Script | null,
): Required<Pick<EventLog.Service, "feed" | "feedEnd">> => {
  const all = bucketKeys(prefix)
  const keysOf = keysUnder(prefix)

  /** Begins the feed: from then on, each write enters what it has written. Sessions that were there before are entered here. */
  const enterAll = (script: Script | null) =>
    Effect.forEach(
      all,
      ({ numbers, sessions }) =>
        Effect.gen(function* () {
          const begun = yield* connection.ask(about, (client) => client.hget(numbers, "@"))
          if (begun === "1") return
          if (script === null)
            return yield* new EventLog.LogError({
              ...about,
              reason: "the feed begins when a process that may write reads it first; read it there once",
            })
          yield* connection.ask(about, (client) => client.hset(numbers, "@", "0"))
          const names = yield* connection.ask(about, (client) => client.zrange(sessions, "0", "-1"))
          for (const name of names) {
            const { log, meta, feed } = keysOf(fromStored(name))
            yield* connection.run(about, script, [log, meta, feed, numbers], [JSON.stringify({ name })])
          }
          yield* connection.ask(about, (client) => client.hset(numbers, "@", "1"))
        }),
      { concurrency, discard: true },
    )

  /** The next entries of each bucket, at most `count`. One server answers for all buckets at once. */
  const entriesBehind = (places: ReadonlyArray<Place>, count: number) => {
    const groups = mode === "cluster" ? all.map((_, bucket) => [bucket]) : [all.map((_, bucket) => bucket)]
    return Effect.map(
      Effect.forEach(
        groups,
        (group) =>
          connection.ask(about, (client) =>
            client.xread(
              "COUNT",
              count,
              "STREAMS",
              ...group.map((bucket) => all[bucket]!.feed),
              ...group.map((bucket) => places[bucket]!.entry),
            ),
          ),
        { concurrency },
      ),
      (answers) => {
        const bucketOf = new Map(all.map(({ feed }, bucket) => [feed, bucket]))
        return answers
          .flatMap((answer) => answer ?? [])
          .flatMap(([feed, found]) => entriesOf(bucketOf.get(feed) ?? 0, found))
          .toSorted(byTime)
      },
    )
  }

  /** The records of an entry; none if its session was deleted. */
  const recordsOf = ({ bucket, number, from, to }: Entry) =>
    Effect.gen(function* () {
      const name = yield* connection.ask(about, (client) => client.hget(all[bucket]!.numbers, number))
      if (name === null) return []
      const session = fromStored(name)
      const found = yield* connection.ask(about, (client) =>
        client.xrange(keysOf(session).log, `${from}-0`, `${to}-0`),
      )
      return found.map((entry) => toRecord(session, entry))
    })

  const page = (
    places: ReadonlyArray<Place>,
    limit: number,
  ): Effect.Effect<ReadonlyArray<EventLog.FedRecord>, EventLog.LogError> =>
    Effect.gen(function* () {
      const entries = (yield* entriesBehind(places, limit)).slice(0, limit)
      if (entries.length === 0) return []
      const read = yield* Effect.forEach(entries, recordsOf, { concurrency })
      const now = [...places]
      const found: Array<EventLog.FedRecord> = []
      for (const [at, { bucket, id }] of entries.entries()) {
        const before = now[bucket] ?? start
        const rest = (read[at] ?? []).filter(({ version }) => version > before.version)
        for (const [position, record] of rest.entries()) {
          now[bucket] =
            position === rest.length - 1
              ? { entry: id, version: 0 }
              : { entry: before.entry, version: record.version }
          found.push({ record, position: now.map(textOf).join(".") })
          if (found.length === limit) return found
        }
        now[bucket] = { entry: id, version: 0 }
      }
      // All of these were of deleted sessions.
      return found.length === 0 ? yield* page(now, limit) : found
    })

  let hasBegun = false
  /** What fails now may work for the next reader. */
  const entered = Effect.suspend(() =>
    hasBegun ? Effect.void : Effect.tap(enterAll(enter), () => void (hasBegun = true)),
  )
  /** The last entry of each bucket. */
  const end = Effect.map(
    Effect.forEach(
      all,
      ({ feed }) => connection.ask(about, (client) => client.xrevrange(feed, "+", "-", "COUNT", 1)),
      { concurrency },
    ),
    (found) => {
      const places = found.map(([last]) => (last === undefined ? start : { entry: last[0], version: 0 }))
      return places.every((place) => place === start) ? null : places.map(textOf).join(".")
    },
  )
  const read: NonNullable<EventLog.Service["feed"]> = ({ after, limit }) => {
    const places = after === undefined ? all.map(() => start) : after.split(".").map(placeOf)
    if (places.length !== all.length || places.includes(null)) return EventLog.wrongPosition()
    return Effect.zipRight(entered, page(places as ReadonlyArray<Place>, limit))
  }
  return { feed: read, feedEnd: Effect.zipRight(entered, end) }
}
