/**
 * The runs of the work of sessions: what is at work, and the queue of what waits. A session has at most one run. A session that
 * is to be checked while its work runs is checked again when the run ends (law L11).
 *
 * A limited number of sessions is at work at once. The others wait in the order in which they came. A session whose work has
 * to run once more goes to the end of the queue, so one busy session does not keep the others waiting.
 */
import { Deferred, Effect, Exit, FiberId, FiberSet, Option, Runtime, type Tracer } from "effect"
import { isLive } from "@memfold/log/clock"
import { detached } from "./detached.js"

/** How a run of work ended: it is done, has to go on later, or could not be done. */
export type RunEnd = "done" | "more" | "failed"

/**
 * What to do for a session. `take` gives it the newest request, and may be called again: whatever was asked for until then
 * need not be done once more.
 */
export type Work<Request> = (session: string, take: () => Request) => Effect.Effect<RunEnd>

/** The work of a session, from when it is asked for until nothing more is. */
interface Run<Request> {
  readonly session: string
  again: boolean
  request: Request
  done: boolean
  readonly ended: Deferred.Deferred<boolean>
  /** The span of the request that asked for it first. */
  readonly span: Tracer.AnySpan | undefined
  /** The timer of a run that is not in the queue yet; `null` for any other. */
  timer: ReturnType<typeof setTimeout> | null
}

const newRun = <Request>(
  session: string,
  request: Request,
  span: Tracer.AnySpan | undefined,
): Run<Request> => ({
  session,
  again: false,
  request,
  done: false,
  ended: Deferred.unsafeMake<boolean>(FiberId.none),
  span,
  timer: null,
})

/**
 * How long the work waits that is asked for by {@link Runs.checkSoon}, in milliseconds. Whoever has appended a turn asks for
 * a context next, and then waits for a model for much longer than this.
 */
const moment = 5

// Every runtime has these two.
declare const setTimeout: (run: () => void, millis: number) => object | number
declare const clearTimeout: (timer: ReturnType<typeof setTimeout>) => void

export class Runs<Request> {
  /** The runs of all sessions, also of waiting sessions. */
  private readonly runs = new Map<string, Run<Request>>()
  private readonly waiting: Array<Run<Request>> = []
  private atWork = 0
  private isClosed = false

  /** @param atOnce the most sessions that are at work at the same time */
  constructor(
    private readonly work: Work<Request>,
    private readonly atOnce: number,
    private readonly fibers: FiberSet.FiberSet<void>,
  ) {}

  /** Puts a session into the queue, and returns at once. If its work runs already, it runs once more, with the newest request. */
  checkNow(session: string, request: Request): Effect.Effect<void> {
    return this.withRun(session, request, (run, isNew) =>
      isNew || run.timer !== null ? this.enqueue(run) : Effect.void,
    )
  }

  /**
   * Puts a session into the queue a moment later, unless {@link checkNow} comes before: the caller goes on first, and writes that
   * follow at once are looked at together. In virtual time, at once.
   */
  checkSoon(session: string, request: Request): Effect.Effect<void> {
    return Effect.clockWith((clock) =>
      isLive(clock)
        ? this.withRun(session, request, (run, isNew) => (isNew ? this.enqueueSoon(run) : Effect.void))
        : this.checkNow(session, request),
    )
  }

  /** Waits until a session has no run, and returns whether its last run could be done; `true` if it had none. */
  whenIdle(session: string): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const current = this.runs.get(session)
      return current === undefined ? Effect.succeed(true) : Deferred.await(current.ended)
    })
  }

  /**
   * Starts no work any more: runs in the queue end.
   *
   * @param startsSoon whether the runs that wait for their moment start before, up to the limit; otherwise they end, too
   */
  close(startsSoon: boolean): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      for (const run of [...this.runs.values()].filter(({ timer }) => timer !== null))
        if (startsSoon) yield* this.enqueue(run)
        else this.end(run)
      this.isClosed = true
      for (const run of this.waiting.splice(0)) this.end(run)
    })
  }

  /** Goes on with the run of a session, which is a new one, or has to do this as well. */
  private withRun(
    session: string,
    request: Request,
    goOn: (run: Run<Request>, isNew: boolean) => Effect.Effect<void>,
  ): Effect.Effect<void> {
    return Effect.suspend(() => {
      const current = this.runs.get(session)
      if (current !== undefined) {
        current.again = true
        current.request = request
        return goOn(current, false)
      }
      if (this.isClosed) return Effect.void
      return Effect.flatMap(Effect.option(Effect.currentParentSpan), (parent) => {
        const run = newRun(session, request, Option.getOrUndefined(parent))
        this.runs.set(session, run)
        return goOn(run, true)
      })
    }).pipe(Effect.uninterruptible)
  }

  private enqueue(run: Run<Request>): Effect.Effect<void> {
    return Effect.suspend(() => {
      stopTimer(run)
      this.waiting.push(run)
      return this.startNext
    })
  }

  private enqueueSoon(run: Run<Request>): Effect.Effect<void> {
    return Effect.map(Effect.runtime<never>(), (runtime) => {
      run.timer = setTimeout(() => Runtime.runFork(runtime)(this.enqueue(run)), moment)
    })
  }

  private readonly startNext: Effect.Effect<void> = Effect.suspend(() => {
    if (this.isClosed || this.atWork >= this.atOnce) return Effect.void
    const run = this.waiting.shift()
    if (run === undefined) return Effect.void
    this.atWork++
    return Effect.zipRight(FiberSet.run(this.fibers, detached(this.once(run), run.span)), this.startNext)
  })

  private once(run: Run<Request>): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.work(run.session, () => {
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
          this.atWork--
          // In one step with the decision to end: a request that came between the two would be lost.
          if (run.again && !this.isClosed && Exit.isSuccess(exit)) this.waiting.push(run)
          else this.end(run)
          return this.startNext
        }),
      ),
    )
  }

  private end(run: Run<Request>): void {
    stopTimer(run)
    this.runs.delete(run.session)
    Deferred.unsafeDone(run.ended, Effect.succeed(run.done))
  }
}

const stopTimer = (run: { timer: ReturnType<typeof setTimeout> | null }): void => {
  if (run.timer !== null) clearTimeout(run.timer)
  run.timer = null
}
