/**
 * `forks.mjs FILE ROUND`: fills the session `one` and compacts it, unless another process has; then, once told to go, forks it
 * again and again, and replaces the last message of `edited`, until it is killed. It prints what
 * it begins and what is acknowledged.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, round] = process.argv.slice(2)

// Compactions that run in the writing call: none is under way when the forks begin, and a fork adds nothing to what it copies.
await run({ filename, mode: "inline" }, (memory) =>
  Effect.gen(function* () {
    if ((yield* memory.state("edited")).total > 0) return
    for (let at = 0; at < 300; at++) yield* memory.append("one", Message.user(`0.${at}`))
    yield* memory.append(
      "edited",
      Array.from({ length: 5 }, (_, at) => Message.user(`kept ${at}`)),
    )
  }),
)

await run({ filename, lease: "50 millis" }, (memory) =>
  Effect.gen(function* () {
    say("ready")
    yield* Effect.promise(() => once(heard, "line"))
    for (let count = 0; ; count++) {
      const name = `${round}.${count}`
      say(`forking ${name}`)
      yield* memory.fork("one", `copy ${name}`)
      say(`forked ${name}`)
      yield* pause
      say(`editing ${name}`)
      yield* memory.rewrite("edited", (messages) => [...messages.slice(0, 4), Message.user(name)])
      say(`edited ${name}`)
      yield* pause
    }
  }),
)
