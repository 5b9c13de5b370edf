import * as fc from "fast-check"

/** Once in so many times. (`fc.option` has it the other way round: its `freq` is how seldom there is nothing.) */
export const onceIn = <A>(times: number, arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: times - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary },
  )
