/** Checks that the strategy compacts at all: without compactions the other laws prove nothing. */
import * as fc from "fast-check"
import { type Law, makeLaw, must } from "../../law/Law.js"
import type { Kit } from "../input.js"

const tries = 60

export const workLaws = ({ inputs, rehearse }: Kit): ReadonlyArray<Law> => [
  makeLaw({
    id: "L0",
    name: "long conversations are compacted",
    explanation:
      "Not one of the numbered laws, but without it the others prove nothing: some generated conversations have to be\n" +
      "long enough for the strategy. Give `options` with settings small enough for twenty messages, or longer\n" +
      "`conversations`.",
    numRuns: 1,
    replay: "seed",
    arbitrary: fc.noShrink(fc.array(inputs, { minLength: tries, maxLength: tries })),
    holds: (some) => {
      const isCompacted = some.some((input) => rehearse(input).decided.length > 0)
      must(isCompacted, () => `none of ${tries} conversations was compacted`)
    },
    describe: (some) => `${some[0]?.label ?? ""}: ${tries} conversations, of which none was compacted`,
  }),
]
