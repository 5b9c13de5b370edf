/** A worker over shards: `node worker.js STORE QUEUE`. The worker of the command line takes one store. */
import { Dispatcher, Memory, Message, Summarizer } from "@memfold/core"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import * as PgBoss from "@memfold/worker-pg-boss"
import { Effect, Logger, LogLevel } from "effect"
import { shardsIn, strategy } from "./talk.js"

const [store = "", url = ""] = process.argv.slice(2)

let calls = 0
/** It takes a moment, and fails four times in a row now and then: more often than a compaction tries. */
const summarizer: Summarizer.Service = {
  name: "load",
  summarize: ({ session, messages }) =>
    Effect.zipRight(
      Effect.sleep(20 + ((calls * 37) % 180)),
      Effect.suspend(() => {
        if (++calls % 25 < 4)
          return new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "503" })
        const orders = messages.flatMap((one) => /order chat-\d+\/\d+/.exec(Message.text(one)) ?? [])
        return Effect.succeed({ text: `they talked about orders, the last one is ${orders.at(-1)}` })
      }),
    ),
}

await Effect.gen(function* () {
  const queue = yield* PgBoss.make({ url })
  const memory = yield* Memory.make({
    strategy: RollingBuffer(strategy.settings),
    compaction: { mode: "dispatch", lease: "5 seconds", concurrency: 8 },
  }).pipe(
    Effect.provideService(Dispatcher.Dispatcher, queue),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )
  yield* Dispatcher.work(queue, memory, { concurrency: 8, sweepEvery: "10 seconds" })
  process.stderr.write("the worker is ready\n")
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(shardsIn(store)),
  Logger.withMinimumLogLevel(LogLevel.None),
  Effect.runPromise,
)
