/** Sizes of batches, and orders of concurrent steps. */
import * as fc from "fast-check"

/** Cuts a list into batches of these sizes, over and over; one at a time without any. */
export const inBatches = <A>(
  list: ReadonlyArray<A>,
  sizes: ReadonlyArray<number>,
): ReadonlyArray<ReadonlyArray<A>> => {
  const batches: Array<ReadonlyArray<A>> = []
  for (let from = 0, turn = 0; from < list.length; turn++) {
    const to = from + Math.max(sizes[turn % Math.max(sizes.length, 1)] ?? 1, 1)
    batches.push(list.slice(from, to))
    from = to
  }
  return batches
}

/** Sizes of batches, to be used over and over; none stands for one at a time. */
export const batchSizes: fc.Arbitrary<ReadonlyArray<number>> = fc.array(fc.integer({ min: 1, max: 8 }), {
  maxLength: 3,
})

/** The lists of an arbitrary, in batches. Shrinks to one item at a time. */
export const batched = <A>(
  list: fc.Arbitrary<ReadonlyArray<A>>,
): fc.Arbitrary<ReadonlyArray<ReadonlyArray<A>>> =>
  fc.tuple(list, batchSizes).map(([items, sizes]) => inBatches(items, sizes))

/**
 * The interleaved steps of several concurrent workers, each step as the number of its worker. The steps of one worker
 * keep their order.
 */
export const interleaving = (stepsOfEach: ReadonlyArray<number>): fc.Arbitrary<ReadonlyArray<number>> => {
  const turns = stepsOfEach.flatMap((steps, who) => Array.from({ length: steps }, () => who))
  return fc
    .array(fc.nat(), { minLength: turns.length, maxLength: turns.length })
    .map((keys) => keys.map((key, at) => [key, turns[at]!] as const))
    .map((keyed) => keyed.toSorted(([one], [other]) => one - other).map(([, who]) => who))
}
