/**
 * `many.mjs FILE NAME SESSION COUNT SESSION COUNT...`: once told to go, appends COUNT messages to each SESSION,
 * all sessions at the same time.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, name, ...plan] = process.argv.slice(2)

say("ready")
await once(heard, "line")
await run({ filename, synchronous: "normal" }, (memory) => {
  const talk = (session, count) =>
    Effect.forEach(Array.from({ length: count }), (_, index) =>
      Effect.zipRight(memory.append(session, Message.user(`${name}.${index}`)), pause),
    )
  const sessions = plan.flatMap((session, at) => (at % 2 === 0 ? [talk(session, Number(plan[at + 1]))] : []))
  return Effect.all(sessions, { concurrency: "unbounded" })
})
heard.close()
say("done")
