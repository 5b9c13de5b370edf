/** Long work on the events of a session lets other work of the process run in between. */
import { type Clock, Effect, Stream } from "effect"
import { isLive } from "./clock.js"

/** How long work holds the event loop at a time, in milliseconds. */
const longestHold = 10

/** How many events there are between two looks at the clock. */
export const eventsBetween = 16

// Every runtime has timers; Node.js and what follows it have the other one, too.
declare const setTimeout: (run: () => void, millis: number) => unknown
declare const setImmediate: ((run: () => void) => unknown) | undefined

/** Carries something out after input and output had their turn. In Node.js, timers that are due would go before those. */
const later = (run: () => void): unknown =>
  typeof setImmediate === "function" ? setImmediate(run) : setTimeout(run, 0)

/** When the work of the process that goes on now began to hold the event loop. */
let since = Number.NEGATIVE_INFINITY

/** Works that pause. In a turn of the event loop, one of them goes on: together they hold it no longer than one alone. */
const paused = new Set<() => void>()
let isAwaited = false

const goOnLater = (): void => {
  if (isAwaited || paused.size === 0) return
  isAwaited = true
  later(() => {
    isAwaited = false
    for (const goOn of paused) {
      paused.delete(goOn)
      goOn()
      break
    }
    goOnLater()
  })
}

/** A macrotask: Effect's own yielding is a microtask, which lets other fibers run and nothing else. */
const pause: Effect.Effect<void> = Effect.clockWith((clock) =>
  Effect.async((resume) => {
    const goOn = (): void => {
      since = clock.unsafeCurrentTimeMillis()
      resume(Effect.void)
    }
    paused.add(goOn)
    goOnLater()
    return Effect.sync(() => paused.delete(goOn))
  }),
)

/**
 * A pause between two parts of some work. Each part looks at the clock by itself, so without it, parts that are all short
 * hold the event loop together.
 */
export const rest: Effect.Effect<void> = Effect.clockWith((clock) => (isLive(clock) ? pause : Effect.void))

/** Whether work of the process has held the event loop for long. A clock that went back says nothing. */
const isLate = (clock: Clock.Clock): boolean => {
  const held = clock.unsafeCurrentTimeMillis() - since
  return held < 0 || held >= longestHold
}

/** Pauses if work of the process has held the event loop for long. In virtual time, nothing has to pause. */
export const breathe: Effect.Effect<void> = Effect.clockWith((clock) =>
  isLive(clock) && isLate(clock) ? pause : Effect.void,
)

/**
 * Makes a function that is called for each event of some work, or for each of its pieces. It returns `null`, or now and then an effect to run before
 * the work goes on, which pauses if one is due.
 *
 * @param between - how many calls there are between two looks at the clock
 */
export const breather = (between = eventsBetween): (() => Effect.Effect<void> | null) => {
  let count = 0
  return () => (++count % between === 0 ? breathe : null)
}

/** Work in steps: it yields wherever other work of the process may run in between. */
export type Steps<A> = Generator<undefined, A>

/** Carries out work that is done in steps at once, where nothing can run in between. */
export const atOnce = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** What a function makes of each item in steps of its own, with a step behind some of them: a look at the clock costs more than most items. */
export function* mappedInSteps<A, B>(
  items: ReadonlyArray<A>,
  make: (item: A, position: number) => Steps<B>,
): Steps<Array<B>> {
  const made: Array<B> = []
  for (const [position, item] of items.entries()) {
    made.push(yield* make(item, position))
    if ((position + 1) % eventsBetween === 0) yield
  }
  return made
}

/** {@link mappedInSteps}, where each item is made at once: a context has many small ones, for which steps would take longer than the work. */
export function* mapped<A, B>(
  items: ReadonlyArray<A>,
  make: (item: A, position: number) => B,
): Steps<Array<B>> {
  const made: Array<B> = []
  for (let position = 0; position < items.length; position++) {
    made.push(make(items[position]!, position))
    if ((position + 1) % eventsBetween === 0) yield
  }
  return made
}

/** Carries out work that is done in steps, with pauses where they are due. */
export const inSteps = <A>(work: () => Steps<A>): Effect.Effect<A> =>
  Effect.clockWith((clock) => {
    const steps = work()
    const go = (): Effect.Effect<A> => {
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return Effect.succeed(value)
        // After the step: on a machine so busy that each look is late, the work goes on all the same.
        if (isLive(clock) && isLate(clock)) return Effect.flatMap(pause, go)
      }
    }
    return go()
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
