/** A failing summarizer loses no message (L8), and a failing log appends none twice (L12). */
import type { EventLog } from "@memfold/core"
import * as fc from "fast-check"
import { conversation } from "../../arbitrary/conversation.js"
import { faultScript } from "../../arbitrary/fault.js"
import { batched } from "../../arbitrary/interleaving.js"
import { faultyLog } from "../../fakes/faultyLog.js"
import { summarizers } from "../../fakes/summarizers.js"
import { type Law, makeLaw, same } from "../../law/Law.js"
import { picture } from "../../strategy/picture.js"
import { rehearse } from "../../strategy/rehearse.js"
import { checkSession, sameMessages } from "../checkSession.js"
import { appendAll, listOf, type MemoryKit, session } from "../input.js"
import { inWorld } from "../world.js"

/** Whatever a summarizer does, no message is lost. */
export const summarizerLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L8",
    name: "no failure of a summarizer loses a message or fails an append",
    explanation:
      "A summarizer that fails, dies, is slow, is cut off or writes too much leaves the messages uncovered. The append\n" +
      "succeeds, and the context has every message.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      summarizer: fc.constantFrom(...summarizers.keys()),
      batches: batched(conversation),
    }),
    describe: ({ strategy, summarizer, batches }) =>
      `${strategy.name}; ${summarizer}\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, summarizer, batches }) =>
      inWorld(options, async (world) => {
        const memory = await world.open({
          strategy,
          compaction: { mode: "inline" },
          summarizer: summarizers.get(summarizer)!(),
        })
        let total = 0
        for (const batch of batches) {
          const { from, to } = await world.run(memory.append(session, batch))
          same([from, to], [total, total + batch.length], () => `the answer to an append`)
          total = to
          const { state } = await checkSession(world, memory, session)
          same(state.total, total, () => "the number of messages")
        }
        sameMessages((await checkSession(world, memory, session)).read, batches.flat())
      }),
  })

/** Repeating an append after a lost answer appends nothing. */
export const lostAnswersLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L12",
    name: "a retried append is applied once",
    explanation:
      "Requests and answers between the memory and its log get lost or come late. A caller that repeats an append\n" +
      "with its idempotency key until it is acknowledged finds each message once, in order.",
    numRuns,
    arbitrary: fc.record({ strategy: strategies, faults: faultScript, batches: batched(conversation) }),
    describe: ({ strategy, faults, batches }) =>
      `${strategy.name}\nfaults ${JSON.stringify(faults)}\n${listOf(batches)}`,
    holds: ({ strategy, faults, batches }) =>
      inWorld(options, async (world) => {
        const wrapLog = (log: EventLog.Service) => faultyLog(log, faults)
        const memory = await world.open({ strategy, compaction: { mode: "inline" }, wrapLog })
        await world.run(appendAll(memory, batches, "w"))
        const reader = await world.open({ strategy, compaction: { mode: "manual" } })
        sameMessages((await checkSession(world, reader, session)).read, batches.flat())
      }),
  })
