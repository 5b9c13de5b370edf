/** L4, L10 and L13: what contexts show, now and of the past. */
import { Session } from "@memfold/core"
import { failOn, type Law, same } from "../../law/Law.js"
import { contentsFinding, growthFinding, layoutFinding } from "../../oracle/context.js"
import type { Kit } from "../input.js"

export const contextLaws = ({ law, render }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L4",
    name: "every message is either covered or uncovered",
    explanation:
      "The layout of a context has each message once: in the summary, verbatim, in the gap that a cap leaves, or open.\n" +
      "Pinned messages stand before the summary besides.",
    holds: (input, rehearse) => {
      for (const { state, context } of rehearse(input).moments) {
        failOn(layoutFinding(state, context), () => `with ${state.total} messages`)
      }
    },
  }),
  law({
    id: "L4",
    name: "nothing that is shown is lost, doubled or moved",
    explanation:
      "What the layout calls pinned or raw is in the context word for word, once, and in order; the summary stands\n" +
      "between them. Results may move, behind the calls they answer.",
    holds: (input, rehearse) => {
      for (const { state, context } of rehearse(input).moments) {
        failOn(contentsFinding(state, context), () => `with ${state.total} messages`)
      }
    },
  }),
  law({
    id: "L10",
    name: "every version of the past can be rendered",
    explanation:
      "Events are never changed: folding them up to any version gives the state there was, and rendering it the\n" +
      "context that was sent.",
    holds: (input, rehearse) => {
      const { moments, events, strategy } = rehearse(input)
      for (const { state, context } of moments) {
        const again = Session.fold(Session.empty("s"), events.slice(0, state.version))
        same(
          render(again, strategy.context),
          context,
          () => `the context of version ${state.version}, with ${state.total} messages, is another one now`,
        )
      }
    },
  }),
  law({
    id: "L13",
    name: "between compactions a context only grows",
    explanation:
      "Each context is a prefix of the next one: then the provider's prompt cache hits. A compaction may change it,\n" +
      "and so may a cap on uncovered messages.",
    holds: (input, rehearse) => {
      const { moments, events, strategy } = rehearse(input)
      failOn(growthFinding(strategy, events, moments))
    },
  }),
]
