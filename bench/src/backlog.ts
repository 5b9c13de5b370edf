/**
 * Measures an append while no compaction succeeds: the summarizer always fails, and the session grows to 100,000
 * uncovered messages. The reference is a session of 100 messages in the same run; only ratios are claims.
 */
import { InMemoryEventLog, Memory, Message, type Strategy, Summarizer } from "@memfold/core"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Effect, Logger, LogLevel } from "effect"
import { Bench } from "tinybench"

const sizes = [100, 100_000] as const

const turn = (index: number) => {
  const text = `Message ${index} of a long conversation; it is about as long as people's messages are on average.`
  return index % 2 === 0 ? Message.user(text) : Message.assistant(text)
}

const failing: Summarizer.Service = {
  name: "failing",
  summarize: ({ session }) =>
    Effect.fail(new Summarizer.SummarizerError({ session, reason: "refused", detail: "always" })),
}

const strategies: ReadonlyArray<Strategy.Strategy> = [
  SlidingWindow(),
  Rounds(),
  SplitTurn({ contextLimit: 2_000, pruneToolOutputs: "hard-clear" }),
]

/** Median milliseconds of an append of one message, decision included, to a session with `size` uncovered messages. */
const measure = (strategy: Strategy.Strategy, size: number): Promise<number> =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy, compaction: { mode: "inline", backOff: "1 hour" } })
    for (let from = 0; from < size; from += 1_000) {
      const count = Math.min(1_000, size - from)
      yield* memory.append(
        "s",
        Array.from({ length: count }, (_, position) => turn(from + position)),
      )
    }
    let index = size
    const bench = new Bench({ time: 1_000, warmupTime: 200 })
    const quiet = Logger.withMinimumLogLevel(LogLevel.None)
    bench.add("append", () => Effect.runPromise(memory.append("s", turn(index++)).pipe(quiet)))
    yield* Effect.promise(() => bench.run())
    const result = bench.getTask("append")?.result
    if (result?.state !== "completed") throw new Error("the measurement did not finish")
    return result.latency.p50
  }).pipe(
    Effect.scoped,
    Effect.provide(InMemoryEventLog.layer),
    Effect.provideService(Summarizer.Summarizer, failing),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.runPromise,
  )

/** Measures and prints. Returns whether every ratio is within the bound. */
export const backlog = async (bound: number): Promise<boolean> => {
  console.log("\nAn append while no summarizer works (in memory, inline; medians)")
  console.log(
    `${"uncovered".padEnd(18)}${sizes.map((size) => `${size.toLocaleString("en-US")}`.padStart(16)).join("")}`,
  )
  const ratios: Array<number> = []
  for (const strategy of strategies) {
    const [small = 0, large = 0] = [await measure(strategy, sizes[0]), await measure(strategy, sizes[1])]
    ratios.push(large / small)
    const cells = [`${small.toFixed(3)} ms`, `${large.toFixed(3)} ms`]
      .map((cell) => cell.padStart(16))
      .join("")
    console.log(`${strategy.name.padEnd(18)}${cells}${`${(large / small).toFixed(2)}×`.padStart(9)}`)
  }
  const worst = Math.max(...ratios)
  console.log(`largest ratio at 100,000 uncovered messages: ${worst.toFixed(2)}× (bound ${bound}×)`)
  return worst <= bound
}
