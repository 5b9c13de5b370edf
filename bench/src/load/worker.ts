/** A worker over shards: `node worker.js STORE QUEUE SUMMARIZER`, a file. The worker of the command line takes one store. */
import { Dispatcher, Memory, Message, Summarizer } from "@memfold/core"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import * as PgBoss from "@memfold/worker-pg-boss"
import { Effect, Logger, LogLevel } from "effect"
import { shardsIn, strategy } from "./talk.js"

const [store = "", url = "", file = ""] = process.argv.slice(2)
const { default: answer } = (await import(file)) as {
  readonly default: (asked: { readonly user: string }) => Promise<string>
}

const summarizer: Summarizer.Service = {
  name: "load",
  summarize: ({ session, messages }) =>
    Effect.tryPromise({
      try: () => answer({ user: messages.map(Message.text).join("\n") }),
      catch: () => new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "503" }),
    }).pipe(Effect.map((text) => ({ text }))),
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
