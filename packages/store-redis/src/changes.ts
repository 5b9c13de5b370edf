/** Tells listeners at once that any process has written to a session. */
import { EventLog } from "@memfold/log"
import { Effect, Queue, Schedule, Scope, Stream } from "effect"
import { Cluster } from "ioredis"
import { type Client, refreshSlots } from "./client.js"
import { backoff, type Connection, sleptUnheld } from "./Connection.js"
import { bare, describe } from "./failures.js"
import { hold, release } from "./keepAlive.js"
import { keysUnder, slotOf } from "./keys.js"
import type { Target } from "./Options.js"

/** Emits when a session may have changed; several changes may be merged into one. Fails with a `LogError`. */
export type Changes = (session: string) => Stream.Stream<void, EventLog.LogError>

/** How often subscriptions are checked, in milliseconds: the connection still answers, and the master of each slot is the same. */
const checkEvery = 2_000

/**
 * Listens for changes on one connection for all sessions (in a cluster, one for each master), which opens with the first
 * listener. A stream emits once it listens, and again after each lost connection, because messages may be missing then.
 */
export const listen = (connection: Connection, target: Target): Effect.Effect<Changes, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const keysOf = keysUnder(target.prefix)
    const listeners = new Map<string, Set<Queue.Queue<void>>>()
    const tell = (channel: string) => {
      for (const queue of listeners.get(channel) ?? []) Queue.unsafeOffer(queue, undefined)
    }

    /** How many connections to a single server were lost. */
    let lost = 0
    /** The place where a channel has to be subscribed to: the master of its slot, or the present connection. */
    const placeOf = (client: Client, channel: string) =>
      client instanceof Cluster ? client.slots[slotOf(channel)]?.[0] : lost
    /** The place where each channel is subscribed to. */
    const places = new Map<string, unknown>()

    const subscribe = async (client: Client, channel: string): Promise<void> => {
      const place = placeOf(client, channel)
      await (client instanceof Cluster ? client.ssubscribe(channel) : client.subscribe(channel))
      // The last listener may be gone by now.
      if (listeners.has(channel)) places.set(channel, place)
    }

    /**
     * Subscribes again where the connection or the master is another one. Redis ends the subscriptions of a slot that
     * moves away; the client renews them, but does not try again if a server refuses because it does not know yet that
     * it has the slot. Listeners are told after the subscription: before it, they could read too early.
     */
    const renew = async (client: Client): Promise<void> => {
      const moved = [...listeners.keys()].filter((channel) => {
        const place = placeOf(client, channel)
        return place !== undefined && place !== places.get(channel)
      })
      await Promise.allSettled(moved.map((channel) => subscribe(client, channel).then(() => tell(channel))))
    }

    /** Does not wait for the answers: a server that hangs must not hold up the next check. */
    const check = (client: Client) => {
      if (client instanceof Cluster) void refreshSlots(client)
      // The client closes a connection that does not answer.
      else if (client.status === "ready") client.ping().catch(() => undefined)
      void renew(client)
    }

    const opening = yield* Effect.cached(
      connection.listener.pipe(
        Effect.tap((client) => {
          client.on("message", tell)
          client.on("smessage", tell)
          if (client instanceof Cluster) {
            client.on("subscribersReady", () => {
              // The client has subscribed again, which may have been refused.
              places.clear()
              for (const channel of listeners.keys()) tell(channel)
            })
          } else {
            client.on("close", () => void lost++)
            client.on("ready", () => void renew(client))
          }
          const checking = Effect.forever(
            Effect.zipRight(
              Effect.sync(() => check(client)),
              sleptUnheld(checkEvery),
            ),
          )
          return Effect.forkIn(checking, scope)
        }),
        Scope.extend(scope),
      ),
    )

    const subscribed = (session: string, channel: string) =>
      Effect.flatMap(opening, (client) =>
        Effect.tryPromise({
          try: () => subscribe(client, channel),
          catch: (error) => ({ ...describe(error, target.name), cause: bare(error) }),
        }).pipe(
          // A server that is away is waited for; a server that refuses is an error.
          Effect.retry({ while: ({ passing }) => passing, schedule: backoff }),
          // The client has many ways to say that it is not connected yet.
          Effect.retry({
            while: ({ code }) => code === "ERR",
            schedule: Schedule.exponential("50 millis").pipe(Schedule.intersect(Schedule.recurs(7))),
          }),
          Effect.mapError(
            ({ reason, cause }) => new EventLog.LogError({ operation: "changes", session, reason, cause }),
          ),
        ),
      )

    /** Does not wait for the answer: a connection that is lost or closed has no subscriptions. */
    const unsubscribe = (channel: string) =>
      Effect.map(opening, (client) => {
        places.delete(channel)
        const done = async () =>
          client instanceof Cluster ? client.sunsubscribe(channel) : client.unsubscribe(channel)
        done().catch(() => undefined)
      })

    return (session) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const channel = keysOf(session).log
          const queue = yield* Effect.acquireRelease(
            Effect.tap(Queue.sliding<void>(1), (queue) => {
              hold()
              listeners.set(channel, (listeners.get(channel) ?? new Set()).add(queue))
            }),
            (queue) =>
              Effect.suspend(() => {
                release()
                const others = listeners.get(channel)
                others?.delete(queue)
                const isLast = others?.size === 0
                if (isLast) listeners.delete(channel)
                return Effect.zipRight(Queue.shutdown(queue), isLast ? unsubscribe(channel) : Effect.void)
              }),
          )
          yield* subscribed(session, channel)
          Queue.unsafeOffer(queue, undefined)
          return Stream.fromQueue(queue)
        }),
      )
  })
