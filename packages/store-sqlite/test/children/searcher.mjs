/**
 * `searcher.mjs FILE`: searches the session `s` with an index in parts of a few messages, drops it when it is whole, and
 * begins again. Each part that is written is a line.
 */
import { EventLog, FullTextIndex, Keep, Memory, Recall, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { Effect } from "effect"
import { make } from "../../src/index.js"
import { pause, say } from "./engine.mjs"

const strategy = Strategy.make({
  name: "never",
  when: Trigger.never,
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.drop,
})

await Effect.gen(function* () {
  const log = yield* make({ filename: process.argv[2] })
  const { fullText } = log
  const told = {
    ...fullText,
    write: (...args) => Effect.tap(fullText.write(...args), () => Effect.sync(() => say("part"))),
  }
  for (;;) {
    const memory = yield* Memory.make({ strategy, compaction: "off" }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(
        FullTextIndex.FullTextIndex,
        Recall.inStore(told, { eventsPerPart: 4, largestPart: 16 }),
      ),
    )
    yield* memory.recall("s", "alpha")
    yield* fullText.drop("s")
    yield* pause
  }
}).pipe(Effect.scoped, Effect.runPromise)
