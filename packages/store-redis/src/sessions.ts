/**
 * The list of all sessions, in order, in pages.
 *
 * Each bucket's list is always up to date, because the scripts that start and delete sessions change it. The lists of all
 * buckets are read in pages and merged, which holds up no server, however many sessions there are.
 */
import type { EventLog } from "@memfold/core"
import { Chunk, Effect, Option, Stream } from "effect"
import type { Connection } from "./Connection.js"
import { keysUnder, type SessionKeys, sessionLists } from "./keys.js"
import { fromHead, fromStored } from "./stored.js"

/** How many ids one request reads from a bucket. */
const pageSize = 64

/** How many requests run at a time. */
const concurrency = 512

const about = { operation: "sessions" }

/** Compares ids by the bytes of their UTF-8, as Redis orders them. */
const byBytes = (one: Buffer, other: Buffer): number => Buffer.compare(one, other)

/** The entry of a session; none if it was deleted since its id was read. */
export const infoOf = (
  connection: Connection,
  { meta }: SessionKeys,
  session: string,
  operation = "sessions",
) =>
  connection
    .ask({ operation }, (client) => client.hmget(meta, "head", "created", "owner", "title"))
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

/** Every session of a prefix, ordered by the bytes of its id. */
export const sessions = (
  connection: Connection,
  prefix: string,
): Stream.Stream<EventLog.SessionInfo, EventLog.LogError> => {
  const keysOf = keysUnder(prefix)
  const page = (list: string, after: Buffer | null) =>
    connection.ask(about, (client) =>
      client.zrangebylexBuffer(
        list,
        after === null ? "-" : Buffer.concat([Buffer.from("("), after]),
        "+",
        "LIMIT",
        0,
        pageSize,
      ),
    )
  return Stream.paginateChunkEffect(
    { lists: sessionLists(prefix), after: null as Buffer | null },
    ({ lists, after }) =>
      Effect.gen(function* () {
        const pages = yield* Effect.forEach(
          lists,
          (list) => Effect.map(page(list, after), (ids) => ({ list, ids, more: ids.length === pageSize })),
          { concurrency },
        )
        // Every bucket was read up to this id. Ids after it are read again with the next page.
        const [until] = pages.flatMap(({ ids, more }) => (more ? ids.slice(-1) : [])).toSorted(byBytes)
        const ids = pages
          .flatMap(({ ids }) => ids)
          .filter((id) => until === undefined || byBytes(id, until) <= 0)
          .toSorted(byBytes)
        const infos = yield* Effect.forEach(
          ids,
          (id) => {
            const session = fromStored(id.toString())
            return infoOf(connection, keysOf(session), session)
          },
          { concurrency },
        )
        const left = pages
          .filter(
            ({ ids, more }) => more || (until !== undefined && ids.some((id) => byBytes(id, until) > 0)),
          )
          .map(({ list }) => list)
        return [
          Chunk.fromIterable(infos.flatMap(Option.toArray)),
          until === undefined ? Option.none() : Option.some({ lists: left, after: until }),
        ] as const
      }),
  )
}
