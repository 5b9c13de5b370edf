/** The client of ioredis: how it is set up for each kind of target, and what it has to be kept from. */
import { Duration, Effect, type Scope } from "effect"
import { Cluster, type ClusterOptions, Redis } from "ioredis"
import type { Options, Target } from "./Options.js"

export type Client = Redis | Cluster

const pause = (times: number): number => Math.min(25 * 2 ** Math.min(times, 6), 1_000)

/** How long an answer may take; a server that waits for replicas may use all of the time it has for that. */
export const answerWithin = ({ timeout, waitReplicas }: Options): Duration.Duration =>
  Duration.sum(timeout ?? "5 seconds", waitReplicas?.timeout ?? Duration.zero)

/** Comes after so many milliseconds, and keeps no process alive for that. */
export const late = (millis: number): Promise<null> =>
  new Promise((resolve) => setTimeout(resolve, millis, null).unref())

/** The client for a target. It connects when it is told to, and never queues what it cannot send. */
const clientOf = (target: Target, options: Options, listening: boolean): Client => {
  const millis = Duration.toMillis(options.timeout ?? "5 seconds")
  const answer = Duration.toMillis(answerWithin(options))
  const common = {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls === undefined ? {} : { tls: target.tls }),
    db: target.db,
    connectTimeout: millis,
    // Nothing is listened to for hours, too: who listens asks now and then, see changes.ts.
    commandTimeout: answer,
    socketTimeout: answer,
    connectionName: "memfold",
    // A server that is loading says so by itself; the one that sentinels name is asked whether it is the master.
    enableReadyCheck: target.mode === "sentinel",
    protocol: 2,
    // A server that is loading may be done long before the time it had guessed.
    maxLoadingRetryTime: 1_000,
    // What could not be sent is tried again here, where its caller is still waiting, and not later by the client.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // The client would forget what to listen to when a connection breaks just then, and nobody would hear of a no.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // A process that is done is not kept for this long.
    disconnectTimeout: 200,
    reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    lazyConnect: true,
  } satisfies ClusterOptions["redisOptions"] & { readonly enableOfflineQueue: boolean }
  const [first = { host: "localhost", port: 6379 }] = target.nodes
  if (target.mode !== "cluster") {
    const { sentinel } = options
    return new Redis(
      sentinel === undefined
        ? { ...common, ...first, retryStrategy: pause }
        : {
            ...common,
            retryStrategy: pause,
            sentinels: target.nodes.map((node) => ({ ...node })),
            name: sentinel.name,
            ...(sentinel.username === undefined ? {} : { sentinelUsername: sentinel.username }),
            ...(sentinel.password === undefined ? {} : { sentinelPassword: sentinel.password }),
            ...(sentinel.tls === true ? { enableTLSForSentinelMode: true } : {}),
            ...(sentinel.natMap === undefined ? {} : { natMap: sentinel.natMap }),
            sentinelRetryStrategy: pause,
            sentinelCommandTimeout: millis,
            // A master that hangs closes no connection; the sentinels say that there is another.
            failoverDetector: true,
          },
    )
  }
  const { enableOfflineQueue: _queue, db: _db, ...redisOptions } = common
  const { slotsRefreshInterval: _interval, ...clusterOptions } = options.clusterOptions ?? {}
  const cluster = new Cluster(
    target.nodes.map((node) => ({ ...node })),
    {
      ...clusterOptions,
      redisOptions,
      lazyConnect: true,
      enableReadyCheck: false,
      enableOfflineQueue: false,
      clusterRetryStrategy: pause,
      slotsRefreshTimeout: millis,
      shardedSubscribers: listening,
    },
  )
  // Of a slot that nobody has, a listener knows no server, and throws where nobody can catch it, for all others too.
  if (listening) cluster.slots = Array.from({ length: 16_384 }, () => [`${first.host}:${first.port}`])
  return cluster
}

/** Whether an error is the answer to the choice of a database. */
const isRefusedSelect = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { readonly command?: { readonly name: string } }).command?.name === "select"

/** A client that is open as long as the scope. What it says about itself by events is heard by `onError`. */
export const opened = (
  target: Target,
  options: Options,
  listening: boolean,
  onError: (error: unknown) => void,
): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.suspend(() => {
    let closing = false
    const open = Effect.sync(() => {
      const client = clientOf(target, options, listening)
      client.on("node error", onError)
      client.on("error", (error: unknown) => {
        onError(error)
        // Whatever the answer to SELECT, the client takes itself for ready, in database 0. A server that is busy
        // refuses it, and everything that is asked next would be asked of somebody else's database.
        if (isRefusedSelect(error)) client.disconnect(true)
      })
      // Whatever its settings, it gives up for good when sentinels announce a new master just while it is asking them
      // for the master.
      client.on("end", () => {
        const anew = () => {
          if (!closing) client.connect().catch(() => undefined)
        }
        setTimeout(anew, pause(1)).unref()
      })
      return client
    })
    const close = (client: Client) =>
      // What has been sent is answered before the connection closes; a server that is away is not waited for.
      Effect.promise(async () => {
        closing = true
        if (!listening && client.status === "ready") {
          await Promise.race([client.quit().catch(() => undefined), late(1_000)])
        }
        client.disconnect()
      })
    return Effect.acquireRelease(open, close)
  })

/** Looks which servers of a cluster have what, if there are any that can be asked. */
export const refreshSlots = async (client: Client): Promise<void> => {
  if (!(client instanceof Cluster) || client.status !== "ready") return
  await new Promise((resolve) => client.refreshSlotsCache(resolve))
}
