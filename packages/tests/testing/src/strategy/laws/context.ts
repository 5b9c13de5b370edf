/** Contexts show every message (L4), past ones do not change (L10), and they grow by appending (L13). */
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
      "Pinned messages are also shown before the summary.",
    holds: (input, rehearse) => {
      for (const { state, context } of rehearse(input).moments) {
        failOn(layoutFinding(state, context), () => `with ${state.total} messages`)
      }
    },
  }),
  law({
    id: "L4",
    name: "a context loses, repeats and moves no message",
    explanation:
      "Messages that the layout calls pinned or raw are in the context word for word, once and in order, with the\n" +
      "summary between them. Tool results may move to follow their calls.",
    holds: (input, rehearse) => {
      for (const { state, context } of rehearse(input).moments) {
        failOn(contentsFinding(state, context), () => `with ${state.total} messages`)
      }
    },
  }),
  law({
    id: "L10",
    name: "every past version can be rendered",
    explanation:
      "Events never change: folding them up to any version gives the state of that time, and rendering that state\n" +
      "gives the context that was sent.",
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
      "Each context is a prefix of the next one, which lets the provider's prompt cache hit. Only a compaction or a\n" +
      "cap on uncovered messages may change the prefix.",
    holds: (input, rehearse) => {
      const { moments, events, strategy } = rehearse(input)
      failOn(growthFinding(strategy, events, moments))
    },
  }),
]
