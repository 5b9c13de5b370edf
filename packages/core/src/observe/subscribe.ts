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
      const look = Stream.unwrap(
        Effect.map(sessions.version(session), (version) => {
          if (version < next - 1) next = 1
          return version < next
            ? Stream.empty
            : sessions.events(session, { from: next }).pipe(
                Stream.tap(({ seq }) =>
                  Effect.sync(() => {
                    next = seq + 1
                  }),
                ),
              )
        }),
      )
      const ticks = Stream.tick(every)
      return Stream.merge(changes, ticks).pipe(Stream.flatMap(() => look, { concurrency: 1 }))
    }),
  )
