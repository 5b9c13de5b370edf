/**
 * What was rewritten in memory still stands in a server's files: in the append-only file until it is written anew, in a
 * snapshot until the next one. Forgetting waits for both (law L15).
 */
import { EventLog } from "@memfold/core"
import { type Duration, Effect, Schedule } from "effect"
import type { Redis } from "ioredis"
import { refreshSlots } from "./client.js"
import type { Connection } from "./Connection.js"
import { describe } from "./failures.js"

/** How a server's files stand, from its report on persistence. */
interface Files {
  readonly appends: boolean
  readonly saves: boolean
  /** Whether it is writing one of them now, or is about to. */
  readonly writing: boolean
  readonly failed: boolean
}

const filesOf = async (server: Redis): Promise<Files> => {
  const info = await server.info("persistence")
  const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1]
  const appends = value("aof_enabled") === "1"
  return {
    appends,
    saves: Number(value("rdb_saves") ?? 0) > 0,
    writing:
      value("aof_rewrite_in_progress") === "1" ||
      value("aof_rewrite_scheduled") === "1" ||
      value("rdb_bgsave_in_progress") === "1",
    failed: appends && value("aof_last_bgrewrite_status") !== "ok",
  }
}

const savesByItself = async (server: Redis): Promise<boolean> => {
  const [, save = ""] = (await server.config("GET", "save")) as ReadonlyArray<string>
  return save !== ""
}

/** Not all servers let themselves be told; whose are they then is for their owner to know. */
const isForbidden = ({ cause }: EventLog.LogError): boolean =>
  cause !== undefined && ["NOPERM", "ERR"].includes(describe(cause, "").code)

/** A replica, by the address its master knows it by, and how much of what was written it has. */
interface Replica {
  readonly host: string
  readonly port: number
  readonly offset: number
}

const replicasOf = async (
  master: Redis,
): Promise<{ readonly offset: number; readonly list: ReadonlyArray<Replica> }> => {
  const info = await master.info("replication")
  const offset = Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1] ?? 0)
  const list = [...info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),state=online,offset=(\d+)/gm)].map(
    ([, host = "", port, offset]) => ({ host, port: Number(port), offset: Number(offset) }),
  )
  return { offset, list }
}

class Busy extends Error {}

/** Looks again and again, longer apart each time. */
const polling = (limit: Duration.DurationInput) =>
  Schedule.exponential("10 millis").pipe(Schedule.union(Schedule.spaced("1 second")), Schedule.upTo(limit))

/**
 * Has every server that holds a key write its files anew, and waits until it has: the master, and the replicas that
 * follow it. Where that is not allowed, or a replica cannot be reached, a warning in the log says what is left to do.
 */
export const forget = (
  connection: Connection,
  session: string,
  key: string,
): Effect.Effect<void, EventLog.LogError> => {
  const about = { operation: "rewrite", session }
  const failed = (problem: string) =>
    new EventLog.LogError({ ...about, reason: `it is rewritten, but ${problem}` })

  const patiently = <A, E>(
    look: Effect.Effect<A, E | Busy>,
    limit: Duration.DurationInput,
    late: EventLog.LogError,
  ) =>
    look.pipe(
      Effect.retry({ while: (error) => error instanceof Busy, schedule: polling(limit) }),
      Effect.mapError((error) => (error instanceof Busy ? late : error)),
    ) as Effect.Effect<A, Exclude<E, Busy> | EventLog.LogError>

  const settled = (server: Redis, name: string) =>
    patiently(
      connection
        .ask(about, () => filesOf(server))
        .pipe(
          Effect.filterOrFail(
            ({ writing }) => !writing,
            () => new Busy(),
          ),
        ),
      "5 minutes",
      failed(
        `${name} has not finished writing its files anew, and the old words are in them until then; do it again later`,
      ),
    )

  const anew = (server: Redis, name: string) =>
    Effect.gen(function* () {
      // One that is under way began with the old words.
      const before = yield* settled(server, name)
      if (before.appends) yield* connection.ask(about, () => server.bgrewriteaof())
      const after = yield* settled(server, name)
      if (after.failed) {
        return yield* failed(
          `${name} could not write its file anew, and the old words are still in it; make room on its disk and do it again`,
        )
      }
      const saves = after.saves || (yield* connection.ask(about, () => savesByItself(server)))
      if (saves) {
        yield* connection.ask(about, () => server.bgsave("SCHEDULE"))
        yield* settled(server, name)
      }
    })

  const warn = (name: string) =>
    Effect.logWarning(
      "a session was rewritten, but the old words may be in the server's files until it writes them anew: run BGREWRITEAOF and BGSAVE there",
    ).pipe(Effect.annotateLogs({ session, server: name }))

  /** The replicas, once they have what was rewritten. */
  const caughtUp = (master: Redis, name: string) =>
    Effect.flatMap(
      connection.ask(about, async () => {
        const now = await replicasOf(master)
        // They would say so by themselves, but not before a second has gone by.
        if (now.list.length > 0) await master.wait(now.list.length, 100).catch(() => 0)
        return now
      }),
      ({ offset }) =>
        patiently(
          connection
            .ask(about, () => replicasOf(master))
            .pipe(
              Effect.map(({ list }) => list),
              Effect.filterOrFail(
                (list) => list.every((replica) => replica.offset >= offset),
                () => new Busy(),
              ),
            ),
          "10 seconds",
          failed(
            `a replica of ${name} has not heard of it, and has the old words; do it again when it follows`,
          ),
        ),
    )

  const onReplica = (master: Redis, { host, port }: Replica) => {
    const name = `${host}:${port}`
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const replica = master.duplicate({
          host,
          port,
          sentinels: null as never,
          readOnly: false,
          retryStrategy: null,
          enableOfflineQueue: true,
        })
        replica.on("error", () => undefined)
        return replica
      }),
      (replica) =>
        Effect.tryPromise(() => replica.ping()).pipe(
          Effect.timeout("2 seconds"),
          Effect.matchEffect({ onFailure: () => warn(name), onSuccess: () => anew(replica, name) }),
        ),
      (replica) => Effect.sync(() => replica.disconnect()),
    )
  }

  const holders = connection.ask(about, async (client) => {
    const masters = connection.servers().filter(({ replica }) => !replica)
    // The other masters of a cluster refuse to answer.
    const found = await Promise.all(masters.map(({ server }) => server.exists(key).catch(() => 0)))
    const holding = masters.filter((_, at) => found[at] === 1)
    // Where nobody says that he has it, it has been deleted since, or he who has it did not answer.
    if (holding.length > 0 || (await client.exists(key)) === 0) return holding
    await refreshSlots(client)
    throw new Error("MOVED")
  })

  const forgetAt = ({ server, name }: { readonly server: Redis; readonly name: string }) =>
    Effect.gen(function* () {
      const replicas = yield* caughtUp(server, name)
      yield* anew(server, name)
      yield* Effect.forEach(replicas, (replica) => onReplica(server, replica), { discard: true })
    }).pipe(Effect.catchAll((error) => (isForbidden(error) ? warn(name) : error)))

  return Effect.flatMap(holders, (servers) =>
    Effect.forEach(servers, forgetAt, { concurrency: "unbounded", discard: true }),
  )
}
