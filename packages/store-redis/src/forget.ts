/**
 * Removes rewritten text from the servers' files. A rewrite changes only memory: the old text stays in the append-only
 * file until Redis rewrites that file, and in a snapshot file until the next one. A redaction has to wait for both.
 */
import { EventLog } from "@memfold/log"
import { type Duration, Effect, Schedule } from "effect"
import type { Redis } from "ioredis"
import { refreshSlots } from "./client.js"
import type { Connection } from "./Connection.js"
import { isForbidden } from "./failures.js"

/** The state of a server's files, from `INFO persistence`. */
const filesOf = async (server: Redis) => {
  const info = await server.info("persistence")
  const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1]
  const appends = value("aof_enabled") === "1"
  return {
    appends,
    saves: Number(value("rdb_saves") ?? 0) > 0,
    writing: ["aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress"].some(
      (name) => value(name) === "1",
    ),
    failed: appends && value("aof_last_bgrewrite_status") !== "ok",
    saveFailed: value("rdb_last_bgsave_status") !== "ok",
  }
}

const savesByItself = async (server: Redis): Promise<boolean> => {
  const [, save = ""] = (await server.config("GET", "save")) as ReadonlyArray<string>
  return save !== ""
}

/** A master's place in the replication, and its replicas: their address, and how far each has got. */
const replicationOf = async (master: Redis) => {
  const info = await master.info("replication")
  const replicas = [...info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),state=online,offset=(\d+)/gm)].map(
    ([, host = "", port, offset]) => ({ host, port: Number(port), offset: Number(offset) }),
  )
  return { offset: Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1] ?? 0), replicas }
}

/** Asks again, longer apart each time, until the answer is good; fails as `late` after the limit. */
const until = <A>(
  asked: Effect.Effect<A, EventLog.LogError>,
  isGood: (answer: A) => boolean,
  limit: Duration.DurationInput,
  late: EventLog.LogError,
): Effect.Effect<A, EventLog.LogError> =>
  asked.pipe(
    Effect.filterOrFail(isGood, () => null),
    Effect.retry({
      while: (error) => error === null,
      schedule: Schedule.exponential("10 millis").pipe(
        Schedule.union(Schedule.spaced("1 second")),
        Schedule.upTo(limit),
      ),
    }),
    Effect.mapError((error) => error ?? late),
  )

/**
 * Makes every server that has a key rewrite its files, and waits for it: the master, and the replicas that follow it. The
 * key names the list of unfinished rewrites, because the session may be deleted by now.
 * Where the commands are not allowed, or a replica cannot be reached, a warning in the log says what is left to do.
 */
export const forget = (
  connection: Connection,
  session: string,
  key: string,
): Effect.Effect<void, EventLog.LogError> => {
  const about = { operation: "rewrite", session }
  const failed = (problem: string) =>
    new EventLog.LogError({ ...about, reason: `it is rewritten, but ${problem}` })

  /** The server's files, once it writes none of them. */
  const settled = (server: Redis, name: string) =>
    until(
      connection.ask(about, () => filesOf(server)),
      ({ writing }) => !writing,
      "5 minutes",
      failed(
        `${name} has not finished rewriting its files, which have the old text until then; do it again later`,
      ),
    )

  const rewriteFiles = (server: Redis, name: string) =>
    Effect.gen(function* () {
      // A rewrite of the file that is under way may have started with the old text.
      const before = yield* settled(server, name)
      if (before.appends) yield* connection.ask(about, () => server.bgrewriteaof())
      const after = yield* settled(server, name)
      if (after.failed) {
        return yield* failed(
          `${name} could not rewrite its file, which still has the old text; make room on its disk and do it again`,
        )
      }
      if (after.saves || (yield* connection.ask(about, () => savesByItself(server)))) {
        yield* connection.ask(about, () => server.bgsave("SCHEDULE"))
        if ((yield* settled(server, name)).saveFailed) {
          return yield* failed(
            `${name} could not save its file, which still has the old text; make room on its disk and do it again`,
          )
        }
      }
    })

  const warn = (name: string) =>
    Effect.logWarning(
      "a session was rewritten, but the server's files may have the old text until it rewrites them: run BGREWRITEAOF and BGSAVE there",
    ).pipe(Effect.annotateLogs({ session, server: name }))

  /** The replicas, once they have the rewrite. */
  const caughtUp = (master: Redis, name: string) =>
    Effect.gen(function* () {
      const { offset } = yield* connection.ask(about, async () => {
        const now = await replicationOf(master)
        // Replicas report their offset once a second; WAIT makes them report now.
        if (now.replicas.length > 0) await master.wait(now.replicas.length, 100).catch(() => 0)
        return now
      })
      const { replicas } = yield* until(
        connection.ask(about, () => replicationOf(master)),
        ({ replicas }) => replicas.every((replica) => replica.offset >= offset),
        "10 seconds",
        failed(`a replica of ${name} is behind, and has the old text; do it again when it follows`),
      )
      return replicas
    })

  const onReplica = (master: Redis, host: string, port: number) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const replica = master.duplicate({
          host,
          port,
          sentinels: null as never,
          readOnly: false,
          retryStrategy: null,
          enableOfflineQueue: true,
        })
        return replica.on("error", () => undefined)
      }),
      (replica) =>
        Effect.tryPromise(() => replica.ping()).pipe(
          Effect.timeout("2 seconds"),
          Effect.matchEffect({
            onFailure: () => warn(`${host}:${port}`),
            onSuccess: () => rewriteFiles(replica, `${host}:${port}`),
          }),
        ),
      (replica) => Effect.sync(() => replica.disconnect()),
    )

  const holders = connection.ask(about, async (client) => {
    const masters = connection.servers().filter(({ replica }) => !replica)
    // The other masters of a cluster refuse to answer.
    const found = await Promise.all(masters.map(({ server }) => server.exists(key).catch(() => 0)))
    const holding = masters.filter((_, at) => found[at] === 1)
    // With no holder, another process has finished it since, or the server that has it did not answer.
    if (holding.length > 0 || (await client.exists(key)) === 0) return holding
    await refreshSlots(client)
    throw new Error("MOVED")
  })

  const forgetAt = ({ server, name }: { readonly server: Redis; readonly name: string }) =>
    Effect.gen(function* () {
      const replicas = yield* caughtUp(server, name)
      yield* rewriteFiles(server, name)
      yield* Effect.forEach(replicas, ({ host, port }) => onReplica(server, host, port), { discard: true })
    }).pipe(
      Effect.catchAll((error) =>
        error.cause !== undefined && isForbidden(error.cause) ? warn(name) : error,
      ),
    )

  return Effect.flatMap(holders, (servers) =>
    Effect.forEach(servers, forgetAt, { concurrency: "unbounded", discard: true }),
  )
}
