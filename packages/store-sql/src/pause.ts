import { Effect } from "effect"

/** A pause in real time, also where a test has a clock of its own: a database does not know that clock. */
export const pause = (millis: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })
