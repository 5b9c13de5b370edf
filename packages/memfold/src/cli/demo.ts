/** `memfold demo`: the tour that `npm start` gives. */
import { Command, Options } from "@effect/cli"
import { EventLog, type Memory, type Strategy } from "@memfold/core"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Console, Effect, Option } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { dirname, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { allStrategies, compare, comparisonTable } from "./compare.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { contextRecord } from "./records.js"
import { runJob } from "./replay.js"
import { color, heading, several } from "./terminal.js"
import { loadAll } from "./transcripts.js"

/** A conversation that ships with the package, and the strategy that suits it. */
interface Tour {
  readonly file: string
  readonly about: string
  readonly strategy: Strategy.Strategy
}

/** A window small enough for the samples to fill it; the default is that of today's large models. */
const contextLimit = 16_000

const sample = (name: string): string => fileURLToPath(new URL(`../../samples/${name}`, import.meta.url))

const tours: ReadonlyArray<Tour> = [
  {
    file: sample("support-zh.jsonl"),
    about: "A customer of a coffee shop, over four days, in Chinese. Strategy: a sliding window of messages.",
    strategy: SlidingWindow(),
  },
  {
    file: sample("coding-agent.jsonl"),
    about: `A coding agent with tool calls. Strategy: compact at 70 % of a window of ${contextLimit} tokens.`,
    strategy: SplitTurn({ contextLimit }),
  },
]

const run = promisify(execFile)

/** The messages of a session as another process reads them from the file. */
const messagesElsewhere = (session: string, store: string) =>
  Effect.tryPromise({
    try: async () => {
      const program = fileURLToPath(new URL("../../bin/memfold.js", import.meta.url))
      const args = [program, "context", session, "--store", store, "--json"]
      const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
      return JSON.stringify((JSON.parse(stdout) as { readonly messages: unknown }).messages)
    },
    catch: (error) => new UsageError({ problem: `the store could not be opened again: ${String(error)}` }),
  })

const tour = (
  { file, about, strategy }: Tour,
  store: string,
): Effect.Effect<string, Error | Memory.MemoryError, EventLog.EventLog> =>
  Effect.gen(function* () {
    const [loaded] = yield* loadAll([file], { format: "auto", pick: Option.none() })
    if (loaded === undefined) return yield* new UsageError({ problem: `${file} is missing from the package` })
    const log = yield* EventLog.EventLog
    yield* log.delete(loaded.session)
    yield* Console.log(`\n${color.bold("━".repeat(72))}\n${about}`)
    const summarizer = yield* options.summarizerOf("extractive")
    const named = { ...loaded, file: relative(process.cwd(), file) }
    const end = yield* runJob({ loaded: named, session: loaded.session, strategy, summarizer }, false)

    yield* Console.log(
      heading(`The strategies on this conversation (context window of ${contextLimit} tokens)`),
    )
    yield* Console.log(
      comparisonTable(yield* compare(loaded.messages, yield* allStrategies({ contextLimit }), summarizer)),
    )

    const here = JSON.stringify(contextRecord("openai", end.context).messages)
    const there = yield* messagesElsewhere(loaded.session, store)
    yield* Console.log(heading("Opened again by a new process"))
    if (here !== there)
      return yield* new UsageError({ problem: "the context read from the file is another one" })
    yield* Console.log(
      color.green(`✓ the same context: ${several(end.context.messages.length, "message")}, byte for byte`),
    )
    return loaded.session
  })

export const command = Command.make(
  "demo",
  {
    file: Options.text("file").pipe(
      Options.withPseudoName("PATH"),
      Options.withDefault(".memfold/demo.db"),
      Options.withDescription("The database file of the tour."),
    ),
  },
  ({ file }) =>
    Effect.gen(function* () {
      yield* Effect.sync(() => mkdirSync(dirname(file), { recursive: true }))
      const store = `sqlite:${file}`
      const layer = yield* options.openStore(store)
      const sessions = yield* Effect.forEach(tours, (one) => tour(one, store)).pipe(Effect.provide(layer))
      const session = sessions[0] ?? ""
      yield* Console.log(heading("Next"))
      yield* Console.log(
        [
          `The sessions are in ${color.bold(file)}. Look inside:`,
          `  npx memfold context ${session} --store ${store}`,
          `  npx memfold events ${session} --store ${store} | head`,
          `  npx memfold verify --store ${store}`,
          "Replay a conversation of yours, or compare the strategies on it:",
          "  npx memfold replay my-chat.json --strategy rounds",
          "  npx memfold compare my-chat.json",
        ].join("\n"),
      )
    }),
).pipe(Command.withDescription("A tour: replay the shipped conversations and show everything that happens."))
