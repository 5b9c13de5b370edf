/** `memfold lab FILE…` */
import { Args, Options } from "@effect/cli"
import {
  inThisThread,
  page,
  type Progress,
  reference,
  type Report,
  run,
  startWorkers,
  WorkerError,
} from "@memfold/lab"
import type { Strategy } from "@memfold/core"
import { Console, Effect, Option } from "effect"
import { writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { strategies, type UnknownName } from "@memfold/catalog"
import type { TranscriptError } from "../transcript/Transcript.js"
import { labWorker } from "../installation.js"
import { UsageError } from "../command/failure.js"
import * as options from "../command/options.js"
import { clean, columns, progress, progressDone, several, printJson } from "../terminal/terminal.js"
import { type SetupArguments, setupOf } from "./setup.js"
import { labConversations } from "./conversations.js"
import { labPrices, presetNames } from "./prices.js"
import { labRecords } from "./records.js"
import { screen } from "./screen.js"

const policy = options.repeatedText(
  "policy",
  "POLICY",
  `A policy to try; may be repeated. A strategy (${[...strategies.keys()].join(", ")}), with settings as in rounds:full_context_turns=4,cached_context_turns=2, or a module of yours that exports strategies: ./mine.mjs, ./mine.mjs#name. By default, all strategies.`,
)

const prices = options.repeatedText(
  "prices",
  "NAME|FILE",
  `What tokens cost; may be repeated: ${presetNames.join(", ")}, or a JSON file.`,
)

const summarizer = options
  .text("summarizer", "NAME|FILE", "The summarizer: extractive, echo, or a module of yours that exports one.")
  .pipe(Options.withDefault("extractive"))

const askInContext = options.flag(
  "ask-in-context",
  "Charge for a summarizer that asks in context: while the cache is alive, the summarizer reads the context from it.",
)

const recall = options
  .integer(
    "recall",
    "TOKENS",
    "How many tokens a search on demand may find for a question; only for files with questions.",
  )
  .pipe(Options.withDefault(1_000))

const autoRecall = options.optionalInteger(
  "auto-recall",
  "TOKENS",
  "Try every policy a second time, with contexts that recall messages for the newest user message: at most this many tokens.",
)

const workers = options.optionalInteger(
  "workers",
  "N",
  "How many threads replay; by default, one for each core, and one in all for a few short files. The result is the same.",
)

const pageFile = options.optionalText(
  "page",
  "FILE.html",
  "Write the report as a page with curves, too: one file that opens offline.",
)

const written = (file: string, text: string): Effect.Effect<void, UsageError> =>
  Effect.tryPromise({
    // A new page is for its owner alone, as every file that is written about conversations.
    try: () => writeFile(file, text, { mode: 0o600 }),
    catch: (error) =>
      new UsageError({
        problem: `--page ${file}: it cannot be written (${error instanceof Error && "code" in error ? error.code : "unknown error"})`,
      }),
  })

/** With fewer messages to replay (over all policies), threads gain little: each has to load and warm up. */
const fewMessages = 2_000

const told = ({ done, total, conversation, policy }: Progress): void =>
  progress(`${done} of ${total}: ${conversation}${policy === undefined ? "" : ` with ${policy}`}`)

const requireFrom1 = (option: string, value: number): Effect.Effect<void, UsageError> =>
  value >= 1
    ? Effect.void
    : new UsageError({ problem: `${option} ${value} is not allowed; allowed: whole numbers from 1` })

/** What can be wrong with a call, or go wrong in it. */
type WrongCall = UsageError | UnknownName | Strategy.SettingsError | TranscriptError | WorkerError

export const command = options.command(
  "lab",
  "Replay transcripts under several policies and report side by side what each costs at a provider that caches prompts, and what it keeps.",
  {
    files: Args.text({ name: "FILE" }).pipe(Args.atLeast(1)),
    policy,
    prices,
    ...options.strategySettings,
    summarizer,
    askInContext,
    recall,
    autoRecall,
    workers,
    format: options.format,
    pick: options.pick,
    skipDamaged: options.skipDamaged,
    inputLimit: options.inputLimit,
    page: pageFile,
    json: options.json,
  },
  (given): Effect.Effect<void, WrongCall> =>
    Effect.gen(function* () {
      yield* requireFrom1("--recall", given.recall)
      if (Option.isSome(given.autoRecall)) yield* requireFrom1("--auto-recall", given.autoRecall.value)
      if (Option.isSome(given.workers)) yield* requireFrom1("--workers", given.workers.value)
      const setupArguments: SetupArguments = {
        policies: given.policy,
        set: given.set,
        settings: yield* options.readSettings(given.settings),
        environmentPrefix: given.environmentPrefix,
        summarizer: given.summarizer,
        askInContext: given.askInContext,
        autoRecall: Option.getOrNull(given.autoRecall),
      }
      const setup = yield* setupOf(setupArguments)
      const charged = yield* labPrices(given.prices)
      const conversations = yield* labConversations(given.files, given)

      const messages = conversations.reduce((sum, one) => sum + one.messages.length, 0)
      const replays = conversations.length * (1 + setup.policies.length)
      const few = messages * (1 + setup.policies.length) < fewMessages
      const size = Math.min(
        Option.getOrElse(given.workers, () => (few ? 1 : availableParallelism())),
        replays,
      )
      const report = yield* Effect.acquireUseRelease(
        Effect.sync(() =>
          size === 1
            ? {
                ...inThisThread({ ...setup, policies: [reference, ...setup.policies] }),
                close: async () => {},
              }
            : startWorkers({ module: labWorker(), size, data: setupArguments }),
        ),
        (executor): Effect.Effect<Report, WorkerError> =>
          Effect.tryPromise({
            try: () =>
              run({
                ...setup,
                conversations,
                prices: charged,
                recallTokens: given.recall,
                executor,
                onProgress: told,
              }),
            catch: (error) => error,
          }).pipe(Effect.catchAll((error) => (error instanceof WorkerError ? error : Effect.die(error)))),
        ({ close }) => Effect.zipRight(Effect.sync(progressDone), Effect.promise(close)),
      )
      for (const { name, failures, firstFailure } of report.policies) {
        if (firstFailure === null) continue
        const first = `${several(failures, "compaction")} failed, and the messages stayed; the first: ${firstFailure}`
        yield* Console.error(clean(`memfold: ${name}: ${first}`))
      }
      if (Option.isSome(given.page)) yield* written(given.page.value, page(report))
      yield* given.json ? printJson(labRecords(report)) : Console.log(screen(report, columns()))
    }).pipe(options.limited(given.inputLimit)),
)
