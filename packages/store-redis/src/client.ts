/** The ioredis client: its settings for each kind of target, and corrections of what it does by itself. */
import { Duration, Effect, type Scope } from "effect"
import { Cluster, type ClusterOptions, Redis } from "ioredis"
import { held, idleConnections } from "./keepAlive.js"
import type { Options, Target } from "./Options.js"

export type Client = Redis | Cluster

const pause = (times: number): number => Math.min(25 * 2 ** Math.min(times, 6), 1_000)

/** How long an answer may take, including the time that the server may wait for replicas. */
export const answerWithin = ({ timeout, waitReplicas }: Options): Duration.Duration =>
  Duration.sum(timeout ?? "5 seconds", waitReplicas?.timeout ?? Duration.zero)

/** Resolves after a number of milliseconds; does not keep the process alive. */
export const late = (millis: number): Promise<null> =>
  new Promise((resolve) => setTimeout(resolve, millis, null).unref())

/** The client for a target. It connects when told to, and never queues requests that it cannot send. */
const clientOf = (target: Target, options: Options, listening: boolean): Client => {
  const millis = Duration.toMillis(options.timeout ?? "5 seconds")
  const answer = Duration.toMillis(answerWithin(options))
  const common = {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls === undefined ? {} : { tls: target.tls }),
    db: target.db,
    connectTimeout: millis,
    // Redis answers in order, so a timer for the connection is enough; no request needs one of its own. A subscription may
    // be silent for hours, so it sends a PING now and then: see changes.ts.
    socketTimeout: answer,
    connectionName: "memfold",
    // A loading server says so in its answers. A server that sentinels name is asked whether it is the master.
    enableReadyCheck: target.mode === "sentinel",
    protocol: 2,
    // A server that is loading may be ready long before the time it estimates.
    maxLoadingRetryTime: 1_000,
    // Requests that fail are tried again in Connection.ts while their caller waits, not later by the client.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // The client forgets subscriptions when a connection breaks meanwhile, and hides a refusal: see changes.ts.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // Otherwise closing keeps a process alive for two seconds.
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
            // A master that hangs closes no connection; the sentinels announce the new one.
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
  // Without a server for every slot, a listener throws an error for all slots that cannot be caught.
  if (listening) cluster.slots = Array.from({ length: 16_384 }, () => [`${first.host}:${first.port}`])
  return cluster
}

/** Whether an error is the answer to the choice of a database. */
const isRefusedSelect = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { readonly command?: { readonly name: string } }).command?.name === "select"

/** A client that is open as long as the scope. `onError` gets the errors that it emits as events. */
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
      idleConnections(client)
      client.on("node error", onError)
      client.on("error", (error: unknown) => {
        onError(error)
        // The client becomes ready even if SELECT was refused, by a busy server for example, and would send the next
        // requests to database 0.
        if (isRefusedSelect(error)) client.disconnect(true)
      })
      // Whatever its settings, the client ends when sentinels announce a new master while it asks them for the master.
      client.on("end", () => {
        const reconnect = () => {
          if (!closing) client.connect().catch(() => undefined)
        }
        setTimeout(reconnect, pause(1)).unref()
      })
      return client
    })
    const close = (client: Client) =>
      // QUIT waits for the answers to what was sent; a server that is away is not waited for.
      Effect.promise(() =>
        held(async () => {
          closing = true
          if (!listening && client.status === "ready") {
            await Promise.race([client.quit().catch(() => undefined), late(1_000)])
          }
          client.disconnect()
        }),
      )
    return Effect.acquireRelease(open, close)
  })

/** Asks the servers of a cluster which of them has each slot. */
export const refreshSlots = async (client: Client): Promise<void> => {
  if (!(client instanceof Cluster) || client.status !== "ready") return
  await new Promise((resolve) => client.refreshSlotsCache(resolve))
}
