/**
 * A clock that shows the time of a transcript. So leases, cooldowns and event times follow the original
 * conversation.
 */
import { Clock, Effect } from "effect"

/** The time of a transcript, and how it passes. */
export interface TranscriptClock {
  readonly clock: Clock.Clock
  /** The time now, in milliseconds since the epoch. */
  readonly now: () => number
  /** Moves forward to the time of a message. It never goes back, and ignores a message without a time. */
  readonly moveTo: (millis: number | undefined) => void
}

/**
 * A clock that stands still until it is moved. Sleeping still takes real time: the time limit of a summarizer is one of
 * the real world.
 *
 * @param start - The time that it shows first, in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * import { TranscriptClock } from "@memfold/lab"
 *
 * const { now, moveTo } = TranscriptClock.make(0)
 * moveTo(60_000)
 * console.log(now()) // 60000
 * ```
 */
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
    now: () => now,
    moveTo: (millis) => {
      if (millis !== undefined) now = Math.max(now, Math.trunc(millis))
    },
  }
}
