/**
 * A strategy: when to compact, what stays, how much goes, and how it is folded. It is data and pure functions;
 * the engine does the rest, the same for every strategy.
 */
import { Either, ParseResult, Schema } from "effect"
import type { Wording } from "../summary/Wording.js"
import { conversationSummary } from "../summary/Wording.js"
import type { SummaryMode } from "./SummaryMode.js"
import type { Keep } from "./Keep.js"
import type { ToolNotes } from "./ToolNotes.js"
import type { Pin } from "./Pin.js"
import type { Prune } from "./Prune.js"
import type { Split } from "./Split.js"
import { all as wholeBacklog, type BatchSize } from "./BatchSize.js"
import type { Trigger } from "./Trigger.js"

/** How a strategy wants its contexts to look. */
export interface ContextStyle {
  /** The summary as a message. */
  readonly wording: Wording
  /**
   * At most so many raw messages in a context. It bites only while compaction is off or failing; what is left
   * out is named in the layout as a gap.
   */
  readonly maxMessages?: number
}

/** A memory policy. Make one with {@link make}. */
export interface Strategy {
  /** A name for the log and for people. */
  readonly name: string
  readonly when: Trigger
  readonly keep: Keep
  readonly batchSize: BatchSize
  readonly summaryMode: SummaryMode
  readonly split?: Split
  /** What is pinned as it comes in. */
  readonly pin?: Pin
  /** Which tool outputs are shortened along with a compaction. Where several rules fit, the last one holds. */
  readonly prune?: ReadonlyArray<Prune>
  /** What is noted down from tool calls as they are compacted. */
  readonly toolNotes?: ToolNotes
  readonly context: ContextStyle
}

/**
 * Composes a strategy. `batchSize` defaults to the whole backlog, the wording to `[Conversation Summary]`.
 *
 * @example
 * ```ts
 * import { BatchSize, Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"
 *
 * export const nightly = Strategy.make({
 *   name: "nightly",
 *   when: Trigger.any(Trigger.idle("8 hours"), Trigger.backlog({ messages: 200 })),
 *   keep: Keep.lastTurns(2),
 *   batchSize: BatchSize.all,
 *   summaryMode: SummaryMode.rolling,
 * })
 * ```
 */
export const make = (
  options: Omit<Strategy, "batchSize" | "context"> & {
    readonly batchSize?: BatchSize
    readonly context?: Partial<ContextStyle>
  },
): Strategy => ({
  batchSize: wholeBacklog,
  ...options,
  context: { wording: conversationSummary, ...options.context },
})

/** A setting is missing, unknown, or out of its range. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  strategy: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Strategy "${this.strategy}": ${this.detail}`
  }
}

/**
 * Where settings come from; of several that name a setting, the first here has it. What none of them names has its
 * default.
 */
export interface Sources {
  /** What was asked for: in camelCase, in snake_case, or by an alias. A name nobody knows is an error. */
  readonly request?: Readonly<Record<string, unknown>> | undefined
  /**
   * A settings file, parsed: its section for this strategy, where the definition names one and the file has it, or
   * the whole of it. Names nobody knows are passed over, since files outlive the programs that wrote them.
   */
  readonly file?: unknown
  /** Environment variables, where the definition names some. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
}

/**
 * A family of strategies with settings: a function from settings to a strategy, and what a settings file or a
 * command line needs to know about it.
 */
export interface Definition<Settings> {
  (settings?: Partial<Settings>): Strategy
  readonly strategyName: string
  /** The names of the settings, with their defaults. */
  readonly defaults: Settings
  /** Whether a name, in whatever spelling, is one of the settings. */
  readonly knows: (name: string) => boolean
  /** Reads settings of unknown origin: those of a request alone. */
  readonly decode: (settings: Readonly<Record<string, unknown>>) => Either.Either<Strategy, SettingsError>
  /** Reads settings from all sources there are. A value out of range is an error that says where it came from. */
  readonly resolve: (sources: Sources) => Either.Either<Strategy, SettingsError>
}

const camelCase = (name: string): string =>
  name.replace(/_+([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object at a path; the whole one when there is nothing there. */
const sectionOf = (file: Readonly<Record<string, unknown>>, path: ReadonlyArray<string>) => {
  let found: unknown = file
  for (const name of path) found = isObject(found) ? found[name] : undefined
  return isObject(found) ? found : file
}

/** In a file, `null` is how a setting is left out; none of them has it as a value. */
const said = (section: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(section).filter(([, value]) => value !== null))

/** Environment variables are text; what reads as a number is one. */
const ofText = (text: string): unknown =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text

/**
 * Defines a family of strategies. Called with settings out of range, it throws a {@link SettingsError}: that is
 * a mistake in a program; `decode` and `resolve` are for settings that come from outside.
 */
export const define = <Settings extends object, Encoded>(options: {
  readonly name: string
  /** Every setting has a default, so that `{}` is valid. */
  readonly settings: Schema.Schema<Settings, Encoded>
  /** Other names of settings, in camelCase. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Where a settings file has the settings, as a path of names. */
  readonly section?: ReadonlyArray<string>
  /** The environment variables that set something, each with the setting's name. */
  readonly environment?: Readonly<Record<string, string>>
  readonly make: (settings: Settings) => Strategy
}): Definition<Settings> => {
  const parse = Schema.decodeUnknownEither(options.settings)
  const refuse = (detail: string) => Either.left(new SettingsError({ strategy: options.name, detail }))
  const defaults = Either.getOrThrowWith(parse({}), (error) => error)
  const names = Object.keys(defaults)
  const aliases = options.aliases ?? {}
  const settingOf = (name: string): string | undefined => {
    const camel = camelCase(name)
    const alias = Object.hasOwn(aliases, camel) ? aliases[camel] : undefined
    return names.find((known) => known === (alias ?? camel))
  }
  /** The settings that are known, under their own names. */
  const known = (given: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => {
        const setting = settingOf(name)
        return setting === undefined || value === undefined ? [] : [[setting, value]]
      }),
    )

  const resolve: Definition<Settings>["resolve"] = ({ request = {}, file = {}, environment = {} }) => {
    const unknown = Object.keys(request).find((name) => settingOf(name) === undefined)
    if (unknown !== undefined) {
      return refuse(`there is no setting "${unknown}"; allowed: ${names.join(", ")}`)
    }
    if (!isObject(file)) return refuse("a settings file has to hold a JSON object")
    const fromEnvironment = Object.entries(options.environment ?? {}).flatMap(([variable, setting]) => {
      const text = environment[variable]
      return text === undefined || text.trim() === "" ? [] : [[setting, ofText(text)] as const]
    })
    const sources = [
      ["the environment", Object.fromEntries(fromEnvironment)],
      ["the settings file", known(said(sectionOf(file, options.section ?? [])))],
      ["the request", known(request)],
    ] as const
    return Either.mapBoth(parse(Object.assign({}, ...sources.map(([, settings]) => settings))), {
      onLeft: (error) => {
        const name = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path[0]
        const source = sources.findLast(([, settings]) => Object.hasOwn(settings, String(name)))?.[0]
        const where = source === undefined || source === "the request" ? "" : ` (in ${source})`
        return new SettingsError({ strategy: options.name, detail: explain(error) + where })
      },
      onRight: options.make,
    })
  }
  const decode = (request: Readonly<Record<string, unknown>>) => resolve({ request })
  const build = (settings: Partial<Settings> = {}) =>
    Either.getOrThrowWith(decode(settings as Readonly<Record<string, unknown>>), (error) => error)
  const knows = (name: string) => settingOf(name) !== undefined
  return Object.assign(build, { strategyName: options.name, defaults, knows, decode, resolve })
}

const explain = (error: ParseResult.ParseError): string => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  const path = issue?.path.map(String).join(".") ?? ""
  return `${path === "" ? "" : `${path}: `}${issue?.message ?? "the settings do not fit"}`
}
