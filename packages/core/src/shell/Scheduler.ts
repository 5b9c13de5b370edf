/**
 * Runs work for sessions in the background, at once or at a given time: at most one run per session in this process.
 * (Between processes, the log's lock ensures that.) A session that is to be checked while its work runs is checked
 * again when the run ends (law L11).
 *
 * A limited number of sessions is at work at once. The others wait in the order in which they came. A session whose work has
 * to run once more goes to the end of the queue, so one busy session does not keep the others waiting.
 */
import {
  Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  FiberHandle,
  FiberId,
  FiberSet,
  Option,
  Runtime,
  type Scope,
  type Tracer,
} from "effect"
import { isLive } from "./clock.js"
import { detached } from "./detached.js"
import { sleepUntil } from "./sleepUntil.js"
import { TimerQueue } from "./TimerQueue.js"

/** How a run of work ended: it is done, has to go on later, or could not be done. */
export type RunEnd = "done" | "more" | "failed"

/** Runs work for sessions in the background, at most one run per session at a time. */
export interface Scheduler<Request> {
  /**
   * Starts the work for a session when it is its turn, and returns at once. If it runs already, it runs once more
   * afterwards, with the newest request.
   */
  readonly checkNow: (session: string, request: Request) => Effect.Effect<void>
  /**
   * Starts the work a moment later, unless {@link checkNow} starts it before: the caller goes on first, and writes that follow at
   * once are looked at together. In virtual time, the moment takes no time.
   */
  readonly checkSoon: (session: string, request: Request) => Effect.Effect<void>
  /**
   * Starts the work at a time in milliseconds since the epoch. A session has one timer, with the earliest time. With Effect's
   * live clock, it does not keep the program from ending.
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
  /** The timer of a run that is not in the line yet; `null` for any other. */
  timer: ReturnType<typeof setTimeout> | null
}

/**
 * How long the work waits that is asked for by {@link Scheduler.checkSoon}, in milliseconds. Whoever has appended a turn asks for
 * a context next, and then waits for a model for much longer than this.
 */
const moment = 5

// Every runtime has these two.
declare const setTimeout: (run: () => void, millis: number) => object | number
declare const clearTimeout: (timer: ReturnType<typeof setTimeout>) => void

/**
 * Makes a scheduler of `work`, which returns whether it is done, has to go on later, or could not be done. Its fibers live in the scope. When that closes,
 * timers stop, work that waits in the line does not start, and other work has the time of `finish` to end; then it is interrupted.
 *
 * @param work what to do for a session. `take` gives it the newest request, and may be called again: whatever was asked for
 *   until then need not be done once more
 * @param options `atOnce`: the most sessions that are at work at the same time
 */
export const make = <Request>(
  work: (session: string, take: () => Request) => Effect.Effect<RunEnd>,
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
      const asked = [...runs.values()].filter(({ timer }) => timer !== null)
      return Effect.forEach(asked, Duration.toMillis(finish) > 0 ? enqueue : drop, { discard: true }).pipe(
        Effect.zipRight(
          Effect.suspend(() => {
            closing = true
            for (const run of waiting.splice(0)) end(run)
            return FiberHandle.clear(sleeper)
          }),
        ),
      )
    })
    const timers = new TimerQueue<Request>()
    let asleepUntil = Number.POSITIVE_INFINITY
    /** The runs of all sessions, also of waiting sessions. */
    const runs = new Map<string, Run<Request>>()
    const waiting: Array<Run<Request>> = []
    let atWork = 0

    const end = (run: Run<Request>): void => {
      runs.delete(run.session)
      Deferred.unsafeDone(run.ended, Effect.succeed(run.done))
    }

    const stopTimer = (run: Run<Request>): void => {
      if (run.timer !== null) clearTimeout(run.timer)
      run.timer = null
    }

    /** Ends a run that has not started. */
    const drop = (run: Run<Request>): Effect.Effect<void> =>
      Effect.sync(() => {
        stopTimer(run)
        end(run)
      })

    /** Puts a run into the line. */
    const enqueue = (run: Run<Request>): Effect.Effect<void> =>
      Effect.suspend(() => {
        stopTimer(run)
        waiting.push(run)
        return startNext
      })

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

    /** Goes on with the run of a session, which is a new one, or has to do this as well. */
    const withRun = (
      session: string,
      request: Request,
      goOn: { readonly isNew: (run: Run<Request>) => Effect.Effect<void>; readonly isKnown: typeof enqueue },
    ): Effect.Effect<void> =>
      Effect.suspend(() => {
        const current = runs.get(session)
        if (current !== undefined) {
          current.again = true
          current.request = request
          return goOn.isKnown(current)
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
            timer: null,
          }
          runs.set(session, run)
          return goOn.isNew(run)
        })
      }).pipe(Effect.uninterruptible)

    const checkNow: Scheduler<Request>["checkNow"] = (session, request) =>
      withRun(session, request, {
        isNew: enqueue,
        isKnown: (run) => (run.timer === null ? Effect.void : enqueue(run)),
      })

    const enqueueSoon = (run: Run<Request>): Effect.Effect<void> =>
      Effect.map(Effect.runtime<never>(), (runtime) => {
        run.timer = setTimeout(() => Runtime.runFork(runtime)(enqueue(run)), moment)
      })

    const checkSoon: Scheduler<Request>["checkSoon"] = (session, request) =>
      Effect.clockWith((clock) =>
        isLive(clock)
          ? withRun(session, request, { isNew: enqueueSoon, isKnown: () => Effect.void })
          : checkNow(session, request),
      )

    /** Sleeps until the earliest timer is due, starts the work of all due timers, and repeats until no timer is left. */
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
      checkSoon,
      checkAt,
      forget: (session) => timers.delete(session),
      whenIdle: (session) =>
        Effect.suspend(() => {
          const current = runs.get(session)
          return current === undefined ? Effect.succeed(true) : Deferred.await(current.ended)
        }),
    }
  })
