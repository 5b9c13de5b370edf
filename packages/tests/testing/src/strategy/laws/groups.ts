/** No boundary cuts a group, and no context has an orphan (L5: groups stay whole). */
import { failOn, type Law } from "../../law/Law.js"
import { orphanFinding } from "../../oracle/context.js"
import type { Kit } from "../input.js"
import { checkCompactions } from "./tail.js"

export const groupLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L5",
    name: "no boundary splits a group",
    explanation:
      "An assistant message with tool calls and everything up to the last result is covered whole or stays whole:\n" +
      "providers refuse a call without its result, and a result without its call.",
    holds: (input, rehearse) => checkCompactions("L5", rehearse(input)),
  }),
  law({
    id: "L5",
    name: "no context has a tool call without its result, or a result without its call",
    explanation: "Each call is followed by its results, and each result answers a call right before it.",
    holds: (input, rehearse) => {
      for (const { context, state } of rehearse(input).moments) {
        failOn(orphanFinding(context), () => `with ${state.total} messages`)
      }
    },
  }),
]
