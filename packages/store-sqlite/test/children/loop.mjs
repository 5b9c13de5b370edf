/**
 * `loop.mjs FILE NAME APPENDS`: once told to go, appends to the session `one` without a pause, tells when it has made
 * APPENDS appends, goes on until it is told to stop, then prints how many there were and how many failed.
 */
import {
  EchoSummarizer,
  Keep,
  Memory,
  Message,
  Strategy,
  Summarizer,
  SummaryMode,
  Trigger,
} from "@memfold/core"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { layer } from "../../src/index.js"
import { heard, say } from "./engine.mjs"

const [filename, name, appends] = process.argv.slice(2)

const strategy = Strategy.make({
  name: "none",
  when: Trigger.backlog({ messages: 1_000 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})

const program = Effect.flatMap(Memory.Memory, (memory) =>
  Effect.promise(async () => {
    await Effect.runPromise(memory.context("one"))
    say("ready")
    await once(heard, "line")
    const stop = new AbortController()
    heard.once("line", () => stop.abort())
    let count = 0
    let failed = 0
    while (!stop.signal.aborted) {
      const done = await Effect.runPromiseExit(memory.append("one", Message.user(`${name}.${count}`)))
      if (done._tag === "Failure") failed++
      else count++
      if (count + failed === Number(appends)) say("enough")
    }
    say(`${count} ${failed}`)
  }),
)
await program.pipe(
  Effect.provide(
    Memory.layer({ strategy, compaction: { mode: "off" } }).pipe(
      Layer.provide([layer({ filename }), Layer.succeed(Summarizer.Summarizer, EchoSummarizer.make())]),
    ),
  ),
  Effect.runPromise,
)
heard.close()
