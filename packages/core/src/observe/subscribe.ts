import { type Duration, Effect, Option, Stream } from "effect"
import type { Recorded } from "../event/EventCodec.js"
import type { SessionError, Sessions } from "../session/Sessions.js"

/** Where a subscription begins, and how often it looks for what other processes wrote. */
export interface SubscribeOptions {
  /** The first sequence number to deliver; 1 by default: everything. */
  readonly from?: number
  /** What this process writes is seen at once; for what others write, the log is asked this often (1 second). */
  readonly every?: Duration.DurationInput
}

/** Whether the last event that was delivered is there no more: the session was deleted, and perhaps begun anew. */
const anotherLog = (
  sessions: Sessions,
  session: string,
  delivered: { readonly id: string; readonly seq: number } | null,
): Effect.Effect<boolean, SessionError> =>
  delivered === null
    ? Effect.succeed(false)
    : sessions.events(session, { from: delivered.seq, to: delivered.seq }).pipe(
        Stream.runHead,
        Effect.map((there) => Option.isNone(there) || there.value.id !== delivered.id),
      )

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
      let last: string | null = null
      const look = Stream.suspend(() =>
        Stream.unwrap(
          Effect.map(
            anotherLog(sessions, session, last === null ? null : { id: last, seq: next - 1 }),
            (another) => {
              if (another) next = 1
              return sessions.events(session, { from: next }).pipe(
                Stream.tap(({ seq, id }) =>
                  Effect.sync(() => {
                    next = seq + 1
                    last = id
                  }),
                ),
              )
            },
          ),
        ),
      )
      const ticks = Stream.tick(every)
      return Stream.merge(changes, ticks).pipe(Stream.flatMap(() => look, { concurrency: 1 }))
    }),
  )
