/**
 * `opener.mjs`: for each line `TIME FILE` it hears, opens the file at that moment, closes it, and says what came
 * of it.
 */
import { Effect } from "effect"
import { make } from "../../src/index.js"
import { heard, say } from "./engine.mjs"

say("ready")
for await (const line of heard) {
  const space = line.indexOf(" ")
  const [time, filename] = [Number(line.slice(0, space)), line.slice(space + 1)]
  const open = Effect.scoped(make({ filename, synchronous: "normal", busyTimeout: "10 seconds" }))
  // The moment is waited for at work, so that two processes meet within microseconds.
  while (Date.now() < time);
  say(await Effect.runPromise(Effect.match(open, { onSuccess: () => "opened", onFailure: String })))
}
