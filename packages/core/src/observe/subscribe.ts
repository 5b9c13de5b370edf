import { type Duration, Effect, Stream } from "effect"
import type { Recorded } from "../event/EventCodec.js"
import type { SessionError, Sessions } from "../session/Sessions.js"

/** Where a subscription begins, and how often it looks for what other processes wrote. */
export interface SubscribeOptions {
  /** The first sequence number to deliver; 1 by default: everything. */
  readonly from?: number
  /** What this process writes is seen at once; for what others write, the log is asked this often (1 second). */
  readonly every?: Duration.DurationInput
}

/**
 * The events of a session, those that are there and then those that come, each once and in order. There is no gap
 * between catching up and live: every look reads on from the last event delivered. A session that is deleted and
 * begun anew is delivered from its new start.
 */
export const subscribe = (
  sessions: Sessions,
  session: string,
  { from = 1, every = "1 second" }: SubscribeOptions = {},
): Stream.Stream<Recorded, SessionError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      // Listening begins before the first look, so that nothing falls between the two.
      const changes = yield* sessions.changes(session)
      let next = Math.max(from, 1)
      /** The event before that one; `null` while it has not been seen. */
      let last: string | null = null

      const heard = (events: Stream.Stream<Recorded, SessionError>) =>
        Stream.tap(events, ({ seq, id }) =>
          Effect.sync(() => {
            next = seq + 1
            last = id
          }),
        )
      /** Reads on from the event before: if it is there no more, the session was deleted, and perhaps begun anew. */
      const look = Stream.suspend(() => {
        const start = next
        const before = last
        // Whoever has heard nothing yet cannot tell one log from another.
        if (before === null) return heard(sessions.events(session, { from: start }))
        let goesOn = false
        const rest = sessions.events(session, { from: start - 1 }).pipe(
          Stream.takeWhile(({ seq, id }) => (goesOn ||= seq === start - 1 && before === id)),
          heard,
          Stream.filter(({ seq }) => seq >= start),
        )
        const anew = Stream.suspend(() => {
          if (goesOn) return Stream.empty
          next = 1
          last = null
          return heard(sessions.events(session))
        })
        return Stream.concat(rest, anew)
      })
      const ticks = Stream.tick(every)
      return Stream.merge(changes, ticks).pipe(Stream.flatMap(() => look, { concurrency: 1 }))
    }),
  )
