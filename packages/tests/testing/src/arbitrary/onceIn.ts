import * as fc from "fast-check"

/** A value once in `times` times, otherwise `undefined`. (The `freq` of `fc.option` is how seldom there is no value.) */
export const onceIn = <A>(times: number, arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: times - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary },
  )
