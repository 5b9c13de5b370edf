/** Coverage starts at 0, has no holes, and never moves back (L3). */
import { failOn, type Law, must, same } from "../../law/Law.js"
import { readSession } from "../../oracle/session.js"
import { type Ask, malformed, overheard, wrongPlan } from "../asks.js"
import type { Kit } from "../input.js"

export const coverageLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L3",
    name: "coverage has no gaps and never shrinks",
    explanation:
      "The first compaction starts at message 0, and each further one where the last one ended. A message between\n" +
      "two would be lost; a message covered twice would be repeated.",
    holds: (input, rehearse) => {
      const { problems } = readSession(rehearse(input).events)
      const found = problems.find((problem) => problem.law === "L3")
      failOn(found, () => `at event ${found?.version}`)
    },
  }),
  law({
    id: "L3",
    name: "each segment of a summary covers the messages it claims",
    explanation:
      "Segments of a summary follow each other from 0 to where coverage ends; nothing but dropped messages is\n" +
      "without one.",
    holds: (input, rehearse) => {
      for (const { state } of rehearse(input).moments) {
        const segments = state.summary?.segments ?? []
        const ends = segments.map(({ to }) => to)
        same(
          segments.map(({ from }) => from),
          [0, ...ends].slice(0, segments.length),
          () => `with ${state.total} messages, the segments do not follow each other`,
        )
        const expected = input.strategy.summaryMode === "drop" ? 0 : state.coveredTo
        same(ends.at(-1) ?? 0, expected, () => `with ${state.total} messages, the segments end elsewhere`)
      }
    },
  }),
  law({
    id: "L3",
    name: "plans are consistent and contain valid indexes",
    explanation:
      "Message indexes are within the conversation, a reason is a text, and the parts of a plan follow each other\n" +
      "from its start to its end. `batchSize.to` never returns less than `coveredTo`.",
    holds: (input, rehearse) => {
      const asks: Array<Ask> = []
      const { decided } = rehearse({ ...input, strategy: overheard(input.strategy, (ask) => asks.push(ask)) })
      for (const ask of asks) {
        const wrong = malformed(ask)
        must(wrong === null, () => wrong ?? "")
        must(ask.part !== "take" || ask.answer >= ask.coveredTo, () =>
          ask.part === "take"
            ? `"batchSize" goes back to ${ask.answer}, and [0,${ask.coveredTo}) is covered`
            : "",
        )
      }
      for (const plan of decided) {
        const wrong = wrongPlan(plan, plan.before)
        must(wrong === null, () => `a plan with ${plan.total} messages: ${wrong}`)
      }
    },
  }),
]
