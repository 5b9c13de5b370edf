/**
 * Hands looks at sessions to a {@link Dispatcher}, and keeps the looks that the queue does not take until the queue is back.
 *
 * A look is handed over before the write that asks for it returns: a function may be frozen right after. When the queue does
 * not answer, one write waits for it; from then on, looks are kept here, and a fiber tries again with growing pauses.
 */
import { Clock, Effect, FiberHandle, type Scope } from "effect"
import * as metrics from "../observe/metrics.js"
import { detached } from "./detached.js"
import type { DispatchError, Look, Service as Dispatcher } from "./Dispatcher.js"
import { sleepUntil } from "./sleepUntil.js"

/** Hands looks over. */
export interface Outbox {
  /** Hands a look over. It never fails. */
  readonly send: (look: Look) => Effect.Effect<void>
  /** Forgets a session that is deleted. */
  readonly forget: (session: string) => void
}

/** How long a write waits for the queue. */
const patience = "2 seconds"

/** The pauses before the queue is tried again, in milliseconds: the first, and the longest. */
const [shortestPause, longestPause] = [1_000, 30_000]

/** The most sessions that are remembered, of each kind. A forgotten look comes again with the next write to its session. */
const mostSessions = 10_000

/** Sets an entry, and drops the oldest one beyond the most. */
const remember = <Value>(map: Map<string, Value>, session: string, value: Value): void => {
  map.delete(session)
  map.set(session, value)
  if (map.size > mostSessions) map.delete(map.keys().next().value ?? session)
}

/** Makes an outbox. Its fiber lives in the scope. */
export const makeOutbox = (dispatcher: Dispatcher): Effect.Effect<Outbox, never, Scope.Scope> =>
  Effect.map(FiberHandle.make<void>(), (retrying) => {
    /** The times of looks that the queue has, and that are yet to come. */
    const handedOver = new Map<string, number>()
    /** The looks that the queue did not take. */
    const kept = new Map<string, Look>()

    const keep = (look: Look): void => {
      const before = kept.get(look.session)
      const time = Math.min(look.time, before?.time ?? look.time)
      remember(kept, look.session, { ...look, time })
    }

    const handOver = (look: Look): Effect.Effect<boolean> =>
      dispatcher.dispatch(look).pipe(
        Effect.timeoutFail({ duration: patience, onTimeout: () => "no answer in time" as const }),
        Effect.zipRight(metrics.count(metrics.dispatches)),
        Effect.as(true),
        Effect.tap(() =>
          Effect.sync(() => {
            remember(handedOver, look.session, look.time)
            // A newer look may have been kept meanwhile.
            if (kept.get(look.session) === look) kept.delete(look.session)
          }),
        ),
        Effect.catchAll((error) => Effect.as(reportFailure(look.session, error), false)),
      )

    /** Tries again until the queue has all that is kept. */
    const retry = (pause: number): Effect.Effect<void> =>
      Effect.gen(function* () {
        yield* sleepUntil((yield* Clock.currentTimeMillis) + pause)
        for (const look of kept.values()) {
          if (!(yield* handOver(look))) return yield* retry(Math.min(pause * 2, longestPause))
        }
        if (kept.size > 0) yield* retry(shortestPause)
      })

    const retryLater = FiberHandle.run(retrying, Effect.interruptible(detached(retry(shortestPause))), {
      onlyIfMissing: true,
    })

    return {
      send: (look) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          // Who looks at that time will see what was written until then, and hand over the next look.
          const known = handedOver.get(look.session)
          if (known !== undefined && now < known && known <= look.time) return
          if (kept.size === 0 && (yield* handOver(look))) return
          keep(look)
          yield* retryLater
        }),
      forget: (session) => {
        handedOver.delete(session)
        kept.delete(session)
      },
    }
  })

const reportFailure = (session: string, error: DispatchError | "no answer in time"): Effect.Effect<void> =>
  Effect.zipRight(
    metrics.count(metrics.dispatchFailures),
    Effect.logWarning("the queue did not take a look at a session; it is tried again").pipe(
      Effect.annotateLogs({ session, why: typeof error === "string" ? error : error.message }),
    ),
  )
