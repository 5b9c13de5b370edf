/** `memfold studio [STORE | FILE…]`: the page that shows what the model saw, over a store or over transcripts. */
import { Args, Options } from "@effect/cli"
import { defaultStrategy, type UnknownName, withoutSecrets } from "@memfold/catalog"
import type { Strategy } from "@memfold/core"
import { Console, Effect, Option } from "effect"
import { basename } from "node:path"
import { type OpenedInput, openInput } from "../studio/openInput.js"
import { clean, color, count, percent, progress, progressDone, several } from "../terminal/terminal.js"
import type { UsageError } from "./failure.js"
import * as options from "./options.js"
import { served, studioPage } from "./serve.js"

const openedAs = ({ store, sessions }: OpenedInput): string =>
  typeof store === "string"
    ? clean(withoutSecrets(store))
    : `${several(sessions.length, "conversation")}, in memory: what you change there ends with this process`

/** Shows how far a file is replayed: each percent once. */
const tellReplayed = () => {
  let shown = ""
  return (file: string, messages: number, of: number): void => {
    const share = percent(messages / of, 0)
    if (share === shown) return
    shown = share
    progress(`${basename(file)}: ${count(messages)} of ${several(of, "message")} replayed (${share})`)
  }
}

export const command = options.command(
  "studio",
  "Show in a page what the model saw: sessions, contexts, summaries, tokens.",
  {
    operands: Args.text({ name: "STORE|FILE" }).pipe(
      Args.repeated,
      Args.withDescription(
        "A store (its URL or SQLite file), or transcripts and folders of them; the shipped samples without any.",
      ),
    ),
    port: options
      .integer("port", "N", "The port; 4711 by default, 0 for a free one.")
      .pipe(Options.withDefault(4711)),
    readOnly: options.flag("read-only", "Let the page read, and not write."),
    strategy: options.strategy.pipe(Options.withDefault(defaultStrategy)),
    ...options.strategySettings,
    summarizer: options.summarizer,
    inputLimit: options.inputLimit,
  },
  ({
    operands,
    port,
    readOnly,
    ...given
  }): Effect.Effect<void, UsageError | UnknownName | Strategy.SettingsError> =>
    Effect.gen(function* () {
      const site = yield* studioPage
      const strategy = yield* options.chosenStrategy(given.strategy, given)
      const summarizer = yield* options.summarizerOf(given.summarizer)
      const onFile = (file: string) => {
        progressDone()
        if (operands.length > 0) process.stderr.write(`memfold: reading ${clean(file)}\n`)
      }
      const input = yield* openInput(operands, {
        strategy,
        summarizer,
        onFile,
        onReplayed: tellReplayed(),
      }).pipe(Effect.ensuring(Effect.sync(progressDone)))
      yield* Effect.forEach(input.unread, (line) => Console.error(`memfold: ${clean(line)}`))
      const settings = {
        ...((yield* options.readSettings(given.settings)) as object),
        ...(yield* options.parseSettings(given.set)),
      }
      yield* served(
        {
          store: typeof input.store === "string" ? yield* options.servedStore(input.store) : input.store,
          port,
          strategy: given.strategy,
          settings,
          // What is changed on the page is stored where it was read from.
          ...(Option.isSome(given.settings) ? { settingsFile: given.settings.value } : {}),
          environmentPrefix: given.environmentPrefix,
          summarizer: given.summarizer,
          readOnly,
          // Who asks is who waits: a comparison of a long session takes minutes on a slow machine.
          timeout: "10 minutes",
          site,
          log: "error",
        },
        (url) =>
          `${color.green("memfold studio")} of ${openedAs(input)}\n` +
          `  ${url}/studio/\n` +
          color.dim("  Only this machine reaches it. To end it: Ctrl+C"),
      )
    }).pipe(Effect.scoped, options.limited(given.inputLimit)),
)
