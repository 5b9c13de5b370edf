/**
 * Runs work for sessions in the background, at once or at a given time: {@link Runs} and their timers, and how both end. A
 * session has at most one run in this process. (Between processes, the log's lock ensures that.)
 */
import { Duration, Effect, FiberSet, type Scope } from "effect"
import { Runs, type Work } from "./Runs.js"
import { makeTimers } from "./Timers.js"

export interface Scheduler<Request> extends Pick<Runs<Request>, "checkNow" | "checkSoon" | "whenIdle"> {
  /**
   * Starts the work at a time in milliseconds since the epoch. A session has one timer, with the earliest time. With Effect's
   * live clock, it does not keep the program from ending.
   */
  readonly checkAt: (session: string, request: Request, time: number) => Effect.Effect<void>
  readonly forget: (session: string) => void
}

/**
 * Makes a scheduler of `work`. Its fibers live in the scope. When that closes, timers stop, work that waits in the queue does
 * not start, and other work has the time of `finish` to end; then it is interrupted.
 *
 * @param options `atOnce`: the most sessions that are at work at the same time
 */
export const make = <Request>(
  work: Work<Request>,
  { finish, atOnce }: { readonly finish: Duration.DurationInput; readonly atOnce: number },
): Effect.Effect<Scheduler<Request>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void>()
    yield* Effect.addFinalizer(() =>
      FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(finish)),
    )
    const runs = new Runs(work, atOnce, fibers)
    const timers = yield* makeTimers<Request>((session, request) => runs.checkNow(session, request))
    // Finalizers run in reverse: this one comes first, and no timer starts work while the rest ends.
    yield* Effect.addFinalizer(() => Effect.zipRight(runs.close(Duration.toMillis(finish) > 0), timers.close))
    return {
      checkNow: (session, request) => runs.checkNow(session, request),
      checkSoon: (session, request) => runs.checkSoon(session, request),
      checkAt: (session, request, time) => timers.set(session, time, request),
      forget: timers.delete,
      whenIdle: (session) => runs.whenIdle(session),
    }
  })
