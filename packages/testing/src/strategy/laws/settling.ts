/** L9: compaction settles. */
import { type Law, must } from "../../law/Law.js"
import type { Kit } from "../input.js"

export const settlingLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L9",
    name: "compaction settles",
    explanation:
      "With no new message, deciding and compacting ends: a policy whose trigger is still due after its compaction\n" +
      "finds nothing left to take. Each step of one that does not end would cost a call of a model.",
    holds: (input, rehearse) => {
      const { endless } = rehearse(input)
      must(endless === null, () => `after ${endless} compactions without a new message, another one is due`)
    },
  }),
]
