/** The connection to a server, a cluster, or a master behind sentinels; what fails is tried again, within bounds. */
import { EventLog } from "@memfold/core"
import { Duration, Effect, Schedule, type Scope } from "effect"
import { Cluster, Redis } from "ioredis"
import { answerWithin, type Client, opened, refreshSlots } from "./client.js"
import { bare, describe, type Failure, isNoScript } from "./failures.js"
import type { Options, Target } from "./Options.js"
import type { Script } from "./scripts.js"

/** A request about something: its name and session stand in errors. */
export interface About {
  readonly operation: string
  readonly session?: string
}

export interface Connection {
  /** Sends a request, and again while what went wrong may pass. It has to be safe to send twice. */
  readonly ask: <A>(
    about: About,
    request: (client: Client) => Promise<A>,
  ) => Effect.Effect<A, EventLog.LogError>
  /** Runs a script; `replicas` are waited for on the same connection, and their number is the second answer. */
  readonly run: (
    about: About,
    script: Script,
    keys: ReadonlyArray<string>,
    args: ReadonlyArray<string>,
    replicas?: { readonly count: number; readonly millis: number },
  ) => Effect.Effect<readonly [answer: unknown, replicas: number], EventLog.LogError>
  /** The servers by themselves: of a cluster all that are known, else the one. */
  readonly servers: () => ReadonlyArray<{
    readonly server: Redis
    readonly name: string
    readonly replica: boolean
  }>
  /** Another connection to the same, for listening; closed with the scope. */
  readonly listener: Effect.Effect<Client, never, Scope.Scope>
}

/** Why a request failed. */
interface Failed extends Failure {
  readonly cause: Error
}

/** Waits longer each time, up to a second, with a little chance in it. */
export const backoff = Schedule.exponential("20 millis").pipe(
  Schedule.union(Schedule.spaced("1 second")),
  Schedule.jittered,
)

/**
 * What is asked in one turn of the event loop goes out in one write, and comes back in one read, for all sessions
 * together. A request by itself does not wait for others.
 */
const gathering = (client: Client): (() => void) => {
  let gathers = false
  return () => {
    if (gathers) return
    gathers = true
    const streams = (client instanceof Cluster ? client.nodes() : [client]).map(({ stream }) => stream)
    for (const stream of streams) stream?.cork()
    process.nextTick(() => {
      gathers = false
      for (const stream of streams) stream?.uncork()
    })
  }
}

/** What a server by itself has to be. The client says nothing when it finds itself in another database. */
const checkAlone = async (server: Redis, db: number): Promise<void> => {
  if (db !== 0) await server.select(db)
  // Not everyone may ask.
  const about = (await server.call("HELLO").catch(() => [])) as ReadonlyArray<unknown>
  if (about[about.indexOf("mode") + 1] === "cluster") throw new Error("INCLUSTER")
}

/** Opens the connection; it is closed with the scope. */
export const open = (
  target: Target,
  options: Options,
): Effect.Effect<Connection, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const retryFor = Duration.decode(options.retryFor ?? "15 seconds")
    /** Why there is no connection; says more than the requests that fail for want of one. */
    let trouble: unknown
    const client = yield* opened(target, options, false, (error) => {
      const last =
        typeof error === "object" && error !== null && "lastNodeError" in error ? error.lastNodeError : null
      trouble = last ?? error
    })

    const gather = gathering(client)

    const failed = (error: unknown): Failed => {
      const failure = describe(error, target.name)
      const unsent = failure.code === "UNREACHABLE" || failure.code === "CLOSED"
      // What one session is answered says nothing about the connection of all others.
      if (!unsent) trouble = failure.passing ? error : undefined
      if (!unsent || trouble === undefined) return { ...failure, cause: bare(error) }
      const behind = describe(trouble, target.name)
      return behind.code === "ERR"
        ? { ...failure, cause: bare(trouble) }
        : { ...behind, cause: bare(trouble) }
    }

    // The client's own timeouts do not cover the time in which it has no connection.
    const patience = {
      duration: Duration.times(answerWithin(options), 2),
      onTimeout: () => failed(new Error("timed out")),
    }
    const again = {
      while: ({ passing }: Failure) => passing,
      schedule: backoff.pipe(Schedule.upTo(retryFor)),
    }

    const ask: Connection["ask"] = ({ operation, session }, request) => {
      const once = Effect.tryPromise({
        try: async () => {
          gather()
          const answer = await request(client)
          trouble = undefined
          return answer
        },
        catch: failed,
      })
      /** Tries as long as it may pass; `before` is how a first try has failed already. */
      const patiently = (before?: Failed) => {
        const tries = Effect.timeoutFail(once, patience)
        let next = before === undefined ? tries : Effect.fail(before)
        return Effect.suspend(() => {
          const now = next
          next = tries
          return now
        }).pipe(Effect.retry(again))
      }
      // Nearly all requests are answered at the first try, and spared the timers.
      const answered = Effect.suspend(() =>
        client.status === "ready" ? Effect.catchAll(once, patiently) : patiently(),
      )
      return Effect.mapError(
        answered,
        ({ reason, cause }) =>
          new EventLog.LogError({
            operation,
            ...(session === undefined ? {} : { session }),
            reason,
            cause,
          }),
      )
    }

    const evaluate = (
      to: Client,
      { sha, source }: Script,
      keys: ReadonlyArray<string>,
      args: ReadonlyArray<string>,
    ): Promise<readonly [unknown, number]> =>
      to.evalsha(sha, keys.length, ...keys, ...args).then(
        (answer) => [answer, 0],
        async (error: unknown) => {
          if (!isNoScript(error)) throw error
          return [await to.eval(source, keys.length, ...keys, ...args), 0]
        },
      )

    /** WAIT is about the writes of its own connection, so both go down the same one, one behind the other. */
    const evaluateAndWait = async (
      to: Client,
      { sha, source }: Script,
      keys: ReadonlyArray<string>,
      args: ReadonlyArray<string>,
      { count, millis }: { readonly count: number; readonly millis: number },
    ): Promise<readonly [unknown, number]> => {
      const both = async (name: "evalsha" | "eval", script: string) => {
        const pipeline = to.pipeline()
        pipeline[name](script, keys.length, ...keys, ...args)
        pipeline.wait(count, millis)
        const [ran, waited] = (await pipeline.exec()) ?? [[new Error("Connection is closed.")]]
        const error = ran?.[0] ?? waited?.[0] ?? undefined
        if (error !== undefined) throw error
        return [ran?.[1], Number(waited?.[1])] as const
      }
      try {
        return await both("evalsha", sha).catch((error: unknown) => {
          if (isNoScript(error)) return both("eval", source)
          throw error
        })
      } catch (error) {
        // A redirection is followed only for single commands; one of those makes the client look for the session.
        if (to instanceof Cluster) await to.exists(keys[0] ?? "").catch(() => undefined)
        throw error
      }
    }

    const run: Connection["run"] = (about, script, keys, args, replicas) =>
      ask(about, (to) =>
        replicas === undefined
          ? evaluate(to, script, keys, args)
          : evaluateAndWait(to, script, keys, args, replicas),
      )

    client.connect().catch(() => undefined)
    yield* ask({ operation: "open" }, (to) => to.ping())
    if (client instanceof Redis) yield* ask({ operation: "open" }, () => checkAlone(client, target.db))

    const interval = options.clusterOptions?.slotsRefreshInterval
    // The client's own timer begins anew when it is closed while it looks, and then never ends.
    if (client instanceof Cluster && interval !== undefined) {
      const refreshing = Effect.sync(() => void refreshSlots(client))
      yield* Effect.forkScoped(Effect.repeat(refreshing, Schedule.spaced(Duration.millis(interval))))
    }

    return {
      ask,
      run,
      servers: () => {
        if (!(client instanceof Cluster)) return [{ server: client, name: target.name, replica: false }]
        const replicas = new Set(client.nodes("slave"))
        return client.nodes("all").map((server) => ({
          server,
          name: `${server.options.host}:${server.options.port}`,
          replica: replicas.has(server),
        }))
      },
      listener: Effect.tap(
        opened(target, options, true, () => undefined),
        (listening) => Effect.sync(() => void listening.connect().catch(() => undefined)),
      ),
    }
  })
