/**
 * How often the tests try: `quick`, before every commit, or `deep`, after a change of the engine (`npm run test:deep`). The
 * environment variable `MEMFOLD_TEST_DEPTH` says which. Both try every law and every store; counts differ.
 */
const depth = process.env["MEMFOLD_TEST_DEPTH"] ?? "quick"
if (depth !== "quick" && depth !== "deep") {
  throw new Error(`MEMFOLD_TEST_DEPTH is "${depth}"; it can be "quick" or "deep"`)
}

export const deep = depth === "deep"

/** A count of runs, seeds, processes or crashes: the first for a quick run, the second for a deep one. */
export const often = (quick: number, whenDeep: number): number => (deep ? whenDeep : quick)
