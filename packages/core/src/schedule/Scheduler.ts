/**
 * Runs work for sessions in the background, at once or at a given time: at most one run per session in this process.
 * (Between processes, the log's lock ensures that.) A session that is to be checked while its work runs is checked
 * again when the run ends (law L11).
 *
 * Only so many sessions are at work at once. The others wait in the order in which they came, and a session whose work
 * has to run once more goes to the end of the line: one busy session does not keep the others waiting.
 */
import {
  Clock,
  Deferred,
  type Duration,
  Effect,
  Exit,
  FiberHandle,
  FiberId,
  FiberSet,
  Option,
  type Scope,
  type Tracer,
} from "effect"
import { detached } from "./detached.js"
import { sleepUntil } from "./sleepUntil.js"
import { TimerQueue } from "./TimerQueue.js"

/** Runs work for sessions in the background, at most one run per session at a time. */
export interface Scheduler<Request> {
  /**
   * Starts the work for a session when it is its turn, and returns at once. If it runs already, it runs once more
   * afterwards, with the newest request.
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

/** The work of a session, from when it is asked for until nothing more is. */
interface Run<Request> {
  readonly session: string
  /** Whether the work has to run once more. */
  again: boolean
  request: Request
  done: boolean
  readonly ended: Deferred.Deferred<boolean>
  /** The span of the request that asked for it first. */
  readonly span: Tracer.AnySpan | undefined
}

/**
 * Makes a scheduler of `work`, which returns whether it is done, has to go on later, or could not be done. Its fibers live in the scope. When that closes,
 * timers stop, work that waits does not start, and running work has the time of `finish` to end; then it is interrupted.
 *
 * @param work what to do for a session. `take` gives it the newest request, and may be called again: whatever was asked for
 *   until then need not be done once more
 * @param options `atOnce`: the most sessions that are at work at the same time
 */
export const make = <Request>(
  work: (session: string, take: () => Request) => Effect.Effect<"done" | "more" | "failed">,
  { finish, atOnce }: { readonly finish: Duration.DurationInput; readonly atOnce: number },
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
      for (const run of waiting.splice(0)) end(run)
      return FiberHandle.clear(sleeper)
    })
    const timers = new TimerQueue<Request>()
    let asleepUntil = Number.POSITIVE_INFINITY
    /** The runs of all sessions, also of those that wait. */
    const runs = new Map<string, Run<Request>>()
    const waiting: Array<Run<Request>> = []
    let atWork = 0

    const end = (run: Run<Request>): void => {
      runs.delete(run.session)
      Deferred.unsafeDone(run.ended, Effect.succeed(run.done))
    }

    /** Works for a session once. */
    const once = (run: Run<Request>): Effect.Effect<void> =>
      Effect.suspend(() =>
        work(run.session, () => {
          run.again = false
          return run.request
        }),
      ).pipe(
        Effect.map((outcome) => {
          run.done = outcome !== "failed"
          if (outcome === "more") run.again = true
        }),
        // `checkNow` may be called in an uninterruptible region. The work must be interruptible all the same.
        Effect.interruptible,
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            atWork--
            // In one step with the decision to end: a request that came between the two would be lost.
            if (run.again && !closing && Exit.isSuccess(exit)) waiting.push(run)
            else end(run)
            return startNext
          }),
        ),
      )

    /** Starts the runs whose turn it is. */
    const startNext: Effect.Effect<void> = Effect.suspend(() => {
      if (closing || atWork >= atOnce) return Effect.void
      const run = waiting.shift()
      if (run === undefined) return Effect.void
      atWork++
      return Effect.zipRight(FiberSet.run(fibers, detached(once(run), run.span)), startNext)
    })

    const checkNow: Scheduler<Request>["checkNow"] = (session, request) =>
      Effect.suspend(() => {
        const current = runs.get(session)
        if (current !== undefined) {
          current.again = true
          current.request = request
          return Effect.void
        }
        if (closing) return Effect.void
        return Effect.flatMap(Effect.option(Effect.currentParentSpan), (parent) => {
          const run: Run<Request> = {
            session,
            again: false,
            request,
            done: false,
            ended: Deferred.unsafeMake<boolean>(FiberId.none),
            span: Option.getOrUndefined(parent),
          }
          runs.set(session, run)
          waiting.push(run)
          return startNext
        })
      }).pipe(Effect.uninterruptible)

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
          : FiberHandle.run(sleeper, Effect.interruptible(detached(sleep))).pipe(
              Effect.asVoid,
              Effect.uninterruptible,
            )
      })

    return {
      checkNow,
      checkAt,
      forget: (session) => timers.delete(session),
      whenIdle: (session) =>
        Effect.suspend(() => {
          const current = runs.get(session)
          return current === undefined ? Effect.succeed(true) : Deferred.await(current.ended)
        }),
    }
  })
