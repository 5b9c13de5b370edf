/** Without new messages, compaction ends (L9). */
import { type Law, must } from "../../law/Law.js"
import type { Kit } from "../input.js"

export const settlingLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L9",
    name: "compaction ends",
    explanation:
      "Without a new message, deciding and compacting ends: a policy whose trigger is still due after its compaction\n" +
      "finds nothing left to take. If it never ended, every step would cost a model call.",
    holds: (input, rehearse) => {
      const { endless } = rehearse(input)
      must(endless === null, () => `after ${endless} compactions without a new message, another one is due`)
    },
  }),
]
