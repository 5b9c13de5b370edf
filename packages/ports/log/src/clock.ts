/** The clock of a program, sleeping until a time without keeping the program alive, and telling that a server is waited for. */
import { Clock, Duration, Effect, Schedule } from "effect"

let live: Clock.Clock | undefined

/**
 * Whether a clock is the default clock: the program has set none. It is looked up at run time: where several copies of Effect are
 * loaded, all have the clock of the first one.
 */
export const isLive = (clock: Clock.Clock): boolean => clock === (live ??= Effect.runSync(Effect.clock))

/** The longest sleep, in milliseconds: timers of JavaScript have a longest delay, and a check a day costs next to nothing. */
const longestSleep = 24 * 3_600_000

/**
 * Sleeps until a time in milliseconds since the epoch, or for a day if that is sooner. With the live clock, it uses a
 * timer that does not keep the program from ending; that clock's own sleep would. For background work of the engine and
 * of stores.
 *
 * @param time when to wake up, in milliseconds since the epoch
 *
 * @example
 * ```ts
 * import { sleepUntil } from "@memfold/log"
 * import { Clock, Effect } from "effect"
 *
 * const pause = Effect.flatMap(Clock.currentTimeMillis, (now) => sleepUntil(now + 1_000))
 * const looking = Effect.forever(Effect.zipRight(pause, Effect.log("looked")))
 * console.log(looking)
 * ```
 */
export const sleepUntil = (time: number): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(clock.currentTimeMillis, (now) => {
      const millis = Math.min(Math.max(time - now, 0), longestSleep)
      return isLive(clock) ? sleepUnreferenced(millis) : clock.sleep(Duration.millis(millis))
    }),
  )

/** How often the log says that a server does not answer, in milliseconds. */
const betweenTold = 60_000

/**
 * Logs an error when the tries of a schedule have gone on for a second, at most once a minute: a store tries again for some seconds
 * what may pass, and who has mistyped an address must not look at nothing meanwhile.
 *
 * @param name - the server for people, without secrets
 */
export const tellIfSlow = (name: string) => {
  let told = Number.NEGATIVE_INFINITY
  return <Out, In, R>(schedule: Schedule.Schedule<Out, In, R>) =>
    Schedule.tapOutput(Schedule.intersect(schedule, Schedule.elapsed), ([, elapsed]) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (Duration.lessThan(elapsed, "1 second") || now - told < betweenTold) return Effect.void
        told = now
        return Effect.logError(`${name} does not answer; memfold goes on trying`)
      }),
    )
}

// Every runtime has these two. Timers of Node.js have `unref` as well.
declare const setTimeout: (run: () => void, millis: number) => number | { readonly unref?: () => void }
declare const clearTimeout: (timer: ReturnType<typeof setTimeout>) => void

const sleepUnreferenced = (millis: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    if (typeof timer === "object") timer.unref?.()
    return Effect.sync(() => clearTimeout(timer))
  })
