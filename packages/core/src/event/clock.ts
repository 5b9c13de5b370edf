/** The clock of a program. */
import { Clock, Context, Effect, type Fiber } from "effect"

/** The time of a fiber's clock, in milliseconds since the epoch, known at once. */
export const nowOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>): number =>
  Context.get(fiber.currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()

let live: Clock.Clock | undefined

/**
 * Whether a clock is that of programs that have set none. It is looked up at run time: where several copies of Effect are
 * loaded, all have the clock of the first one.
 */
export const isLive = (clock: Clock.Clock): boolean => clock === (live ??= Effect.runSync(Effect.clock))
