/**
 * `opener.mjs`: for each line `TIME FILE` it hears, waits for that moment, opens the file, appends once to a
 * session of its own, and says what came of it.
 */
import { Message } from "@memfold/core"
import { heard, run, say } from "./engine.mjs"

say("ready")
for await (const line of heard) {
  const space = line.indexOf(" ")
  const [time, filename] = [Number(line.slice(0, space)), line.slice(space + 1)]
  // The moment itself is waited for at work, so that two processes meet within microseconds.
  while (Date.now() < time);
  const append = (memory) => memory.append(`process ${process.pid}`, Message.user("hello"))
  say(
    await run({ filename, busyTimeout: "10 seconds" }, append).then(
      () => "opened",
      (error) => String(error),
    ),
  )
}
