/** `memfold worker`: compacts the sessions that a queue names, until it is stopped. */
import { Command, Options } from "@effect/cli"
import {
  type CompactionOutcome,
  Dispatcher,
  type EventLog,
  Memory,
  type Strategy,
  Summarizer,
} from "@memfold/core"
import { type OpenQueue, type QueueError, queueOf, type UnknownName } from "@memfold/catalog"
import { Console, Duration, Effect, type Layer } from "effect"
import { labSummarizer } from "../lab/modules.js"
import { clean, json as toJson } from "../terminal/terminal.js"
import { archive, behindOption } from "./archive.js"
import { lines, record } from "./compact.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { named, queue, queueName } from "./queue.js"
import { spend, spendOf } from "./spend.js"

/** Waits until the process is asked to end. A second signal ends it at once. */
const asked = Effect.async<void>((resume) => {
  const stop = () => {
    process.off("SIGINT", stop).off("SIGTERM", stop)
    resume(Effect.void)
  }
  process.on("SIGINT", stop).on("SIGTERM", stop)
  return Effect.sync(() => void process.off("SIGINT", stop).off("SIGTERM", stop))
})

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

interface Working {
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
  readonly concurrency: number
  /** In seconds, as `lease`. */
  readonly shutdown: number
  readonly lease: number
  /** In seconds; 0 for never. */
  readonly sweep: number
  readonly json: boolean
  readonly spend?: Memory.SpendOptions
}

/** Works for a queue until the process is asked to end. */
const working = (
  opened: OpenQueue,
  store: Layer.Layer<EventLog.EventLog, EventLog.LogError>,
  { strategy, summarizer, concurrency, shutdown, lease, sweep, json, ...caps }: Working,
): Effect.Effect<void, QueueError | EventLog.LogError> =>
  Effect.gen(function* () {
    const queue = yield* opened
    const memory = yield* Memory.make({
      strategy,
      compaction: { mode: "dispatch", lease: lease * 1_000, concurrency },
      ...caps,
    }).pipe(Effect.provideService(Dispatcher.Dispatcher, queue))
    yield* Dispatcher.work(queue, memory, {
      concurrency,
      shutdown: shutdown * 1_000,
      sweepEvery: sweep === 0 ? Duration.infinity : sweep * 1_000,
      onOutcomes: printed(json),
    })
    yield* Console.error("memfold: the worker is ready; Ctrl-C ends it")
    yield* asked
  }).pipe(Effect.scoped, Effect.provideService(Summarizer.Summarizer, summarizer), Effect.provide(store))

export const command = Command.make(
  "worker",
  {
    store: options.store,
    queue,
    queueName,
    strategy: options.strategy.pipe(Options.withDefault("break-even")),
    set: options.set,
    settings: options.settings,
    environmentPrefix: options.environmentPrefix,
    summarizer: options.summarizerOrFile,
    concurrency: Options.integer("concurrency").pipe(
      Options.withPseudoName("N"),
      Options.withDefault(8),
      Options.withDescription("How many sessions are compacted at once."),
    ),
    lease: Options.integer("lease").pipe(
      Options.withPseudoName("SECONDS"),
      Options.withDefault(30),
      Options.withDescription(
        "After how long another worker takes over when this one was killed; 1 to 3600.",
      ),
    ),
    shutdown: Options.integer("shutdown").pipe(
      Options.withPseudoName("SECONDS"),
      Options.withDefault(30),
      Options.withDescription("How long running compactions may take to end after SIGTERM or Ctrl-C."),
    ),
    sweep: Options.integer("sweep").pipe(
      Options.withPseudoName("SECONDS"),
      Options.withDefault(300),
      Options.withDescription(
        "How often the workers look at all sessions that were active since, for looks that were lost; 0 for never.",
      ),
    ),
    archive,
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
      const { concurrency, shutdown, lease, sweep } = given
      if (concurrency < 1) return yield* new UsageError({ problem: "--concurrency is a number, 1 or more" })
      if (lease < 1 || lease > 3_600)
        return yield* new UsageError({ problem: "--lease is a number of seconds from 1 to 3600" })
      if (shutdown < 0)
        return yield* new UsageError({ problem: "--shutdown is a number of seconds, 0 or more" })
      if (sweep < 0) return yield* new UsageError({ problem: "--sweep is a number of seconds, 0 or more" })
      const strategy = yield* options.chosenStrategy(given.strategy, given)
      const summarizer = yield* labSummarizer(given.summarizer)
      const caps = yield* spendOf(given)
      const opened = yield* options.openStore(given.store, { retryFor: "15 seconds" })
      const store = behindOption(opened, given.archive)
      const openQueue = yield* queueOf(given.queue, { ...named(given.queueName), lease: lease * 1_000 })
      const { json } = given
      const parts = { strategy, summarizer, concurrency, shutdown, lease, sweep, json, ...caps }
      yield* working(openQueue, store, parts)
    }),
).pipe(Command.withDescription("Compact the sessions that a queue names, until the process is ended."))
