/** L5: no boundary cuts a group, and no context has an orphan. */
import { orphans } from "@memfold/core"
import { type Law, must } from "../../law/Law.js"
import { boundaries } from "../../oracle/groups.js"
import type { Kit } from "../input.js"

export const groupLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L5",
    name: "no boundary cuts a group",
    explanation:
      "An assistant message with tool calls, and everything up to the last result, is folded whole or stays whole:\n" +
      "providers refuse a call without its result, and a result without its call.",
    holds: (input, rehearse) => {
      const { decided, messages } = rehearse(input)
      for (const { total, from, to, parts } of decided) {
        const whole = boundaries(messages.slice(0, total))
        for (const position of [from, to, ...parts.map((part) => part.to)]) {
          must(
            whole.includes(position),
            () =>
              `with ${total} messages, [${from},${to}) is folded, and ${position} is inside a group of tool calls`,
          )
        }
      }
    },
  }),
  law({
    id: "L5",
    name: "no context has an orphan call or result",
    explanation: "Each call is followed by its results, and each result answers a call right before it.",
    holds: (input, rehearse) => {
      for (const { context, state } of rehearse(input).moments) {
        const [orphan] = orphans(context.messages)
        must(orphan === undefined, () => `with ${state.total} messages: ${orphan ?? ""}`)
      }
    },
  }),
]
