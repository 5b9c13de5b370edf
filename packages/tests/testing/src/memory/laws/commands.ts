/** A memory knows every message, after any sequence of operations (L4: no message is lost). */
import * as fc from "fast-check"
import { summarizers } from "../../fakes/summarizers.js"
import { type Law, makeLaw } from "../../law/Law.js"
import { memoryCommands, runCommands } from "../commands.js"
import type { MemoryKit } from "../input.js"
import { inWorld } from "../world.js"

export const modelLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L4",
    name: "after any operations the memory knows every message",
    explanation:
      "Appends, compactions, restarts, reverts, redactions and reads of the past, in any order, against the\n" +
      "messages that were appended: each is covered or uncovered, none is lost or doubled, and the past does not change.",
    numRuns,
    replay: "seed",
    arbitrary: fc.record({
      strategy: strategies,
      compaction: fc.constantFrom("manual" as const, "inline" as const),
      summarizer: fc.constantFrom(...summarizers.keys()),
      commands: memoryCommands(),
    }),
    describe: ({ strategy, compaction, summarizer, commands }) =>
      [
        `${strategy.name}; compaction ${compaction}, summarizer ${summarizer}`,
        ...[...commands].map(String),
      ].join("\n"),
    holds: ({ strategy, compaction, summarizer, commands }) =>
      inWorld(options, async (world) => {
        const reopen = () =>
          world.open({
            strategy,
            compaction: { mode: compaction },
            summarizer: summarizers.get(summarizer)!(),
          })
        await runCommands(commands, { world, reopen, memory: await reopen() })
      }),
  })
