/** Long work on the events of a session lets other work of the process run in between. */
import { Effect, Stream } from "effect"
import { isLive } from "./clock.js"

/** How long work holds the event loop at a time, in milliseconds. */
const longestHold = 10

/** How many events there are between two looks at the clock. */
const eventsBetween = 64

// Every runtime has it.
declare const setTimeout: (run: () => void, millis: number) => unknown

/** A macrotask: Effect's own yielding is a microtask, which lets other fibers run and nothing else. */
const pause: Effect.Effect<void> = Effect.async((resume) => {
  setTimeout(() => resume(Effect.void), 0)
})

/**
 * A pause between two parts of some work. Each part looks at the clock by itself, so without it, parts that are all short
 * hold the event loop together.
 */
export const rest: Effect.Effect<void> = Effect.clockWith((clock) => (isLive(clock) ? pause : Effect.void))

/** Makes an effect that pauses if the work since the last pause has held the event loop for long. In virtual time, nothing has to pause. */
const breath = (): Effect.Effect<void> => {
  let since: number | null = null
  return Effect.clockWith((clock) => {
    if (!isLive(clock)) return Effect.void
    const now = clock.unsafeCurrentTimeMillis()
    since ??= now
    if (now - since < longestHold) return Effect.void
    return Effect.map(pause, () => {
      since = clock.unsafeCurrentTimeMillis()
    })
  })
}

/**
 * Makes a function that is called for each event of some work, or for each of its pieces. It returns `null`, or now and then an effect to run before
 * the work goes on, which pauses if one is due.
 *
 * @param between - how many calls there are between two looks at the clock
 */
export const breather = (between = eventsBetween): (() => Effect.Effect<void> | null) => {
  let count = 0
  const breathe = breath()
  return () => (++count % between === 0 ? breathe : null)
}

/** Carries out work that is done in steps, with pauses where they are due. */
export const inSteps = <A>(work: () => Generator<undefined, A>): Effect.Effect<A> =>
  Effect.gen(function* () {
    const breathe = breath()
    const steps = work()
    for (;;) {
      yield* breathe
      const { done, value } = steps.next()
      if (done === true) return value
    }
  })

/** A stream that lets other work of the process run in between. */
export const breathing = <A, E, R>(items: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.suspend(() => {
    const breathe = breather()
    return Stream.mapEffect(items, (item) => after(breathe(), Effect.succeed(item)))
  })

/** Passes a result on, after a pause if one is due. */
export const after = <A, E>(
  breath: Effect.Effect<void> | null,
  result: Effect.Effect<A, E>,
): Effect.Effect<A, E> => (breath === null ? result : Effect.zipRight(breath, result))
