/** Options that several commands share. */
import { Command, HelpDoc, Options, ValidationError } from "@effect/cli"
import { withArchive } from "@memfold/archive"
import { EventLog, type Guard, Memory, Message, OptionGroup, Strategy, type Summarizer } from "@memfold/core"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Console, Effect, Either, Fiber, Layer, Option, Stream, type Types } from "effect"
import {
  byName,
  ignoredSettings,
  loading,
  optional,
  storeForms,
  storeLayer,
  storeSchemes,
  type StoreOptions,
  strategies,
  strategyNamed,
  summarizers,
  UnknownName,
  withoutSecrets,
} from "@memfold/catalog"
import { formats } from "../transcript/Transcript.js"
import { defaultLimit, InputLimit, largestLimit } from "../input/Input.js"
import { UsageError } from "./failure.js"
import { parsedFile } from "./parsedFile.js"
import { shardsIn } from "./shardsFile.js"
import { clean, firstOf, progress, progressDone, shownId } from "../terminal/terminal.js"

/** A command: what it is for, its options, and what it does. */
export const command = <const Name extends string, const Config extends Command.Command.Config, R, E>(
  name: Name,
  about: string,
  config: Config,
  run: (given: Types.Simplify<Command.Command.ParseConfig<Config>>) => Effect.Effect<void, E, R>,
) => Command.make(name, config, run).pipe(Command.withDescription(about))

/** An option with a text. `value` stands for it in the help, which says `about` beside it. */
export const text = (name: string, value: string, about: string): Options.Options<string> =>
  Options.text(name).pipe(Options.withPseudoName(value), Options.withDescription(about))

export const optionalText = (name: string, value: string, about: string) =>
  Options.optional(text(name, value, about))

/** An option that is one of some words. */
export const optionalChoice = <const Word extends string>(
  name: string,
  words: ReadonlyArray<Word>,
  about: string,
) => Options.choice(name, words).pipe(Options.withDescription(about), Options.optional)

/** Whose words summaries may have. */
export const trust = {
  trust: optionalChoice(
    "trust",
    ["together", "separate"],
    "separate: results of tools, documents and pages have a summary of their own, without authority.",
  ),
  minimumOrigin: optionalChoice(
    "minimum-origin",
    Message.Origin.literals,
    "The least trusted words that summaries and recalled messages in a context may have.",
  ),
}

/** Options that were given. */
export const given = <Given extends Readonly<Record<string, Option.Option<unknown>>>>(found: Given) =>
  Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : [])),
  ) as { [Key in keyof Given]?: Option.Option.Value<Given[Key]> }

/** What is left out before anything is stored. */
export const guard = optionalText(
  "guard",
  "KINDS",
  "What is left out of messages before they are stored, by @memfold/guard: some of secrets, cards, ibans, emails, phones, with commas.",
)

/** The guard for the kinds of an option: its package is one that only its users install. */
export const guardOf = (given: Option.Option<string>) =>
  Effect.transposeMapOption(given, (list) =>
    Effect.gen(function* () {
      const { guard, guardKinds } = yield* loading(() =>
        optional<{
          readonly guard: (options: { readonly kinds: ReadonlyArray<string> }) => Guard.BeforeAppend
          readonly guardKinds: ReadonlyArray<string>
        }>("@memfold/guard"),
      )
      const kinds = list.split(",").map((kind) => kind.trim())
      const wrong = kinds.find((kind) => !guardKinds.includes(kind))
      if (wrong !== undefined)
        return yield* new UnknownName({ kind: "kind for --guard", given: wrong, allowed: guardKinds })
      return guard({ kinds })
    }),
  )

export const repeatedText = (name: string, value: string, about: string) =>
  Options.repeated(text(name, value, about))

export const integer = (name: string, value: string, about: string): Options.Options<number> =>
  text(name, value, about).pipe(
    Options.mapEffect((given) =>
      /^-?\d+$/u.test(given)
        ? Effect.succeed(Number(given))
        : Effect.fail(
            ValidationError.invalidValue(HelpDoc.p(`--${name} is a whole number, not "${clean(given)}"`)),
          ),
    ),
  )

export const optionalInteger = (name: string, value: string, about: string) =>
  Options.optional(integer(name, value, about))

/** An option without a value. */
export const flag = (name: string, about: string): Options.Options<boolean> =>
  Options.boolean(name).pipe(Options.withDescription(about))

export const json = flag("json", "Print JSON Lines instead of text.")

/** A path stands for a SQLite file; a word that is the scheme of a store is none. */
const storeNamed = (given: string): string =>
  (given.includes(":") && !/^[a-z]:[\\/]/iu.test(given)) || [...storeSchemes, "sharded"].includes(given)
    ? given
    : `sqlite:${given}`

/** An option with a store: its URL, or the path of a SQLite file. */
export const storeText = (name: string, about: string): Options.Options<string> =>
  Options.map(text(name, "URL", about), storeNamed)

/** The form of a store over the shards of a file, which the command line has beside the shipped ones. */
const shardsForm = "sharded:FILE"

export const store = storeText(
  "store",
  `The store: the path of a SQLite file, or ${[...storeForms, shardsForm].join(", ")}.`,
)

export const archive = optionalText(
  "archive",
  "PLACE",
  "Where archived sessions and old events of the store are: a folder, or s3://BUCKET/PREFIX.",
)

/** A store that is read, and the archive behind it. To be handed to {@link existingStore} or {@link quietMemory}. */
export const stored = { store, archive }

export interface Stored {
  readonly store: string
  readonly archive?: Option.Option<string>
}

/** A store, with the archive that an option names behind it. */
export const behind = <E>(
  store: Layer.Layer<EventLog.EventLog, E | EventLog.LogError>,
  place: Option.Option<string>,
): Layer.Layer<EventLog.EventLog, E | EventLog.LogError> =>
  Option.match(place, { onNone: () => store, onSome: (archive) => withArchive(store, archive) })

export const owner = (about: string) => optionalText("owner", "ID", about)

export const set = repeatedText(
  "set",
  "key=value",
  "A setting of the strategy, in snake_case or camelCase; may be repeated.",
)

export const settings = optionalText("settings", "FILE", "A settings file (JSON); --set takes precedence.")

export const environmentPrefix = text(
  "env-prefix",
  "PREFIX",
  "What the environment variables with settings begin with, in place of MEMFOLD_.",
).pipe(Options.withDefault(Strategy.ownPrefix))

/** Where the settings of a strategy are. To be handed to {@link chosenStrategy}. */
export const strategySettings = { set, settings, environmentPrefix }

export interface StrategySettings {
  readonly set: ReadonlyArray<string>
  readonly settings: Option.Option<string>
  readonly environmentPrefix: string
}

export const format = text("format", "NAME", `The transcript's format: ${formats.join(", ")}.`).pipe(
  Options.withDefault("auto"),
)

export const pick = optionalInteger("pick", "N", "Which conversation of a file with several, counted from 0.")

export const skipDamaged = flag(
  "skip-damaged",
  "Leave out lines and entries that cannot be read, and name them; by default, they are an error.",
)

/** The name of an option on the command line. */
export const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The numbers of a command, with the help and the defaults that their group says. To be checked with {@link allowed}. */
export const numbers = <Group extends OptionGroup.OptionGroup>(group: Group) =>
  Object.fromEntries(
    Object.entries(group).map(([name, schema]) => {
      const { description = "", unit = "n", default: ofNone } = OptionGroup.saidOf(schema)
      const number = integer(dashed(name), unit.toUpperCase(), description)
      return [name, Options.withDefault(number, ofNone as number)]
    }),
  ) as { readonly [Name in keyof Group]: Options.Options<number> }

/** Fails at the first option of a group that is not allowed. Without a default, an option may be left out. */
export const allowed = (group: OptionGroup.OptionGroup, given: object): Effect.Effect<void, UsageError> => {
  const wrong = OptionGroup.wrongIn(group, given)
  return wrong === null
    ? Effect.void
    : new UsageError({ problem: `--${dashed(wrong.option)} is ${wrong.allowed}` })
}

const limits = {
  inputLimit: OptionGroup.numberOf({
    from: 1,
    to: largestLimit,
    unit: "MiB",
    default: defaultLimit,
    description: `The largest file that is read, in MiB; at most ${largestLimit}.`,
  }),
}

/** How much of a file is read. To be handed to {@link limited}. */
export const { inputLimit } = numbers(limits)

/** Runs a command that reads no more than so much of a file. */
export const limited =
  (inputLimit: number) =>
  <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E | UsageError, R> =>
    Effect.zipRight(allowed(limits, { inputLimit }), Effect.provideService(command, InputLimit, inputLimit))

export const strategy = text("strategy", "NAME", `The strategy: ${[...strategies.keys()].join(", ")}.`)

export const summarizer = text(
  "summarizer",
  "NAME",
  `The summarizer: ${[...summarizers.keys()].join(", ")}.`,
).pipe(Options.withDefault("extractive"))

export const summarizerOrFile = text(
  "summarizer",
  "NAME|FILE",
  "The summarizer: extractive, echo, or a module that exports one, such as ./summarizer.mjs.",
).pipe(Options.withDefault("extractive"))

/**
 * Parses `key=value` settings. Values that are numbers or booleans become such, everything else is text. `where` is what
 * stands before them on the command line, for errors.
 */
export const parseSettings = (
  given: ReadonlyArray<string>,
  where = "--set ",
): Effect.Effect<Readonly<Record<string, unknown>>, UsageError> =>
  Effect.reduce(given, {} as Record<string, unknown>, (settings, one) => {
    const split = one.indexOf("=")
    if (split < 1) return new UsageError({ problem: `${where}${one} is not of the form key=value` })
    const value = one.slice(split + 1).trim()
    return Effect.succeed({ ...settings, [one.slice(0, split).trim()]: settingValue(value) })
  })

const settingValue = (value: string): unknown => {
  if (value === "true" || value === "false") return value === "true"
  return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value
}

/** The parsed settings file; empty without one. What no strategy knows in it is named in a warning. */
export const readSettings = (file: Option.Option<string>): Effect.Effect<unknown, UsageError> =>
  Option.match(file, {
    onNone: () => Effect.succeed({}),
    onSome: (path) =>
      Effect.tap(parsedFile("--settings", path), (settings) => {
        const ignored = ignoredSettings(settings)
        return ignored === null
          ? Effect.void
          : Console.error(clean(`memfold: --settings ${path}: ${ignored}`))
      }),
  })

/** The named strategy, with its settings from all sources. */
export const chosenStrategy = (
  name: string,
  given: StrategySettings,
): Effect.Effect<Strategy.Strategy, UsageError | UnknownName | Strategy.SettingsError> =>
  Effect.gen(function* () {
    const request = yield* parseSettings(given.set)
    const file = yield* readSettings(given.settings)
    return yield* strategyNamed(name, { request, file, environmentPrefix: given.environmentPrefix })
  })

export const summarizerOf = (name: string): Effect.Effect<Summarizer.Service, UnknownName> =>
  byName("summarizer", summarizers, name)

/** A layer that says what it waits for, if a server takes its time to answer. */
const waitedFor = <A, E>(url: string, layer: Layer.Layer<A, E>): Layer.Layer<A, E> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const told = Effect.sync(() => progress(`waiting for ${withoutSecrets(url)}`))
      const telling = yield* Effect.fork(Effect.delay(told, "1 second"))
      return yield* Effect.ensuring(
        Layer.build(layer),
        Effect.zipRight(Fiber.interrupt(telling), Effect.sync(progressDone)),
      )
    }),
  )

/** The file of `sharded:FILE`; `null` for another store. */
const shardsFileOf = (url: string): string | null =>
  url.startsWith("sharded:") ? url.slice("sharded:".length) : null

/** A store as a service takes it: its URL, or the layer over the shards of a file. */
export const servedStore = (url: string) => {
  const file = shardsFileOf(url)
  return file === null ? Effect.succeed(url) : shardsIn("--store", file)
}

/**
 * The layer of a store. Commands that only read pass `create: false`: a wrong path is an error then. Shards are opened to be written to:
 * who looks for a session may have to end its move. The wait for a server is shorter than in an application, because a person is waiting.
 */
export const openStore = (
  url: string,
  options?: StoreOptions,
): Effect.Effect<Layer.Layer<EventLog.EventLog, EventLog.LogError>, UnknownName | UsageError> => {
  const file = shardsFileOf(url)
  if (file !== null) return Effect.map(shardsIn("--store", file), (layer) => waitedFor(url, layer))
  return Either.mapBoth(storeLayer(url, { retryFor: "3 seconds", ...options }), {
    onLeft: (error) => new UnknownName({ ...error, allowed: [...error.allowed, shardsForm] }),
    // What the commands do with it is print it.
    onRight: (layer) =>
      Layer.mapError(waitedFor(url, layer), (error) =>
        error._tag === "LogError"
          ? error
          : new EventLog.LogError({ operation: "open", reason: error.message }),
      ),
  })
}

/**
 * The layer of a store that must exist. It is not changed, unless `readonly` is `false`; with an archive, a session that is read comes
 * back into it.
 */
export const existingStore = (
  { store, archive = Option.none() }: Stored,
  { readonly = true } = {},
): Layer.Layer<EventLog.EventLog, EventLog.LogError | UnknownName | UsageError> => {
  const isRead = readonly && Option.isNone(archive)
  return behind(Layer.unwrapEffect(openStore(store, { create: false, readonly: isRead })), archive)
}

/** A memory over an existing store, which is only read by default. It does not compact, so its strategy and its summarizer do not matter. */
export const quietMemory = (
  stored: Stored,
  {
    readonly = true,
    layers = Layer.empty,
  }: { readonly readonly?: boolean; readonly layers?: Layer.Layer<never, never, EventLog.EventLog> } = {},
): Layer.Layer<Memory.Memory | EventLog.EventLog, EventLog.LogError | UnknownName | UsageError> =>
  Memory.layer({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
    Layer.provide([ExtractiveSummarizer.layer(), layers]),
    Layer.provideMerge(existingStore(stored, { readonly })),
  )

/** Fails unless the store has this session. The error lists sessions that it has. */
export const requireSession = (session: string, url: string) =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    if ((yield* log.head(session)) !== null) return
    const some = yield* EventLog.sessions(log).pipe(Stream.take(6), Stream.runCollect)
    const names = [...some].map((info) => shownId(info.session))
    const has = names.length === 0 ? "it has none" : `it has: ${firstOf(names)}`
    return yield* new UsageError({
      problem: `there is no session "${session}" in ${withoutSecrets(url)}; ${has}`,
    })
  })
