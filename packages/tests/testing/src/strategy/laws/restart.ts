/** A restart changes neither the state (L6) nor what is due (L9), checked on a whole memory. */
import { Effect } from "effect"
import { type Law, must, same } from "../../law/Law.js"
import { runOf, runSession } from "../../memory/run.js"
import type { Kit } from "../input.js"

export const restartLaws = ({ law, numRuns }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L6",
    name: "a restart changes nothing",
    explanation:
      "A memory opened again over the same log, from its snapshot, has the same state and the same context, and\n" +
      "nothing becomes due that was not due before.",
    // Whole memories take longer than rehearsals.
    numRuns: Math.ceil(numRuns / 4),
    holds: async ({ strategy, batches }) => {
      const { state, moments, reopened } = await runOf(strategy, batches)
      const [again, after, context] = await reopened((memory) =>
        Effect.all([
          memory.state(runSession),
          memory.compact(runSession, { which: "due" }),
          memory.context(runSession),
        ]),
      )
      same(again, state, () => "the state is another one")
      must(after.length === 0, () => `${after.length} compactions are due after the restart`)
      const last = moments.at(-1)
      if (last !== undefined) same(context, last.context, () => "the context is another one")
    },
  }),
]
