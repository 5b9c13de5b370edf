/**
 * Runs work for sessions in the background, at once or at a given time: at most one run per session in this process.
 * (Between processes, the log's lock ensures that.) A session that is to be checked while its work runs is checked
 * again when the run ends (law L11).
 */
import {
  Clock,
  Deferred,
  type Duration,
  Effect,
  FiberHandle,
  FiberId,
  FiberSet,
  Option,
  type Scope,
} from "effect"
import { detached } from "./detached.js"
import { sleepUntil } from "./sleepUntil.js"
import { TimerQueue } from "./TimerQueue.js"

/** Runs work for sessions in the background, at most one run per session at a time. */
export interface Scheduler<Request> {
  /**
   * Starts the work for a session, and returns at once. If it runs already, it runs once more afterwards, with the
   * newest request.
   */
  readonly checkNow: (session: string, request: Request) => Effect.Effect<void>
  /**
   * Starts the work at a time in milliseconds since the epoch, and returns at once. A session has one timer, with the
   * earliest time. With Effect's live clock, it does not keep the program from ending.
   */
  readonly checkAt: (session: string, request: Request, time: number) => Effect.Effect<void>
  /** Removes a session's timer. */
  readonly forget: (session: string) => void
  /**
   * Waits until no work runs for a session, and returns whether its last run could be done; `true` if none was running.
   */
  readonly whenIdle: (session: string) => Effect.Effect<boolean>
}

interface Run<Request> {
  /** Whether the work has to run once more. */
  again: boolean
  request: Request
  done: boolean
  readonly ended: Deferred.Deferred<boolean>
}

/**
 * Makes a scheduler of `work`, which returns whether it could be done. Its fibers live in the scope. When that closes,
 * the timers stop, and running work has the time of `finish` to end; then it is interrupted.
 */
export const make = <Request>(
  work: (session: string, request: Request) => Effect.Effect<boolean>,
  { finish }: { readonly finish: Duration.DurationInput },
): Effect.Effect<Scheduler<Request>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void>()
    yield* Effect.addFinalizer(() =>
      FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(finish)),
    )
    const sleeper = yield* FiberHandle.make<void>()
    // Finalizers run in reverse: this one comes first, and no timer starts work while the rest ends.
    let closing = false
    yield* Effect.addFinalizer(() => {
      closing = true
      return FiberHandle.clear(sleeper)
    })
    const timers = new TimerQueue<Request>()
    let asleepUntil = Number.POSITIVE_INFINITY
    const running = new Map<string, Run<Request>>()

    const repeat = (session: string, run: Run<Request>): Effect.Effect<void> =>
      Effect.suspend(() => {
        run.again = false
        return Effect.map(work(session, run.request), (done) => {
          run.done = done
        })
      }).pipe(
        Effect.repeat({
          while: () => {
            // In one step with the decision to end: a request that came between the two would be lost.
            if (!run.again) running.delete(session)
            return run.again
          },
        }),
        Effect.ensuring(
          Effect.suspend(() => {
            if (running.get(session) === run) running.delete(session)
            return Deferred.succeed(run.ended, run.done)
          }),
        ),
        // `checkNow` may be called in an uninterruptible region. The work must be interruptible all the same.
        Effect.interruptible,
      )

    const checkNow: Scheduler<Request>["checkNow"] = (session, request) =>
      Effect.suspend(() => {
        const current = running.get(session)
        if (current !== undefined) {
          current.again = true
          current.request = request
          return Effect.void
        }
        const run = { again: false, request, done: false, ended: Deferred.unsafeMake<boolean>(FiberId.none) }
        running.set(session, run)
        return Effect.flatMap(Effect.option(Effect.currentParentSpan), (span) =>
          FiberSet.run(fibers, detached(repeat(session, run), Option.getOrUndefined(span))),
        )
      }).pipe(Effect.uninterruptible, Effect.asVoid)

    /** Sleeps until the earliest timer is due, starts the work of those that are, and so on until none is left. */
    const sleep: Effect.Effect<void> = Effect.suspend(() => {
      const { next } = timers
      asleepUntil = next ?? Number.POSITIVE_INFINITY
      if (next === undefined) return Effect.void
      return Effect.zipRight(
        sleepUntil(next),
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.forEach(timers.take(now), ([session, request]) => checkNow(session, request), {
            discard: true,
          }),
        ),
      ).pipe(Effect.zipRight(sleep))
    })

    const checkAt: Scheduler<Request>["checkAt"] = (session, request, time) =>
      Effect.suspend(() => {
        if (closing) return Effect.void
        timers.set(session, time, request)
        return time >= asleepUntil
          ? Effect.void
          : Effect.asVoid(FiberHandle.run(sleeper, Effect.interruptible(detached(sleep))))
      }).pipe(Effect.uninterruptible)

    return {
      checkNow,
      checkAt,
      forget: (session) => timers.delete(session),
      whenIdle: (session) =>
        Effect.suspend(() => {
          const current = running.get(session)
          return current === undefined ? Effect.succeed(true) : Deferred.await(current.ended)
        }),
    }
  })
