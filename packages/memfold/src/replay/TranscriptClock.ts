/**
 * A clock that shows the time of a transcript: lease, cooldown and time stamps then are what they would have
 * been when the conversation took place.
 */
import { Clock, Effect } from "effect"

export interface TranscriptClock {
  readonly clock: Clock.Clock
  /** Moves to the time of a message. It never goes back, and a message without a time moves nothing. */
  readonly moveTo: (millis: number | undefined) => void
}

/** A clock that stands at `start`, in milliseconds since the epoch. Sleeping still takes real time. */
export const make = (start: number): TranscriptClock => {
  const real = Clock.make()
  let now = start
  return {
    clock: {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      sleep: (duration) => real.sleep(duration),
      unsafeCurrentTimeMillis: () => now,
      unsafeCurrentTimeNanos: () => BigInt(now) * 1_000_000n,
      currentTimeMillis: Effect.sync(() => now),
      currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    },
    moveTo: (millis) => {
      if (millis !== undefined) now = Math.max(now, Math.trunc(millis))
    },
  }
}
