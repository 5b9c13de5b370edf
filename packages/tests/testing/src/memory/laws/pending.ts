/** A compaction that becomes due while another one runs is not forgotten (L11). */
import { Policy } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { conversation } from "../../arbitrary/conversation.js"
import { batched } from "../../arbitrary/interleaving.js"
import { slow } from "../../fakes/summarizers.js"
import { type Law, makeLaw, must } from "../../law/Law.js"
import { picture } from "../../strategy/picture.js"
import { rehearse } from "../../strategy/rehearse.js"
import { checkSession } from "../checkSession.js"
import { type MemoryKit, session } from "../input.js"
import { inWorld } from "../world.js"

export const pendingLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L11",
    name: "a compaction that comes due during another one runs after it",
    explanation:
      "Messages arrive while the summarizer runs, and none afterwards. After the time that all compactions take,\n" +
      "nothing is due any more.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      batches: batched(conversation),
      passing: fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 20 }),
    }),
    describe: ({ strategy, batches, passing }) =>
      `${strategy.name}\ntime between the batches ${JSON.stringify(passing)}\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, batches, passing }) =>
      inWorld(options, async (world) => {
        const memory = await world.open({
          strategy,
          compaction: { mode: "background" },
          summarizer: slow("10 seconds"),
        })
        const { time } = world
        // The time of a message is the time it comes at: a policy that waits for a time is no matter of this law.
        const timeless = batches.map((batch) => batch.map(({ time: _at, ...message }) => message))
        for (const [position, batch] of timeless.entries()) {
          await world.run(memory.append(session, batch))
          await world.watch(time.advance(passing[position] ?? 0))
        }
        const total = timeless.flat().length
        await world.watch(
          Effect.gen(function* () {
            for (let step = 0; step <= total; step++) yield* time.advance(11_000)
          }),
        )
        const state = await world.run(memory.state(session))
        // At the time of the last decision: what the clock alone has made due since is not part of this law.
        const now = Math.max(state.lastCompactionTime ?? 0, state.lastMessageTime ?? 0)
        const decision = Policy.decide(strategy, state, { now })
        must(decision._tag === "Idle" && decision.reason !== "running", () =>
          decision._tag === "Due"
            ? `[${decision.plan.from},${decision.plan.to}) is due (${decision.plan.reason}), and it is never compacted`
            : "a compaction is still running",
        )
        await checkSession(world, memory, session)
      }),
  })
