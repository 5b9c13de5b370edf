/** Hearing at once that a session was written to, by whatever process. */
import { EventLog } from "@memfold/core"
import { Effect, Queue, Schedule, Scope, Stream } from "effect"
import { Cluster, type Redis } from "ioredis"
import { refreshSlots } from "./client.js"
import { backoff, type Connection } from "./Connection.js"
import { bare, describe } from "./failures.js"
import { keysUnder, slotOf } from "./keys.js"
import type { Target } from "./Options.js"

/** Tells that something may have changed; several changes may be told as one. */
export type Changes = (session: string) => Stream.Stream<void, EventLog.LogError>

/** So often a listener looks whether it is still heard; in a cluster, which masters have what it listens to. */
const lookEvery = "2 seconds"

/** The master that has a channel, as far as is known. */
const ownerOf = (client: Cluster, channel: string): string | undefined => client.slots[slotOf(channel)]?.[0]

/**
 * Listens for changes, on one connection for all sessions (in a cluster, one for each master), which is opened when the
 * first is listened to. Each stream tells once when it has begun to listen, and again whenever a connection had been
 * lost: something may have been missed then.
 */
export const listen = (connection: Connection, target: Target): Effect.Effect<Changes, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const keysOf = keysUnder(target.prefix)
    const listeners = new Map<string, Set<Queue.Queue<void>>>()
    const tell = (queues: Iterable<Queue.Queue<void>>) => {
      for (const queue of queues) Queue.unsafeOffer(queue, undefined)
    }
    const tellAll = () => {
      for (const queues of listeners.values()) tell(queues)
    }

    /** The master that each channel was last listened to at. */
    const owners = new Map<string, string | undefined>()
    const listenAt = async (client: Cluster, channel: string): Promise<void> => {
      const owner = ownerOf(client, channel)
      await client.ssubscribe(channel)
      // Nobody may be listening any more.
      if (listeners.has(channel)) owners.set(channel, owner)
    }
    /**
     * A server ends the subscriptions of a slot that leaves it, and what is said until there are new ones is not heard.
     * The client asks for new ones, but not again when a server refuses that does not know yet that it has the slot.
     */
    const followMoves = (client: Cluster) =>
      Effect.suspend(() => {
        // What it finds is for the next look: a server that hangs would hold up this one.
        void refreshSlots(client)
        return Effect.forEach(
          listeners,
          ([channel, queues]) => {
            const owner = ownerOf(client, channel)
            if (owner === undefined || owner === owners.get(channel)) return Effect.void
            return Effect.tryPromise(() => listenAt(client, channel)).pipe(
              Effect.map(() => tell(queues)),
              // It is asked again at the next look.
              Effect.timeout(lookEvery),
              Effect.ignore,
            )
          },
          { concurrency: "unbounded", discard: true },
        )
      }).pipe(Effect.repeat(Schedule.spaced(lookEvery)))

    /** Whether the connection that there is now has all that is listened to. */
    let whole = false
    const listenAgain = async (client: Redis): Promise<void> => {
      const channels = [...listeners.keys()]
      if (channels.length > 0) await client.subscribe(...channels)
      whole = true
      // Not before: what is written between a look and the subscription would not be heard.
      tellAll()
    }
    /** A connection that nothing comes through any more is noticed by asking for something; the client then closes it. */
    const stayHeard = (client: Redis) =>
      Effect.suspend(() =>
        client.status === "ready"
          ? Effect.ignore(
              Effect.tryPromise((): Promise<unknown> => (whole ? client.ping() : listenAgain(client))),
            )
          : Effect.void,
      ).pipe(Effect.repeat(Schedule.spaced(lookEvery)))

    const opening = yield* Effect.cached(
      connection.listener.pipe(
        Effect.tap((client) =>
          Effect.sync(() => {
            const heard = (channel: string) => tell(listeners.get(channel) ?? [])
            client.on("message", heard)
            client.on("smessage", heard)
            if (client instanceof Cluster) {
              client.on("subscribersReady", () => {
                // What the client has asked for anew may have been refused.
                owners.clear()
                tellAll()
              })
              return
            }
            client.on("close", () => void (whole = false))
            client.on("ready", () => void listenAgain(client).catch(() => undefined))
          }),
        ),
        Effect.tap((client) =>
          Effect.forkIn(client instanceof Cluster ? followMoves(client) : stayHeard(client), scope),
        ),
        Scope.extend(scope),
      ),
    )

    const subscribe = (session: string, channel: string) =>
      Effect.flatMap(opening, (client) =>
        Effect.tryPromise({
          try: (): Promise<unknown> =>
            client instanceof Cluster ? listenAt(client, channel) : client.subscribe(channel),
          catch: (error) => ({ ...describe(error, target.name), cause: bare(error) }),
        }).pipe(
          // A server that is away is waited for; what it says is no is something else.
          Effect.retry({ while: ({ passing }) => passing, schedule: backoff }),
          // The client says in many ways that it is not connected yet.
          Effect.retry({
            while: ({ code }) => code === "ERR",
            schedule: Schedule.exponential("50 millis").pipe(Schedule.intersect(Schedule.recurs(7))),
          }),
          Effect.mapError(
            ({ reason, cause }) => new EventLog.LogError({ operation: "changes", session, reason, cause }),
          ),
        ),
      )

    /** Nobody waits for it: a connection that is lost or closed has no subscriptions. */
    const unsubscribe = (channel: string) =>
      Effect.map(opening, (client) => {
        owners.delete(channel)
        const done = async () =>
          client instanceof Cluster ? client.sunsubscribe(channel) : client.unsubscribe(channel)
        done().catch(() => undefined)
      })

    return (session) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const channel = keysOf(session).log
          const queue = yield* Effect.acquireRelease(Queue.sliding<void>(1), (queue) =>
            Effect.suspend(() => {
              const others = listeners.get(channel)
              others?.delete(queue)
              const last = others?.size === 0
              if (last) listeners.delete(channel)
              return Queue.shutdown(queue).pipe(Effect.zipRight(last ? unsubscribe(channel) : Effect.void))
            }),
          )
          const others = listeners.get(channel)
          if (others === undefined) listeners.set(channel, new Set([queue]))
          else others.add(queue)
          yield* subscribe(session, channel)
          tell([queue])
          return Stream.fromQueue(queue)
        }),
      )
  })
