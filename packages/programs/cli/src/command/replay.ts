/** `memfold replay FILE…` */
import { Args, Options } from "@effect/cli"
import type { EventLog, Memory, Strategy, Summarizer } from "@memfold/core"
import { Console, Effect, Option, Stream } from "effect"
import { type EndStep, type MessageStep, replay } from "../replay/replay.js"
import { contextLines, layoutTable } from "./contextView.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { compactionRecord, contextRecord, prunedRecord, totalsRecord } from "./records.js"
import { clean, count, heading, percent, several, json as toJson, printLines } from "../terminal/terminal.js"
import { Timeline } from "./timeline.js"
import { type Loaded, loadAll } from "./transcripts.js"

export interface Job {
  readonly loaded: Loaded
  readonly session: string
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
}

const jsonLines = (step: MessageStep | EndStep): ReadonlyArray<string> => {
  const records: ReadonlyArray<object> =
    step._tag === "Message"
      ? step.outcomes.flatMap((outcome) =>
          outcome._tag === "Committed"
            ? [compactionRecord(step.index, outcome)]
            : outcome._tag === "Pruned"
              ? [prunedRecord(step.index, outcome)]
              : [],
        )
      : [contextRecord("openai", step.context), totalsRecord(step.totals)]
  return records.map((record) => toJson(record))
}

/** The sums as a sentence. */
export const totalsLine = ({ totals }: EndStep): string =>
  `${several(totals.messages, "message")}, ${several(totals.compactions, "compaction")}; ` +
  `${count(totals.tokensSent)} tokens sent instead of ${count(totals.tokensIfRaw)}` +
  (totals.tokensIfRaw === 0 ? "" : `, ${percent(1 - totals.tokensSent / totals.tokensIfRaw)} saved`)

const textLines = (timeline: Timeline, step: MessageStep | EndStep): ReadonlyArray<string> =>
  step._tag === "Message"
    ? timeline.add(step)
    : [
        ...timeline.flush(),
        heading("The context the model gets now"),
        layoutTable(step.context),
        "",
        ...contextLines(step.context),
        heading("Total"),
        totalsLine(step),
      ]

/** Replays one conversation and prints it. Returns the last step. */
export const runJob = (
  { loaded, session, strategy, summarizer }: Job,
  json: boolean,
): Effect.Effect<EndStep, UsageError | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const timeline = new Timeline()
    if (!json) yield* Console.log(heading(`${loaded.file} → session "${session}" (${strategy.name})`))
    const { messages, source } = loaded
    const last = yield* replay({ session, source, messages, strategy, summarizer }).pipe(
      Stream.tap((step) => printLines(json ? jsonLines(step) : textLines(timeline, step))),
      Stream.tap((step) =>
        step._tag === "Message"
          ? Effect.forEach(step.outcomes, (outcome) =>
              outcome._tag === "Failed"
                ? Console.error(clean(`memfold: ${outcome.error.message}`))
                : Effect.void,
            )
          : Effect.void,
      ),
      Stream.runLast,
    )
    if (loaded.broken !== null) {
      const kept = `the ${several(loaded.messages.length, "message")} before that place were appended to session "${session}"`
      return yield* new UsageError({ problem: `${loaded.broken.message}; ${kept}` })
    }
    const end = Option.getOrThrow(last) as EndStep
    if (end.totals.skipped > 0) {
      const skipped = several(end.totals.skipped, "message")
      yield* Console.error(
        clean(`memfold: ${skipped} of ${loaded.file} were in session "${session}" from an earlier replay`),
      )
    }
    return end
  })

export const command = options.command(
  "replay",
  "Append a transcript message by message, at the messages' own times, and show each compaction.",
  {
    files: Args.text({ name: "FILE" }).pipe(Args.atLeast(1)),
    strategy: options.strategy.pipe(Options.withDefault("sliding-window")),
    ...options.strategySettings,
    store: options.store.pipe(Options.withDefault("memory:")),
    session: options.optionalText(
      "session",
      "ID",
      "The session to append to; by default each file gets a session of its own name.",
    ),
    summarizer: options.summarizer,
    format: options.format,
    pick: options.pick,
    skipDamaged: options.skipDamaged,
    inputLimit: options.inputLimit,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      const strategy = yield* options.chosenStrategy(given.strategy, given)
      const summarizer = yield* options.summarizerOf(given.summarizer)
      const layer = yield* options.openStore(given.store)
      const conversations = yield* loadAll(given.files, given)
      const twice = conversations.find(
        (one, index) => conversations.findIndex((other) => other.session === one.session) !== index,
      )
      if (twice !== undefined && Option.isNone(given.session)) {
        const problem = `two files have the session id "${twice.session}"; replay them one by one, or name one session with --session`
        return yield* new UsageError({ problem })
      }
      yield* Effect.forEach(
        conversations,
        (loaded) => {
          const session = Option.getOrElse(given.session, () => loaded.session)
          return runJob({ loaded, session, strategy, summarizer }, given.json)
        },
        { discard: true },
      ).pipe(Effect.provide(layer))
    }).pipe(options.limited(given.inputLimit)),
)
