/** The tail is never compacted; a policy that splits it compacts only its first part (L2). */
import { failOn, type Law, must } from "../../law/Law.js"
import { compactionFindings } from "../../oracle/compaction.js"
import { type Ask, overheard } from "../asks.js"
import type { Kit } from "../input.js"
import type { Rehearsal } from "../rehearse.js"

/** Checks every compaction of a rehearsal against a law about where compactions end. */
export const checkCompactions = (law: "L2" | "L5", { strategy, messages, decided }: Rehearsal): void => {
  for (const plan of decided) {
    const said = messages.slice(0, plan.total)
    failOn(compactionFindings(strategy, plan.before, plan.now, said, plan).find((one) => one.law === law))
  }
}

export const tailLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L2",
    name: "the tail is never compacted",
    explanation:
      "The messages that the policy keeps stay verbatim. Only a policy that splits tails may compact the first part\n" +
      "of a tail that is too large, as a turn prefix, and never the newest group.",
    holds: (input, rehearse) => checkCompactions("L2", rehearse(input)),
  }),
  law({
    id: "L2",
    name: "the strategy never asks for a summary of the tail",
    explanation:
      "`batchSize.to` returns the end of a compaction, at most the start of the tail. The engine stops it there\n" +
      "anyway, but a policy that relies on that does something other than it claims.",
    holds: (input, rehearse) => {
      const asks: Array<Ask> = []
      rehearse({ ...input, strategy: overheard(input.strategy, (ask) => asks.push(ask)) })
      for (const ask of asks) {
        must(ask.part !== "take" || !(ask.answer > ask.tailFrom), () =>
          ask.part === "take"
            ? `with ${ask.total} messages, "take" goes to ${ask.answer}, and the tail begins at ${ask.tailFrom}`
            : "",
        )
      }
    },
  }),
]
