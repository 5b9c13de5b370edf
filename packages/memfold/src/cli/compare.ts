/** `memfold compare FILE…` */
import { Args, Command } from "@effect/cli"
import { InMemoryEventLog, type Memory, type Message, Strategy, type Summarizer } from "@memfold/core"
import { Console, Effect, Option, Stream } from "effect"
import { strategies } from "../parts.js"
import { type EndStep, replay, type Totals } from "../replay/replay.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { count, heading, percent, progress, progressDone, table, json as toJson } from "./terminal.js"
import { loadAll } from "./transcripts.js"

/** A strategy and its costs on one conversation. */
export interface Comparison {
  readonly strategy: Strategy.Strategy
  readonly totals: Totals
}

/**
 * All strategies, each with the settings that it knows. A setting that no strategy knows is an error; so is a value out
 * of range.
 */
export const allStrategies = (
  settings: Readonly<Record<string, unknown>>,
  file: unknown = {},
  environmentPrefix: string = Strategy.ownPrefix,
): Effect.Effect<ReadonlyArray<Strategy.Strategy>, UsageError | Strategy.SettingsError> =>
  Effect.gen(function* () {
    const definitions = [...strategies.values()]
    const unknown = Object.keys(settings).find((name) => !definitions.some(({ knows }) => knows(name)))
    if (unknown !== undefined) {
      const allowed = definitions.flatMap(({ defaults }) => Object.keys(defaults)).join(", ")
      return yield* new UsageError({ problem: `no strategy has a setting "${unknown}"; allowed: ${allowed}` })
    }
    return yield* Effect.forEach(definitions, ({ knows, resolve }) =>
      resolve({
        request: Object.fromEntries(Object.entries(settings).filter(([name]) => knows(name))),
        file,
        environment: process.env,
        environmentPrefix,
      }),
    )
  })

/** Replays a conversation with each strategy, each time in a new store in memory. */
export const compare = (
  messages: ReadonlyArray<Message.Message>,
  strategies: ReadonlyArray<Strategy.Strategy>,
  summarizer: Summarizer.Service,
): Effect.Effect<ReadonlyArray<Comparison>, Memory.MemoryError> =>
  Effect.forEach(strategies, (strategy) =>
    replay({ session: "compared", source: "", messages, strategy, summarizer }).pipe(
      Stream.tap((step) =>
        Effect.sync(() => {
          if (step._tag === "Message" && step.index % 50 === 0) {
            progress(`${strategy.name}: message ${step.index} of ${messages.length}`)
          }
        }),
      ),
      Stream.runLast,
      Effect.ensuring(Effect.sync(progressDone)),
      Effect.map((end): Comparison => ({
        strategy,
        totals: (Option.getOrThrow(end) as EndStep).totals,
      })),
      Effect.provide(InMemoryEventLog.layer),
    ),
  )

/** The share of prompt tokens that was saved, from 0 to 1. */
export const saving = ({ tokensSent, tokensIfRaw }: Totals): number =>
  tokensIfRaw === 0 ? 0 : 1 - tokensSent / tokensIfRaw

/** The comparison as a table. */
export const comparisonTable = (comparisons: ReadonlyArray<Comparison>): string => {
  const [first] = comparisons
  const raw = first?.totals.tokensIfRaw ?? 0
  return table(
    ["strategy", "compactions", "summarizer calls", "read by it", "tokens sent", "largest context", "saving"],
    [
      ...comparisons.map(({ strategy, totals }) => [
        strategy.name,
        count(totals.compactions),
        count(totals.summarizerCalls),
        count(totals.summarizerTokens),
        count(totals.tokensSent),
        count(totals.largestContext),
        percent(saving(totals)),
      ]),
      ["everything, always", "0", "0", "0", count(raw), "", percent(0)],
    ],
    ["left", "right", "right", "right", "right", "right", "right"],
  )
}

const record = (file: string, { strategy, totals }: Comparison) => ({
  type: "comparison",
  file,
  strategy: strategy.name,
  ...totals,
  saving: saving(totals),
})

export const command = Command.make(
  "compare",
  {
    files: Args.text({ name: "FILE" }).pipe(Args.atLeast(1)),
    set: options.set,
    settings: options.settings,
    environmentPrefix: options.environmentPrefix,
    summarizer: options.summarizer,
    format: options.format,
    pick: options.pick,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      const settings = yield* options.parseSettings(given.set)
      const chosen = yield* allStrategies(
        settings,
        yield* options.readSettings(given.settings),
        given.environmentPrefix,
      )
      const summarizer = yield* options.summarizerOf(given.summarizer)
      const conversations = yield* loadAll(given.files, given)
      yield* Effect.forEach(conversations, ({ file, messages, broken }) =>
        Effect.gen(function* () {
          if (broken !== null) return yield* broken
          const comparisons = yield* compare(messages, chosen, summarizer)
          const lines = given.json
            ? comparisons.map((one) => toJson(record(file, one)))
            : [heading(`${file}: ${count(messages.length)} messages`), comparisonTable(comparisons)]
          yield* Effect.forEach(lines, (line) => Console.log(line), { discard: true })
        }),
      )
    }),
).pipe(Command.withDescription("Run every strategy on the same transcript and compare the costs."))
