/** `memfold worker`: compacts the sessions that a queue names, until it is stopped. */
import { Options } from "@effect/cli"
import {
  type CompactionOutcome,
  Dispatcher,
  type EventLog,
  Memory,
  OptionGroup,
  type Strategy,
  Summarizer,
} from "@memfold/core"
import { type QueueError, queueOf, type UnknownName } from "@memfold/catalog"
import { Console, Duration, Effect } from "effect"
import { labSummarizer } from "../lab/modules.js"
import { clean, json as toJson } from "../terminal/terminal.js"
import { lines, record } from "./compact.js"
import type { UsageError } from "./failure.js"
import * as options from "./options.js"
import { queue, queueName } from "./queue.js"
import { listening } from "./signals.js"
import { spend, spendOf } from "./spend.js"

const { numberOf } = OptionGroup

const printed =
  (json: boolean) =>
  (session: string, outcomes: ReadonlyArray<CompactionOutcome>): Effect.Effect<void> =>
    Effect.forEach(
      outcomes,
      (outcome) =>
        json
          ? Console.log(toJson(record(session, outcome)))
          : Console.log([clean(session), ...lines(outcome)].join("\n")),
      { discard: true },
    )

const numbers = {
  concurrency: numberOf({ from: 1, default: 8, description: "How many sessions are compacted at once." }),
  lease: numberOf({
    from: 1,
    to: 3_600,
    unit: "seconds",
    default: 30,
    description: "After how long another worker takes over when this one was killed; 1 to 3600.",
  }),
  shutdown: numberOf({
    from: 0,
    unit: "seconds",
    default: 30,
    description: "How long running compactions may take to end after SIGTERM or Ctrl-C.",
  }),
  sweep: numberOf({
    from: 0,
    unit: "seconds",
    default: 300,
    description:
      "How often the workers look at all sessions that were active since, for looks that were lost; 0 for never.",
  }),
}

export const command = options.command(
  "worker",
  "Compact the sessions that a queue names, until the process is ended.",
  {
    ...options.stored,
    queue,
    queueName,
    strategy: options.strategy.pipe(Options.withDefault("break-even")),
    ...options.strategySettings,
    summarizer: options.summarizerOrFile,
    ...options.numbers(numbers),
    ...options.trust,
    ...spend,
    json: options.json,
  },
  (
    given,
  ): Effect.Effect<
    void,
    UsageError | UnknownName | Strategy.SettingsError | QueueError | EventLog.LogError
  > =>
    Effect.gen(function* () {
      const { concurrency, shutdown, lease: leaseSeconds, sweep } = given
      const lease = leaseSeconds * 1_000
      yield* options.allowed(numbers, given)
      const strategy = yield* options.chosenStrategy(given.strategy, given)
      const summarizer = yield* labSummarizer(given.summarizer)
      const also = {
        ...(yield* spendOf(given)),
        ...options.given({ trust: given.trust, minimumOrigin: given.minimumOrigin }),
      }
      const opened = yield* options.openStore(given.store, { retryFor: "15 seconds" })
      const openQueue = yield* queueOf(given.queue, { ...options.given({ queue: given.queueName }), lease })
      yield* Effect.gen(function* () {
        const queue = yield* openQueue
        const asked = yield* listening
        const memory = yield* Memory.make({
          strategy,
          compaction: { mode: "dispatch", lease, concurrency },
          ...also,
        }).pipe(Effect.provideService(Dispatcher.Dispatcher, queue))
        yield* Dispatcher.work(queue, memory, {
          concurrency,
          shutdown: shutdown * 1_000,
          sweepEvery: sweep === 0 ? Duration.infinity : sweep * 1_000,
          onOutcomes: printed(given.json),
        })
        yield* Console.error("memfold: the worker is ready; Ctrl-C ends it")
        yield* asked
      }).pipe(
        Effect.scoped,
        Effect.provideService(Summarizer.Summarizer, summarizer),
        Effect.provide(options.behind(opened, given.archive)),
      )
    }),
)
