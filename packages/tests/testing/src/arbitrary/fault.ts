/** Faults of the calls of a log. */
import * as fc from "fast-check"
import type { Fault, FaultScript } from "../fakes/faultyLog.js"

const delay = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5_000 }) },
)

/** Some calls fail before they are executed, some after, some are slow; most work. Shrinks to no faults. */
export const faultScript: fc.Arbitrary<FaultScript> = fc.array(
  fc
    .record({
      lost: fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom("request" as const, "answer" as const) },
      ),
      there: delay,
      back: delay,
    })
    .map(({ lost, there, back }): Fault => ({
      ...(lost === undefined ? {} : { lost }),
      ...(there === 0 ? {} : { there }),
      ...(back === 0 ? {} : { back }),
    })),
  { maxLength: 20 },
)
