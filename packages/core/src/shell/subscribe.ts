import { type Duration, Effect, Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { SessionError, Sessions } from "./Sessions.js"

/** Where a subscription begins, and how often it polls for events of other processes. */
export interface SubscribeOptions {
  /** The first version to deliver; 1 by default, which delivers every event. */
  readonly fromVersion?: number
  /**
   * How often the log is polled for events of other processes (1 second), if the store does not report changes by itself.
   * Events of this process are delivered at once.
   */
  readonly pollInterval?: Duration.DurationInput
}

/**
 * The events of a session: the stored ones, then new ones as they come, each once and in order. There is no gap
 * between the two, because every read continues after the last event delivered. If the session is deleted and started
 * again, its events are delivered from version 1 on.
 */
export const subscribe = (
  sessions: Sessions,
  session: string,
  { fromVersion = 1, pollInterval = "1 second" }: SubscribeOptions = {},
): Stream.Stream<RecordedEvent, SessionError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      // Listening begins before the first read: an event between the two would be missed.
      const changes = yield* sessions.changes(session, pollInterval)
      let next = Math.max(fromVersion, 1)
      /** The id of the last event delivered; `null` before the first one. */
      let last: string | null = null

      const delivered = (events: Stream.Stream<RecordedEvent, SessionError>) =>
        Stream.tap(events, ({ version, id }) =>
          Effect.sync(() => {
            next = version + 1
            last = id
          }),
        )
      /**
       * Reads on from the last event delivered. If that version now has another event or none, the session was deleted
       * and perhaps started again.
       */
      const readOn = Stream.suspend(() => {
        const start = next
        const before = last
        // Before the first event, one log cannot be told from another.
        if (before === null) return delivered(sessions.events(session, { fromVersion: start }))
        let goesOn = false
        const rest = sessions.events(session, { fromVersion: start - 1 }).pipe(
          Stream.takeWhile(({ version, id }) => (goesOn ||= version === start - 1 && before === id)),
          delivered,
          Stream.filter(({ version }) => version >= start),
        )
        const restarted = Stream.suspend(() => {
          if (goesOn) return Stream.empty
          next = 1
          last = null
          return delivered(sessions.events(session))
        })
        return Stream.concat(rest, restarted)
      })
      return changes.pipe(Stream.flatMap(() => readOn, { concurrency: 1 }))
    }),
  )
