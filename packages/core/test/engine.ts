/** Memories for tests: a log of their own, a summarizer that says what it covers. */
import { Effect, Layer } from "effect"
import { CurrentSummarizer, type EventLog, InMemoryEventLog, Memory, type Summarizer } from "../src/index.js"

/** Writes nothing but the range it was asked to cover. */
export const echo: Summarizer.Service = {
  name: "echo",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})` }),
}

/** Runs a program with a memory over a fresh log in memory. */
export const withMemory = (
  options: Memory.Options,
  summarizer: Summarizer.Service = echo,
): Layer.Layer<Memory.Memory | EventLog.EventLog> =>
  Memory.layer(options).pipe(
    Layer.provideMerge(InMemoryEventLog.layer),
    Layer.provide(Layer.succeed(CurrentSummarizer, summarizer)),
  )
