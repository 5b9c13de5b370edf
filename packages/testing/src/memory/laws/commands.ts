/** L4: whatever is done with a memory, it knows what was said. */
import * as fc from "fast-check"
import { summarizers } from "../../fakes/summarizers.js"
import { type Law, makeLaw } from "../../law/Law.js"
import { memoryCommands, runCommands } from "../commands.js"
import type { MemoryKit } from "../input.js"
import { inWorld } from "../world.js"

export const modelLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L4",
    name: "whatever is done, it knows what was said",
    explanation:
      "Appends, compactions, restarts, reverts, redactions and looks into the past, in any order, against a memory\n" +
      "that keeps everything: each message is covered or raw, none is lost or doubled, and the past stays what it was.",
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
        const reopen = () => world.open({ strategy, compaction, summarizer: summarizers.get(summarizer)!() })
        await runCommands(commands, { world, reopen, memory: await reopen() })
      }),
  })
