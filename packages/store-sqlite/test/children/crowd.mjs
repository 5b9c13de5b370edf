/**
 * `crowd.mjs FILE NAME APPENDS NEXT...`: for each session, `NEXT` is the number of the append to go on with, up to
 * `APPENDS`. All sessions are written to at the same time, every third append has two messages, and each
 * acknowledgement is a line: session, number, idempotency key, and the index of the first message. An append has the same
 * idempotency key in every life of this process, so an append whose acknowledgement was lost is sent again safely.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, name, appends, ...next] = process.argv.slice(2)

// What a killed process was compacting is taken over soon.
await run({ filename, lease: "1 second" }, (memory) => {
  const talk = (session, first) =>
    Effect.gen(function* () {
      for (let number = first; number < Number(appends); number++) {
        const parts = number % 3 === 2 ? ["begin", "end"] : ["all"]
        const idempotencyKey = `${name}-${number}`
        const { from } = yield* memory.append(
          `s${session}`,
          parts.map((part) => Message.user(`${name}.${number}.${part}`)),
          { idempotencyKey },
        )
        say(`${session} ${number} ${idempotencyKey} ${from}`)
        yield* pause
      }
      // What is due is summarized before this process ends, and with it what runs in its background.
      yield* memory.compact(`s${session}`, { which: "due" })
    })
  return Effect.all(
    next.map((first, session) => talk(session, Number(first))),
    { concurrency: "unbounded" },
  )
})
heard.close()
say("done")
