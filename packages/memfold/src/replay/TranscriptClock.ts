/**
 * A clock that shows the time of a transcript. Leases, cooldowns and event times are then those of the original
 * conversation.
 */
import { Clock, Effect } from "effect"

export interface TranscriptClock {
  readonly clock: Clock.Clock
  /** Moves forward to the time of a message. It never goes back, and ignores a message without a time. */
  readonly moveTo: (millis: number | undefined) => void
}

/** A clock that starts at `start`, in milliseconds since the epoch. Sleeping still takes real time. */
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
