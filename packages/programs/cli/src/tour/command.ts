/** `memfold tour`, which `npm start` runs: one screen about a sample conversation, or every step with `--long`. */
import { Options } from "@effect/cli"
import { formatContext } from "@memfold/catalog"
import { EventLog, Memory, type Render } from "@memfold/core"
import { type Conversation, ofTranscript, run as runLab } from "@memfold/lab"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Console, Effect, Option, Stream } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { basename, dirname } from "node:path"
import { promisify } from "node:util"
import { programFile } from "../installation.js"
import { replay } from "../replay/replay.js"
import { UsageError } from "../command/failure.js"
import { shippedPolicies } from "../lab/setup.js"
import { labPrices } from "../lab/prices.js"
import { screen } from "../lab/screen.js"
import * as options from "../command/options.js"
import { runJob } from "../command/replay.js"
import { contextLimit, type Sample, sampleNamed, samples } from "./samples.js"
import { color, columns, count, heading, progress, progressDone, several } from "../terminal/terminal.js"
import { costLines, nextLines, sessionLines } from "./screen.js"
import { loadAll } from "../command/transcripts.js"

const run = promisify(execFile)

/** The messages of a session's context, read from the file by another process. */
const messagesElsewhere = (session: string, store: string) =>
  Effect.tryPromise({
    try: async () => {
      const args = [programFile(), "context", session, "--store", store, "--json"]
      const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
      return JSON.stringify((JSON.parse(stdout) as { readonly messages: unknown }).messages)
    },
    catch: (error) => new UsageError({ problem: `a new process could not read the store: ${String(error)}` }),
  })

/** Lets a new process read the context from the file. Fails unless it gets the same messages. */
const readAgain = (session: string, store: string, context: Render.Context) =>
  Effect.gen(function* () {
    const here = JSON.stringify(formatContext("openai", context).messages)
    if (here !== (yield* messagesElsewhere(session, store)))
      return yield* new UsageError({ problem: "a new process read a different context from the file" })
    const messages = several(context.messages.length, "message")
    return color.green(`✓ a new process read the same ${messages} from the file, byte for byte`)
  })

/** Loads the sample's messages and deletes its session, so a tour always starts empty. */
const prepared = ({ name, file }: Sample) =>
  Effect.gen(function* () {
    const [loaded] = yield* loadAll([file], { format: "auto", pick: Option.none() })
    if (loaded === undefined) return yield* new UsageError({ problem: `${file} is missing from the package` })
    const log = yield* EventLog.EventLog
    yield* log.delete(name)
    return { ...loaded, file: basename(file) }
  })

/** The shipped strategies on a conversation, with a context window that it can fill. */
const compared = (conversation: Conversation, prices: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const policies = yield* shippedPolicies({ contextLimit })
    const charged = yield* labPrices(prices)
    return yield* Effect.promise(() =>
      runLab({
        conversations: [conversation],
        policies,
        prices: charged,
        onProgress: ({ done, total, policy = "" }) => progress(`${done} of ${total} replays: ${policy}`),
      }),
    ).pipe(Effect.ensuring(Effect.sync(progressDone)))
  })

/** The prices of the screen; the lab takes any. */
const tourPrices = "claude-sonnet-5.5"

const print = (lines: ReadonlyArray<string>) => Console.log(lines.join("\n"))

/** One screen: replays the conversation silently, then shows what its log contains. */
const short = (
  sample: Sample,
  file: string,
  store: string,
): Effect.Effect<void, Error | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const { messages, source } = yield* prepared(sample)
    const { name, strategy } = sample
    const summarizer = yield* options.summarizerOf("extractive")
    yield* replay({ session: name, source, messages, strategy, summarizer }).pipe(
      Stream.runForEach((step) =>
        Effect.sync(() => {
          if (step._tag === "Message") progress(`replaying: message ${step.index} of ${messages.length}`)
        }),
      ),
      Effect.ensuring(Effect.sync(progressDone)),
    )
    const memory = yield* Memory.make({ strategy, compaction: { mode: "manual" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
    )
    const events = [...(yield* Stream.runCollect(memory.events(name)))]
    const context = yield* memory.context(name)
    const { appendedTokens: allTokens } = yield* memory.state(name)
    const toured = { sample, file, events, context, allTokens }
    yield* print(sessionLines(toured))
    yield* print([`  ${yield* readAgain(name, store, context)}`])
    yield* print(costLines(toured, yield* compared(ofTranscript(name, messages), [tourPrices])))
  }).pipe(Effect.scoped)

/** Every compaction with the messages around it, the context in full, and the comparison. */
const long = (
  sample: Sample,
  store: string,
): Effect.Effect<void, Error | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const loaded = yield* prepared(sample)
    const { name, strategy } = sample
    const summarizer = yield* options.summarizerOf("extractive")
    yield* print(["", color.bold("━".repeat(72)), `${sample.about}, strategy ${strategy.name}`])
    const { context } = yield* runJob({ loaded, session: name, strategy, summarizer }, false)
    yield* print([
      heading(`The strategies on this conversation (context window of ${count(contextLimit)} tokens)`),
      screen(yield* compared(ofTranscript(name, loaded.messages), []), columns()),
      heading("Opened again"),
      yield* readAgain(name, store, context),
    ])
  })

export const command = options.command(
  "tour",
  "Show on a shipped conversation when it is compacted, what the model gets, and what each strategy costs.",
  {
    long: options.flag("long", "Show every step, of all samples unless --sample names one."),
    sample: options.optionalText(
      "sample",
      "NAME",
      `The conversation to show: ${[...samples.keys()].join(", ")}.`,
    ),
    file: options
      .text("file", "PATH", "The SQLite file to write to; sessions named like the samples are replaced.")
      .pipe(Options.withDefault(".memfold/tour.db")),
  },
  (given) =>
    Effect.gen(function* () {
      const named = Option.isNone(given.sample) ? [] : [yield* sampleNamed(given.sample.value)]
      const all = [...samples.values()]
      const shown = named.length > 0 ? named : given.long ? all : all.slice(0, 1)
      const { file } = given
      yield* Effect.try({
        try: () => mkdirSync(dirname(file), { recursive: true }),
        catch: () => new UsageError({ problem: `--file ${file}: its folder cannot be made` }),
      })
      const store = `sqlite:${file}`
      const layer = yield* options.openStore(store)
      yield* Effect.forEach(
        shown,
        (sample) => (given.long ? long(sample, store) : short(sample, file, store)),
        { discard: true },
      ).pipe(Effect.provide(layer))
      const others = all.filter((sample) => !shown.includes(sample)).map(({ name }) => `--sample ${name}`)
      const session = shown[0]?.name ?? ""
      yield* print(["", ...nextLines(session, file, [given.long ? "" : "--long", ...others])])
    }),
)
