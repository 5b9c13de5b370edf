/** Answers that nobody takes: how long they are kept, and how much memory they may have, of all clients together. */
import { Effect, Schedule } from "effect"
import type { Server, ServerResponse } from "node:http"

/** How long a client may take nothing of what waits for it, in milliseconds. */
const patience = 60_000

/** How many bytes may wait for all clients: 128 MiB. */
const most = 128 * 2 ** 20

/** How often it is looked how many wait. */
const interval = "250 millis"

/**
 * Bounds what waits in a listener. If it is too much, those are cut off that have taken nothing since the last look, and then others, the
 * oldest first. A subscriber that is cut off comes again from the last id that it has.
 *
 * @param underWay - the responses that are not over, the oldest first
 */
export const boundBacklog = (
  server: Server,
  underWay: ReadonlySet<ServerResponse>,
): Effect.Effect<unknown> => {
  server.timeout = patience
  // Without a listener, a silent connection would be closed that waits for a model, or for events.
  server.on("timeout", (socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
  const seen = new WeakMap<ServerResponse, number>()
  const look = Effect.sync(() => {
    let waiting = 0
    for (const { writableLength } of underWay) waiting += writableLength
    for (const isCut of [(one: ServerResponse) => seen.get(one) === one.writableLength, () => true])
      for (const response of waiting > most ? underWay : []) {
        const { writableLength, writableHighWaterMark } = response
        if (waiting <= most || writableLength <= writableHighWaterMark || !isCut(response)) continue
        waiting -= writableLength
        response.destroy()
      }
    for (const response of underWay) seen.set(response, response.writableLength)
  })
  return Effect.repeat(look, Schedule.spaced(interval))
}
