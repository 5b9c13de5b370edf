/** The memory that every second process uses: it compacts often, with a summarizer that takes a moment. */
import { Keep, Memory, Strategy, Summarizer, SummaryMode, Trigger } from "@memfold/core"
import { Effect, Layer, Logger } from "effect"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { setImmediate } from "node:timers/promises"
import { layer } from "../../src/index.js"

const strategy = Strategy.make({
  name: "often",
  when: Trigger.backlog({ messages: 6 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})

const echo = {
  name: "echo",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})` }).pipe(Effect.delay("2 millis")),
}

/** Runs a program with the memory of a file. */
export const run = ({ mode = "background", lease = "1 minute", hooks = {}, ...options }, program) =>
  Effect.flatMap(Memory.Memory, program).pipe(
    Effect.provide(
      Memory.layer({ strategy, compaction: { mode, lease, hooks } }).pipe(
        Layer.provide(layer(options)),
        Layer.provide(Layer.succeed(Summarizer.Summarizer, echo)),
      ),
    ),
    Effect.provide(Logger.remove(Logger.defaultLogger)),
    Effect.runPromise,
  )

/** Gives timers their turn: a loop of appends to a file is busy without a pause, and compactions wait. */
export const pause = Effect.promise(() => setImmediate())

const still = new Int32Array(new SharedArrayBuffer(4))

/** Writes a line that is out before this returns: nothing that was said is lost when the process is killed. */
export const say = (line) => {
  for (;;) {
    try {
      return void writeSync(1, `${line}\n`)
    } catch (error) {
      // The test has not read yet what was said before: a line is written as a whole, or not at all.
      if (error.code !== "EAGAIN") throw error
      Atomics.wait(still, 0, 0, 1)
    }
  }
}

/** What the test says to this process, line by line. */
export const heard = createInterface({ input: process.stdin })
