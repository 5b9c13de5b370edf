/**
 * What keeps a process from ending: a request that waits for its answer, and a listener; but no connection that is idle.
 * A memory that nobody closes lets the process end.
 */
import { Cluster, type Redis } from "ioredis"

/** How many wait for something now. The timer does nothing but keep the process alive, while it is referenced. */
let waiting = 0
let timer: ReturnType<typeof setInterval> | undefined

/** Keeps the process alive until {@link release} is called as often. */
export const hold = (): void => {
  timer ??= setInterval(() => undefined, 2 ** 30)
  if (waiting++ === 0) timer.ref()
}

export const release = (): void => {
  if (--waiting === 0) timer?.unref()
}

/** Keeps the process alive while a promise is pending. */
export const held = async <A>(work: () => Promise<A>): Promise<A> => {
  hold()
  try {
    return await work()
  } finally {
    release()
  }
}

/** What the client has besides its declared members. */
interface Internals {
  readonly stream?: { readonly unref?: () => void } | null
  readonly reconnectTimeout?: { readonly unref?: () => void } | null
}
interface Subscriber {
  readonly getInstance?: () => Redis | null
}
interface ClusterInternals extends Internals {
  readonly subscriber?: Subscriber
  readonly shardedSubscribers?: { readonly shardedSubscribers?: ReadonlyMap<string, Subscriber> }
}

const idle = (redis: Redis | null | undefined): void => {
  if (redis == null) return
  const { stream, reconnectTimeout } = redis as unknown as Internals
  stream?.unref?.()
  reconnectTimeout?.unref?.()
}

/** Lets the process end although a connection to one server is open, or is going to be tried again. */
const oneIdle = (redis: Redis): void => {
  for (const event of ["connect", "reconnecting"]) redis.on(event, () => idle(redis))
  idle(redis)
}

/** Lets the process end although the connections of a client are open. Requests and listeners {@link hold} it. */
export const idleConnections = (client: Redis | Cluster): void => {
  if (!(client instanceof Cluster)) return oneIdle(client)
  const known = new WeakSet<Redis>()
  const add = (redis: Redis | null | undefined) => {
    if (redis == null || known.has(redis)) return
    known.add(redis)
    oneIdle(redis)
  }
  const internals = client as unknown as ClusterInternals
  // The cluster makes connections for subscriptions that it does not announce.
  const look = () => {
    for (const node of client.nodes("all")) add(node)
    add(internals.subscriber?.getInstance?.())
    for (const one of internals.shardedSubscribers?.shardedSubscribers?.values() ?? [])
      add(one.getInstance?.())
    internals.reconnectTimeout?.unref?.()
  }
  for (const event of ["+node", "connect", "ready", "reconnecting", "subscribersReady"]) {
    client.on(event, () => {
      look()
      setImmediate(look)
    })
  }
}
