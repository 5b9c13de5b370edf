/** The connection to a server, a cluster, or a master behind sentinels. Failed requests are tried again within bounds. */
import { EventLog, sleepUntil, tellIfSlow } from "@memfold/log"
import { Clock, Duration, Effect, Exit, Schedule, type Scope } from "effect"
import { Cluster, Redis } from "ioredis"
import { answerWithin, type Client, opened, refreshSlots } from "./client.js"
import { bare, describe, type Failure, isNoScript } from "./failures.js"
import { hold, release } from "./keepAlive.js"
import type { Options, Target } from "./Options.js"
import type { Script } from "./scripts.js"

/** The operation and the session that a request belongs to, as errors name them. */
export interface About {
  readonly operation: string
  readonly session?: string
}

export interface Connection {
  /** Sends a request, and again for `retryFor` while its failure may pass. It has to be safe to send twice. */
  readonly ask: <A>(
    about: About,
    request: (client: Client) => Promise<A>,
  ) => Effect.Effect<A, EventLog.LogError>
  /** Runs a script, and again with the keys that it asks for. */
  readonly run: (
    about: About,
    script: Script,
    keys: ReadonlyArray<string>,
    args: ReadonlyArray<string>,
  ) => Effect.Effect<unknown, EventLog.LogError>
  /** Runs a script like `run`, and then waits for replicas; the second answer is how many of them have its writes. */
  readonly runAndWait: (
    about: About,
    script: Script,
    keys: ReadonlyArray<string>,
    args: ReadonlyArray<string>,
    replicas: { readonly count: number; readonly millis: number },
  ) => Effect.Effect<readonly [answer: unknown, replicas: number], EventLog.LogError>
  /** Every known server of a cluster; otherwise the one server. */
  readonly servers: () => ReadonlyArray<{
    readonly server: Redis
    readonly name: string
    readonly replica: boolean
  }>
  /** Another connection to the same servers, for subscriptions; closed with the scope. */
  readonly listener: Effect.Effect<Client, never, Scope.Scope>
}

interface Failed extends Failure {
  readonly cause: Error
}

/** Waits longer each time, up to a second, with jitter. */
export const backoff = Schedule.exponential("20 millis").pipe(
  Schedule.union(Schedule.spaced("1 second")),
  Schedule.jittered,
)

/**
 * Collects the requests of one turn of the event loop, from all sessions, and sends them with one write to the socket. The
 * first one is sent at once: it may be the only one.
 */
const gathering = (client: Client): (() => void) => {
  let count = 0
  let corked: ReadonlyArray<Redis["stream"]> = []
  const send = () => {
    count = 0
    for (const stream of corked) stream?.uncork()
    corked = []
  }
  return () => {
    count++
    if (count === 1) process.nextTick(send)
    if (count !== 2) return
    corked = (client instanceof Cluster ? client.nodes() : [client]).map(({ stream }) => stream)
    for (const stream of corked) stream?.cork()
  }
}

/** Why a request failed: a client without a connection says only that it has none. */
interface Diagnosis {
  readonly noted: (error: unknown) => void
  readonly answered: () => void
  /** The failure of a request. `before` is how the same request failed before, which may be why the connection is gone. */
  readonly failed: (error: unknown, before?: Failed) => Failed
}

const diagnosisOf = ({ name }: Target): Diagnosis => {
  let trouble: unknown
  return {
    noted: (error) => {
      const last =
        typeof error === "object" && error !== null && "lastNodeError" in error ? error.lastNodeError : null
      trouble = last ?? error
    },
    answered: () => {
      trouble = undefined
    },
    failed: (error, before) => {
      const failure = describe(error, name)
      const own = { ...failure, cause: bare(error) }
      if (failure.code !== "UNREACHABLE" && failure.code !== "CLOSED") {
        // An answer to one session is no reason why the connection of all sessions is gone.
        trouble = failure.passing ? error : undefined
        return own
      }
      // Answers to other requests, sent before the connection was closed, clear `trouble`.
      if (trouble === undefined) return before ?? own
      const behind = describe(trouble, name)
      return { ...(behind.code === "ERR" ? failure : behind), cause: bare(trouble) }
    },
  }
}

/** Sends a request once. `before` is how it failed before. */
type Send = <A>(
  request: (client: Client) => Promise<A>,
  before: Failed | undefined,
  onAnswer: (answer: A) => void,
  onFailure: (failure: Failed) => void,
) => void

const sending = (client: Client, { answered, failed }: Diagnosis): Send => {
  const gather = gathering(client)
  return (request, before, onAnswer, onFailure) => {
    const succeeded = (answer: Parameters<typeof onAnswer>[0]) => {
      release()
      answered()
      onAnswer(answer)
    }
    const refused = (error: unknown) => {
      release()
      onFailure(failed(error, before))
    }
    hold()
    gather()
    try {
      request(client).then(succeeded, refused)
    } catch (error) {
      refused(error)
    }
  }
}

const asking = (
  client: Client,
  { name }: Target,
  options: Options,
  diagnosis: Diagnosis,
): Connection["ask"] => {
  const send = sending(client, diagnosis)
  // The client's own timeouts do not cover the time in which it has no connection.
  const patience = {
    duration: Duration.times(answerWithin(options), 2),
    onTimeout: () => diagnosis.failed(new Error("timed out")),
  }
  const again = {
    while: ({ passing }: Failure) => passing,
    schedule: backoff.pipe(
      Schedule.upTo(Duration.decode(options.retryFor ?? "15 seconds")),
      tellIfSlow(name),
    ),
  }

  /** Sends a request until it is answered, or its failure will not pass. */
  const patiently = <A>(
    request: (client: Client) => Promise<A>,
    earlier: Failed | undefined,
  ): Effect.Effect<A, Failed> =>
    Effect.suspend(() => {
      let before = earlier
      const once = Effect.async<A, Failed>((resume) =>
        send(
          request,
          before,
          (answer) => resume(Exit.succeed(answer)),
          (failure) => resume(Exit.fail((before = failure))),
        ),
      )
      return once.pipe(Effect.timeoutFail(patience), Effect.retry(again))
    })

  return ({ operation, session }, request) => {
    const inWords = ({ reason, cause }: Failed) =>
      new EventLog.LogError({
        operation,
        ...(session === undefined ? {} : { session }),
        reason,
        cause,
      })
    return Effect.async((resume) => {
      const tryOn = (before?: Failed) => resume(Effect.mapError(patiently(request, before), inWords))
      // Almost every request is answered at the first try, which needs no timers.
      if (client.status !== "ready") return tryOn()
      send(
        request,
        undefined,
        (answer) => resume(Exit.succeed(answer)),
        (failure) => (failure.passing ? tryOn(failure) : resume(Exit.fail(inWords(failure)))),
      )
    })
  }
}

/** Sends a script by its name, and in full to a server that does not have it yet. */
const named = <A>(
  { sha, source }: Script,
  call: (command: "evalsha" | "eval", script: string) => Promise<A>,
): Promise<A> =>
  call("evalsha", sha).catch((error: unknown) => {
    if (isNoScript(error)) return call("eval", source)
    throw error
  })

/** Runs a script again as long as it asks for more keys. That ends: each run has more of the session's kinds and owners. */
const withAllKeys = <A>(
  keys: ReadonlyArray<string>,
  run: (keys: ReadonlyArray<string>) => Effect.Effect<A, EventLog.LogError>,
  answerOf: (result: A) => unknown,
): Effect.Effect<A, EventLog.LogError> =>
  Effect.flatMap(run(keys), (result) => {
    const answer = answerOf(result)
    if (!Array.isArray(answer) || answer[0] !== "keys") return Effect.succeed(result)
    return withAllKeys([...keys, ...(answer.slice(1) as ReadonlyArray<string>)], run, answerOf)
  })

const running = (ask: Connection["ask"]): Pick<Connection, "run" | "runAndWait"> => ({
  run: (about, script, keys, args) =>
    withAllKeys<unknown>(
      keys,
      (all) => {
        const given = [...all, ...args]
        return ask(about, (to) => named(script, (command, name) => to[command](name, all.length, ...given)))
      },
      (answer) => answer,
    ),

  /** WAIT is about the writes of its own connection: both go down the same one, one behind the other. */
  runAndWait: (about, script, keys, args, { count, millis }) =>
    withAllKeys(
      keys,
      (all) =>
        ask(about, (to) =>
          named(script, async (command, name) => {
            const pipeline = to.pipeline()
            pipeline[command](name, all.length, ...all, ...args)
            pipeline.wait(count, millis)
            const [ran, waited] = (await pipeline.exec()) ?? [[new Error("Connection is closed.")]]
            const error = ran?.[0] ?? waited?.[0]
            if (!error) return [ran?.[1], Number(waited?.[1])] as const
            // The client follows a redirection only for single commands; a single command makes it find the session.
            if (to instanceof Cluster && !isNoScript(error))
              await to.exists(all[0] ?? "").catch(() => undefined)
            throw error
          }),
        ),
      ([answer]) => answer,
    ),
})

/** Fails if a single server is one of a cluster, or has no such database; the client itself ignores a refused SELECT. */
const checkAlone = async (server: Redis, db: number): Promise<void> => {
  if (db !== 0) await server.select(db)
  // Not every user may ask.
  const about = (await server.call("HELLO").catch(() => [])) as ReadonlyArray<unknown>
  if (about[about.indexOf("mode") + 1] === "cluster") throw new Error("INCLUSTER")
}

/** Sleeps a number of milliseconds. The timer does not keep the process alive. */
export const sleptUnheld = (millis: number): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => sleepUntil(now + millis))

/** Refreshes the slots in the background: the client's own timer starts again when it is closed during a refresh, and then never ends. */
const refreshing = (client: Client, { clusterOptions }: Options): Effect.Effect<void, never, Scope.Scope> => {
  const interval = clusterOptions?.slotsRefreshInterval
  if (!(client instanceof Cluster) || interval === undefined) return Effect.void
  const refresh = Effect.sync(() => void refreshSlots(client))
  return Effect.asVoid(Effect.forkScoped(Effect.forever(Effect.zipRight(refresh, sleptUnheld(interval)))))
}

const serversOf = (client: Client, { name }: Target): ReturnType<Connection["servers"]> => {
  if (!(client instanceof Cluster)) return [{ server: client, name, replica: false }]
  const replicas = new Set(client.nodes("slave"))
  return client.nodes("all").map((server) => ({
    server,
    name: `${server.options.host}:${server.options.port}`,
    replica: replicas.has(server),
  }))
}

/** Opens the connection; it is closed with the scope. */
export const open = (
  target: Target,
  options: Options,
): Effect.Effect<Connection, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const diagnosis = diagnosisOf(target)
    const client = yield* opened(target, options, false, diagnosis.noted)
    const ask = asking(client, target, options, diagnosis)

    client.connect().catch(() => undefined)
    yield* ask({ operation: "open" }, (to) => to.ping())
    if (client instanceof Redis) yield* ask({ operation: "open" }, () => checkAlone(client, target.db))
    yield* refreshing(client, options)

    return {
      ask,
      ...running(ask),
      servers: () => serversOf(client, target),
      listener: Effect.tap(
        opened(target, options, true, () => undefined),
        (listening) => Effect.sync(() => void listening.connect().catch(() => undefined)),
      ),
    }
  })
