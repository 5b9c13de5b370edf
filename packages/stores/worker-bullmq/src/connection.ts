/** The connections of a queue: one that dispatches, and the ones of workers, which BullMQ makes for itself. */
import { Dispatcher } from "@memfold/log"
import type { ConnectionOptions } from "bullmq"
import { Effect, type Scope } from "effect"
import { Redis } from "ioredis"
import type { Options } from "./Options.js"

const refuse = (reason: string) => new Dispatcher.DispatchError({ operation: "open", session: null, reason })

/** Opens the connections of a URL, which end with the scope; given ones are used as they are. */
export const connect = ({
  url,
  connection,
}: Options): Effect.Effect<ConnectionOptions, Dispatcher.DispatchError, Scope.Scope> => {
  if (connection !== undefined) return Effect.succeed(connection)
  if (url === undefined) return refuse("the queue needs a `url` such as redis://HOST, or a `connection`")
  return Effect.acquireRelease(
    Effect.sync(() => {
      // Workers wait for their server as long as it takes, as BullMQ demands.
      const client = new Redis(url, { maxRetriesPerRequest: null })
      // Whoever waits for an answer hears of it.
      client.on("error", () => {})
      return client
    }),
    (client) => Effect.sync(() => client.disconnect()),
  )
}
