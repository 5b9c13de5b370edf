/** Virtual time: it stands still while any fiber works, then jumps to the time at which the next fiber wakes. */
import { Clock, Duration, Effect, Fiber, Option } from "effect"
import { startOfTime } from "../arbitrary/conversation.js"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Enough yields for every fiber that can continue. */
const turns = 40

const live = Clock.make()

/** A clock that only its owner moves. */
export class VirtualClock {
  now = startOfTime
  private readonly sleepers = new Set<Sleeper>()
  /** What takes its own time just now, and how often that has begun or ended. */
  private readonly outside = { now: 0, changes: 0 }

  readonly clock: Clock.Clock = {
    ...live,
    unsafeCurrentTimeMillis: () => this.now,
    unsafeCurrentTimeNanos: () => BigInt(this.now) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => this.now),
    currentTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const millis = Math.ceil(Duration.toMillis(duration))
        // An endless sleep needs no wake-up.
        const sleeper = { at: this.now + millis, wake: () => resume(Effect.void) }
        if (Number.isFinite(millis)) this.sleepers.add(sleeper)
        return Effect.sync(() => this.sleepers.delete(sleeper))
      }),
  }

  /** Does something that waits for a disk or a network, which have a time of their own; this one stands still for it. */
  readonly during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      this.count(1),
      () => effect,
      () => this.count(-1),
    )

  private readonly count = (change: 1 | -1): Effect.Effect<void> =>
    Effect.sync(() => {
      this.outside.now += change
      this.outside.changes++
    })

  /** Lets every fiber continue that can, without moving the time. */
  readonly quiet: Effect.Effect<void> = Effect.gen(this, function* () {
    for (let seen = -1; this.outside.now > 0 || seen !== this.outside.changes;) {
      seen = this.outside.changes
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow()
      yield* live.sleep(Duration.zero)
    }
  })

  /** Goes on to the next one who wakes, at most to a time; whether there was one. */
  private readonly wakeNext = (to: number): boolean => {
    const next = [...this.sleepers].reduce<Sleeper | null>(
      (first, one) => (one.at <= to && (first === null || one.at < first.at) ? one : first),
      null,
    )
    if (next === null) return false
    this.sleepers.delete(next)
    this.now = Math.max(this.now, next.at)
    next.wake()
    return true
  }

  /** Moves the time by a number of milliseconds. */
  readonly advance = (millis: number): Effect.Effect<void> =>
    Effect.gen(this, function* () {
      const to = this.now + millis
      yield* this.quiet
      while (this.wakeNext(to)) yield* this.quiet
      this.now = Math.max(this.now, to)
    })

  /** Runs an effect to its end, and moves the time whenever it sleeps. */
  readonly through = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(this, function* () {
      const fiber = yield* Effect.fork(effect)
      for (let turn = 1; ; turn++) {
        yield* Effect.yieldNow()
        if (Option.isSome(yield* Fiber.poll(fiber))) return yield* Fiber.join(fiber)
        if (turn % turns !== 0) continue
        yield* this.quiet
        if (Option.isNone(yield* Fiber.poll(fiber))) this.wakeNext(Number.POSITIVE_INFINITY)
      }
    })
}
