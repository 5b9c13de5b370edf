/** Does something for sessions at given times: a session has one timer, with the earliest time. */
import { Clock, Effect, FiberHandle } from "effect"
import { detached } from "./detached.js"
import { sleepUntil } from "@memfold/log/clock"
import { TimerQueue } from "./TimerQueue.js"

/**
 * Makes timers. One fiber sleeps for all of them, until the earliest is due; it lives in the scope. With Effect's live clock, it does
 * not keep the program from ending.
 */
export const makeTimers = <Value>(onDue: (session: string, value: Value) => Effect.Effect<void>) =>
  Effect.map(FiberHandle.make<void>(), (sleeper) => {
    const timers = new TimerQueue<Value>()
    let asleepUntil = Number.POSITIVE_INFINITY
    let isClosed = false

    /** Sleeps until the earliest timer is due, does the work of all due timers, and repeats until no timer is left. */
    const sleep: Effect.Effect<void> = Effect.gen(function* () {
      for (;;) {
        const { next } = timers
        asleepUntil = next ?? Number.POSITIVE_INFINITY
        if (next === undefined) return
        yield* sleepUntil(next)
        const now = yield* Clock.currentTimeMillis
        for (const [session, value] of timers.take(now)) yield* onDue(session, value)
      }
    })

    return {
      set: (session: string, time: number, value: Value): Effect.Effect<void> =>
        Effect.suspend(() => {
          if (isClosed) return Effect.void
          timers.set(session, time, value)
          return time >= asleepUntil
            ? Effect.void
            : FiberHandle.run(sleeper, Effect.interruptible(detached(sleep))).pipe(
                Effect.asVoid,
                Effect.uninterruptible,
              )
        }),
      delete: (session: string): void => timers.delete(session),
      /** Stops all timers. None can be set any more. */
      close: Effect.suspend(() => {
        isClosed = true
        return FiberHandle.clear(sleeper)
      }),
    }
  })
