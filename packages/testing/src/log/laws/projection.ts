/** L1 in the store itself: its table of summaries has one active one. */
import { EventCodec, type EventLog, Session } from "@memfold/core"
import { Effect } from "effect"
import type { Batch } from "../../arbitrary/record.js"
import { batched } from "../../arbitrary/interleaving.js"
import { conversation } from "../../arbitrary/conversation.js"
import { strategy } from "../../arbitrary/strategy.js"
import { type Law, makeLaw, must, same } from "../../law/Law.js"
import { picture } from "../../strategy/picture.js"
import { rehearse } from "../../strategy/rehearse.js"
import { type LogKit, withLog } from "../input.js"
import * as fc from "fast-check"

const recordOf = ({
  at,
  event,
}: EventCodec.Recorded<Parameters<typeof EventCodec.encode>[0]>): EventLog.NewRecord => ({
  at,
  ...EventCodec.encode(event),
})

export const projectionLaws = ({ options: { projection }, numRuns }: LogKit): ReadonlyArray<Law> =>
  projection === undefined
    ? []
    : [
        makeLaw({
          id: "L1",
          name: "exactly one summary is active in the store's own table",
          explanation:
            "After each append, the table of summaries calls active what the fold of the log calls active: none before\n" +
            "the first commit, one afterwards.",
          numRuns: Math.min(numRuns, 30),
          arbitrary: fc.record({ strategy, batches: batched(conversation) }),
          describe: (input) => picture(rehearse(input.strategy, input.batches)),
          holds: async (input) => {
            const { events } = rehearse(input.strategy, input.batches)
            const { layer, active } = projection()
            await withLog(layer, (log) =>
              Effect.gen(function* () {
                let state = Session.empty("s")
                for (let from = 0; from < events.length;) {
                  // A commit and the mark on what it replaced are one batch, as the engine has it.
                  const size = events[from + 1]?.event._tag === "SummarySuperseded" ? 2 : 1
                  const some = events.slice(from, from + size)
                  const batch = some.map(recordOf) as unknown as Batch
                  yield* log.append("s", batch, { expected: from, commit: `c${from}` })
                  state = Session.fold(state, some)
                  from += size
                  if (some.every(({ event }) => event._tag === "MessageAppended")) continue
                  const found = yield* active("s")
                  must(found.length <= 1, () => `at version ${from}, ${found.length} summaries are active`)
                  same(
                    found,
                    state.summary === null ? [] : [state.summary.id],
                    () => `the active ones at version ${from}`,
                  )
                }
              }),
            )
          },
        }),
      ]
