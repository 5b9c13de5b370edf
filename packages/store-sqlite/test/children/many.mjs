/**
 * `many.mjs FILE NAME COUNT SESSION...`: once told to go, appends so many messages to each session, all sessions
 * at the same time.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, name, count, ...sessions] = process.argv.slice(2)

say("ready")
await once(heard, "line")
await run({ filename }, (memory) =>
  Effect.forEach(
    sessions,
    (session) =>
      Effect.forEach(Array.from({ length: Number(count) }), (_, index) =>
        Effect.zipRight(memory.append(session, Message.user(`${name}.${index}`)), pause),
      ),
    { concurrency: "unbounded", discard: true },
  ),
)
heard.close()
say("done")
