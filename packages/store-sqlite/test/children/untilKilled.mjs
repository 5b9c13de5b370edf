/**
 * `untilKilled.mjs FILE SYNCHRONOUS ROUND`: once told to go, appends to two sessions until it is killed, in
 * batches of one, two, three messages and again from one, and says after each how many have been acknowledged.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, synchronous, round] = process.argv.slice(2)

say("ready")
await once(heard, "line")
// What a killed process was compacting is taken over soon.
await run({ filename, synchronous, lease: "50 millis" }, (memory) => {
  const talk = (session) =>
    Effect.gen(function* () {
      for (let count = 0, size = 1; ; size = (size % 3) + 1) {
        const batch = Array.from({ length: size }, () => Message.user(`${round}.${count++}`))
        yield* memory.append(session, batch)
        say(`${session} ${count}`)
        yield* pause
      }
    })
  return Effect.all([talk("one"), talk("two")], { concurrency: "unbounded" })
})
