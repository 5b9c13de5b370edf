/**
 * A consumer of a load run: `node consumer.js STORE`. It is one of a group, and says each event before the group goes on behind it, as
 * `SESSION VERSION`. A server that is gone comes back.
 */
import { createMemory } from "memfold"
import { setTimeout } from "node:timers/promises"
import { storeIn } from "./talk.js"

const memory = createMemory({ store: storeIn(process.argv[2] ?? ""), compaction: { mode: "off" } })
for (;;)
  try {
    await memory.consume(
      "load",
      (events) => console.log(events.map(({ session, version }) => `${session} ${version}`).join("\n")),
      { lease: "5 seconds" },
    )
  } catch {
    await setTimeout(500)
  }
