/**
 * Compactions beside the conversation: at most one at a time for a session in this process (the log sees to the
 * other processes). What comes due meanwhile is looked at when it ends (law L11).
 */
import {
  Clock,
  Context,
  DefaultServices,
  Deferred,
  Duration,
  Effect,
  FiberHandle,
  FiberId,
  FiberRef,
  FiberSet,
  HashMap,
  List,
  Option,
  type Scope,
  Tracer,
} from "effect"
import { Timetable } from "./TimerQueue.js"

export interface Background<Request> {
  /** Looks at a session soon; returns at once. Of several requests while one is at work, the newest counts. */
  readonly look: (session: string, request: Request) => Effect.Effect<void>
  /**
   * Looks at a session when it is time, in milliseconds since the epoch; returns at once. A session has one such time,
   * the earliest. With Effect's own clock it does not keep a program from ending.
   */
  readonly lookAt: (session: string, request: Request, time: number) => Effect.Effect<void>
  /** Forgets the time of a session that is gone. */
  readonly forget: (session: string) => void
  /** Waits until nothing is at work for a session, and says whether that could be done. */
  readonly ended: (session: string) => Effect.Effect<boolean>
}

interface Entry<Request> {
  again: boolean
  request: Request
  done: boolean
  readonly ended: Deferred.Deferred<boolean>
}

/**
 * Runs `work` for every session that is looked at; it answers with whether it could be done. Its fibers live in the
 * scope: when it closes, they have the time of `finish` to end; then they are interrupted, and give back what they hold.
 */
export const make = <Request>(
  work: (session: string, request: Request) => Effect.Effect<boolean>,
  { finish }: { readonly finish: Duration.DurationInput },
): Effect.Effect<Background<Request>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void>()
    yield* Effect.addFinalizer(() =>
      FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(finish)),
    )
    const sleeper = yield* FiberHandle.make<void>()
    // Closed first: nobody wakes, or goes to sleep, while the rest comes to its end.
    let closing = false
    yield* Effect.addFinalizer(() => {
      closing = true
      return FiberHandle.clear(sleeper)
    })
    const timetable = new Timetable<Request>()
    let asleepUntil = Number.POSITIVE_INFINITY
    /** The sessions at work, and whether another look is due. */
    const atWork = new Map<string, Entry<Request>>()

    const loop = (session: string, entry: Entry<Request>): Effect.Effect<void> =>
      Effect.suspend(() => {
        entry.again = false
        return Effect.map(work(session, entry.request), (done) => {
          entry.done = done
        })
      }).pipe(
        Effect.repeat({
          while: () => {
            // Looking again and leaving are decided in one step: a look between them would be lost.
            if (!entry.again) atWork.delete(session)
            return entry.again
          },
        }),
        Effect.ensuring(
          Effect.suspend(() => {
            if (atWork.get(session) === entry) atWork.delete(session)
            return Deferred.succeed(entry.ended, entry.done)
          }),
        ),
        // Whoever asks for a look may be uninterruptible; the work must not be.
        Effect.interruptible,
      )

    const look: Background<Request>["look"] = (session, request) =>
      Effect.suspend(() => {
        const running = atWork.get(session)
        if (running !== undefined) {
          running.again = true
          running.request = request
          return Effect.void
        }
        const ended = Deferred.unsafeMake<boolean>(FiberId.none)
        const entry = { again: false, request, done: false, ended }
        atWork.set(session, entry)
        return Effect.flatMap(Effect.option(Effect.currentParentSpan), (asker) =>
          FiberSet.run(fibers, detached(loop(session, entry), Option.getOrUndefined(asker))),
        )
      }).pipe(Effect.uninterruptible, Effect.asVoid)

    const sleep: Effect.Effect<void> = Effect.suspend(() => {
      const { next } = timetable
      asleepUntil = next ?? Number.POSITIVE_INFINITY
      if (next === undefined) return Effect.void
      return Effect.zipRight(
        sleepUntil(next),
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.forEach(timetable.take(now), ([session, request]) => look(session, request), {
            discard: true,
          }),
        ),
      ).pipe(Effect.zipRight(sleep))
    })

    const lookAt: Background<Request>["lookAt"] = (session, request, time) =>
      Effect.suspend(() => {
        if (closing) return Effect.void
        timetable.set(session, time, request)
        return time >= asleepUntil
          ? Effect.void
          : Effect.asVoid(FiberHandle.run(sleeper, Effect.interruptible(detached(sleep))))
      }).pipe(Effect.uninterruptible)

    return {
      look,
      lookAt,
      forget: (session) => timetable.delete(session),
      ended: (session) =>
        Effect.suspend(() => {
          const running = atWork.get(session)
          return running === undefined ? Effect.succeed(true) : Deferred.await(running.ended)
        }),
    }
  })

/**
 * Work that outlives the request it came from: its spans are not in that request's (they are linked to it, where it is
 * known), and its logs do not carry that request's annotations.
 */
const detached = <A>(work: Effect.Effect<A>, asker?: Tracer.AnySpan): Effect.Effect<A> =>
  (asker === undefined ? work : Effect.linkSpans(work, asker)).pipe(
    Effect.mapInputContext(
      (context: Context.Context<never>) =>
        Context.omit(Tracer.ParentSpan)(
          context as Context.Context<Tracer.ParentSpan>,
        ) as Context.Context<never>,
    ),
    Effect.locally(FiberRef.currentLogAnnotations, HashMap.empty()),
    Effect.locally(FiberRef.currentLogSpan, List.empty()),
  )

/** Nobody sleeps longer: timers have a longest delay, and looking once more costs next to nothing. */
const longestSleep = 24 * 3_600_000

const liveClock = Context.get(DefaultServices.liveServices, Clock.Clock)

/**
 * Sleeps until a time, or for a day. The live clock's own sleep would keep a program from ending that has nothing left
 * to do but to wait.
 */
const sleepUntil = (time: number): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(clock.currentTimeMillis, (now) => {
      const millis = Math.min(Math.max(time - now, 0), longestSleep)
      return clock === liveClock ? sleepUnattended(millis) : clock.sleep(Duration.millis(millis))
    }),
  )

// Every runtime has these two; Node's timers can also be told not to keep the process.
declare const setTimeout: (run: () => void, millis: number) => number | { readonly unref?: () => void }
declare const clearTimeout: (timer: ReturnType<typeof setTimeout>) => void

const sleepUnattended = (millis: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    if (typeof timer === "object") timer.unref?.()
    return Effect.sync(() => clearTimeout(timer))
  })
