/**
 * Hands looks at sessions to a {@link Dispatcher}, and keeps the looks that the queue does not take until the queue is back.
 *
 * A look is handed over before the write that asks for it returns: a function may be frozen right after. When the queue does
 * not answer, one write waits for it; from then on, looks are kept here, and a fiber tries again with growing pauses. A worker waits
 * until the queue has the next look of a session before it calls its own look done, and a memory that closes tries once more.
 *
 * Every look goes to the queue, which knows what waits there. An outbox that remembered what it has handed over would be wrong as
 * soon as another process hurries that look, or the queue loses it.
 */
import { Clock, Deferred, Effect, Exit, FiberId, type Scope } from "effect"
import { warn } from "../observe/logs.js"
import * as metrics from "../observe/metrics.js"
import { detached } from "./detached.js"
import type { DispatchError, Look, Service as Dispatcher } from "@memfold/log/Dispatcher"
import { sleepUntil } from "@memfold/log/clock"

export interface Outbox {
  /** Hands a look over. It never fails. */
  readonly send: (look: Look) => Effect.Effect<void>
  /**
   * Waits until the queue has the look of a session that was kept, if one was, for half a minute at most: nobody waits for a queue that
   * is gone for good. Looks of other sessions do not hold it up.
   */
  readonly delivered: (session: string) => Effect.Effect<void>
  readonly forget: (session: string) => void
}

/** How long a write waits for the queue. */
const patience = "2 seconds"

/** The pauses before the queue is tried again, in milliseconds: the first, and the longest. */
const [shortestPause, longestPause] = [1_000, 30_000]

/** The most looks that are kept. A forgotten one comes again with the next write to its session, or with a sweep. */
const mostKept = 10_000

/** Makes an outbox. Its fiber lives in the scope. */
export const makeOutbox = (dispatcher: Dispatcher): Effect.Effect<Outbox, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const kept = new Map<string, Look>()
    const waiting = new Map<string, Deferred.Deferred<void>>()
    let isRetrying = false

    const remove = (session: string): void => {
      kept.delete(session)
      const delivered = waiting.get(session)
      waiting.delete(session)
      if (delivered !== undefined) Deferred.unsafeDone(delivered, Exit.void)
    }

    const keep = (look: Look): void => {
      const before = kept.get(look.session)
      kept.delete(look.session)
      kept.set(look.session, { ...look, time: Math.min(look.time, before?.time ?? look.time) })
      if (kept.size > mostKept) remove(kept.keys().next().value ?? look.session)
    }

    const handOver = (look: Look): Effect.Effect<boolean> =>
      dispatcher.dispatch(look).pipe(
        Effect.timeoutFail({ duration: patience, onTimeout: () => "no answer in time" as const }),
        Effect.zipRight(metrics.count(metrics.dispatches)),
        Effect.as(true),
        Effect.tap(() =>
          Effect.sync(() => {
            // A newer look may have been kept meanwhile.
            if (kept.get(look.session) === look) remove(look.session)
          }),
        ),
        Effect.catchAll((error) => Effect.as(reportFailure(look.session, error), false)),
      )

    /** Hands over all that is kept, until the queue does not take one; what it took. */
    const handOverKept = Effect.gen(function* () {
      let taken = 0
      for (const look of kept.values()) {
        if (!(yield* handOver(look))) return taken === 0 ? "none" : "some"
        taken++
      }
      return "all"
    })

    /** Tries again until the queue has all that is kept. */
    const retry = (pause: number): Effect.Effect<void> =>
      Effect.gen(function* () {
        yield* sleepUntil((yield* Clock.currentTimeMillis) + pause)
        const taken = yield* handOverKept
        if (taken === "none") return yield* retry(Math.min(pause * 2, longestPause))
        // A queue that takes some is slow, and not gone.
        if (taken === "some" || kept.size > 0) return yield* retry(shortestPause)
        isRetrying = false
      })

    // Fibers of the scope have ended when this runs: they were added later.
    yield* Effect.addFinalizer(() => Effect.interruptible(handOverKept))

    const retryLater = Effect.suspend(() => {
      if (isRetrying) return Effect.void
      isRetrying = true
      return Effect.forkIn(Effect.interruptible(detached(retry(shortestPause))), scope)
    })

    return {
      send: (look) =>
        Effect.gen(function* () {
          if (kept.size === 0 && (yield* handOver(look))) return
          keep(look)
          yield* retryLater
        }),
      delivered: (session) =>
        Effect.suspend(() => {
          if (!kept.has(session)) return Effect.void
          const delivered = waiting.get(session) ?? Deferred.unsafeMake<void>(FiberId.none)
          waiting.set(session, delivered)
          return Effect.asVoid(
            Effect.timeoutOption(Effect.interruptible(Deferred.await(delivered)), longestPause),
          )
        }),
      forget: remove,
    }
  })

const reportFailure = (session: string, error: DispatchError | "no answer in time"): Effect.Effect<void> =>
  Effect.zipRight(
    metrics.count(metrics.dispatchFailures),
    warn("the queue did not take a look at a session; it is tried again", {
      session,
      why: typeof error === "string" ? error : error.message,
    }),
  )
