/**
 * Listing sessions.
 *
 * Each bucket's list is always up to date, because the scripts that start and delete sessions change it. The lists of all
 * buckets are read in pages and merged, which holds up no server, however many sessions there are.
 */
import { EventLog } from "@memfold/log"
import { Effect, Option } from "effect"
import type { Connection } from "./Connection.js"
import { bucketKeys, buckets, keysUnder, type SessionKeys } from "./keys.js"
import { fromHead, fromStored, toStored } from "./stored.js"

/** How many requests run at a time. */
const concurrency = 512

const about = { operation: "list" }

/** Compares names by the bytes of their UTF-8, as Redis orders them. */
const byBytes = (one: Buffer, other: Buffer): number => Buffer.compare(one, other)

/** The entry of a session; none if it was deleted since its name was read. */
const infoOf = (connection: Connection, { meta }: SessionKeys, session: string) =>
  connection
    .ask(about, (client) => client.hmget(meta, "head", "created", "owner", "title"))
    .pipe(
      Effect.map(([head, created, owner, title]) => {
        if (head == null) return Option.none()
        const { version, updatedTime } = fromHead(head)
        return Option.some<EventLog.SessionInfo>({
          session,
          version,
          updatedTime,
          createdTime: Number(created),
          ...(owner == null ? {} : { owner: fromStored(owner) }),
          ...(title == null ? {} : { title: fromStored(title) }),
        })
      }),
    )

/** The first names behind a name, in the order of all buckets: at least `limit` of them, or all. */
const namesBehind = (
  connection: Connection,
  prefix: string,
  after: Buffer | null,
  limit: number,
): Effect.Effect<ReadonlyArray<Buffer>, EventLog.LogError> => {
  // The sessions are spread evenly over the buckets, and a few more make a second round rare.
  const pageSize = Math.ceil(limit / buckets) + 8
  const page = (list: string, behind: Buffer | null) =>
    connection.ask(about, (client) => {
      const from = behind === null ? "-" : Buffer.concat([Buffer.from("("), behind])
      return client.zrangebylexBuffer(list, from, "+", "LIMIT", 0, pageSize)
    })
  const round = (
    lists: ReadonlyArray<string>,
    behind: Buffer | null,
    found: ReadonlyArray<Buffer>,
  ): Effect.Effect<ReadonlyArray<Buffer>, EventLog.LogError> =>
    Effect.gen(function* () {
      const pages = yield* Effect.forEach(
        lists,
        (list) =>
          Effect.map(page(list, behind), (names) => ({ list, names, more: names.length === pageSize })),
        { concurrency },
      )
      // Every bucket was read up to this name. Names behind it are read again with the next round.
      const [until] = pages.flatMap(({ names, more }) => (more ? names.slice(-1) : [])).toSorted(byBytes)
      const all = [
        ...found,
        ...pages
          .flatMap(({ names }) => names)
          .filter((name) => until === undefined || byBytes(name, until) <= 0)
          .toSorted(byBytes),
      ]
      if (until === undefined || all.length >= limit) return all
      const left = pages.filter(({ names, more }) => more || names.some((name) => byBytes(name, until) > 0))
      return yield* round(
        left.map(({ list }) => list),
        until,
        all,
      )
    })
  const lists = bucketKeys(prefix).map(({ sessions }) => sessions)
  return round(lists, after, [])
}

/** The sessions of a prefix, or of an owner. */
export const listSessions = (connection: Connection, prefix: string): EventLog.Service["list"] => {
  const keysOf = keysUnder(prefix)
  const infosOf = (names: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(names, (session) => infoOf(connection, keysOf(session), session), { concurrency }),
      (infos) => infos.flatMap(Option.toArray),
    )

  const ofOwner = (owner: string, { after, limit }: EventLog.ListOptions) =>
    Effect.gen(function* () {
      const names = yield* Effect.forEach(
        bucketKeys(prefix),
        ({ owned }) => connection.ask(about, (client) => client.smembers(owned + toStored(owner))),
        { concurrency },
      )
      const infos = yield* infosOf(names.flat().map(fromStored))
      return infos
        .filter(
          (info) =>
            info.owner === owner && (after === undefined || EventLog.compareActivity(info, after) > 0),
        )
        .toSorted(EventLog.compareActivity)
        .slice(0, limit)
    })

  /** Sessions that were deleted since their names were read leave room for others. */
  const all = (
    after: Buffer | null,
    limit: number,
  ): Effect.Effect<ReadonlyArray<EventLog.SessionInfo>, EventLog.LogError> =>
    Effect.gen(function* () {
      const names = (yield* namesBehind(connection, prefix, after, limit)).slice(0, limit)
      const infos = yield* infosOf(names.map((name) => fromStored(name.toString())))
      if (names.length < limit || infos.length === limit) return infos
      return [...infos, ...(yield* all(names.at(-1) ?? null, limit - infos.length))]
    })

  return (options) =>
    options.owner === undefined
      ? all(options.after === undefined ? null : Buffer.from(toStored(options.after.session)), options.limit)
      : ofOwner(options.owner, options)
}
