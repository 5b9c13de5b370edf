import { Clock, Context, type Fiber } from "effect"

/** The time of a fiber's clock, in milliseconds since the epoch, known at once. */
export const nowOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>): number =>
  Context.get(fiber.currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()
