/**
 * Strategies: when to compact, what stays, how much goes at once, and how the summary is written. A strategy is data
 * and pure functions. The engine does everything else, in the same way for every strategy.
 */
import { Either, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import { closest, didYouMean } from "../options/closest.js"
import { type Wording, conversationSummary, material } from "../summary/Wording.js"
import type { Origin } from "@memfold/message/Message"
import type { SummaryMode } from "./SummaryMode.js"
import type { MergeBlocks, RecallBlocks, SummarySize } from "./SummarySize.js"
import type { Keep } from "./Keep.js"
import { checkArguments } from "../options/OptionGroup.js"
import { strategyParts } from "./parts.js"
import type { ToolNotes } from "./ToolNotes.js"
import type { Pin } from "./Pin.js"
import type { Prune } from "./Prune.js"
import type { Split } from "./Split.js"
import { all as wholeBacklog, type BatchSize } from "./BatchSize.js"
import type { Trigger } from "./Trigger.js"

/** How contexts are rendered. */
export interface ContextStyle {
  /** The wording of the summary as a message: heading, separators and role. */
  readonly wording: Wording
  /**
   * The most uncovered messages in a context, plus the rest of the group at its edge; no limit by default. Combine it with
   * a trigger that is due at this many uncovered messages. It only matters where nothing is going to cover the
   * others: compactions are off or run by hand, or the trigger does not ask for one. While a compaction runs or waits (for
   * a lease, after a failure or a revert), the context has all messages. The layout names messages that are left out: a `gap`.
   */
  readonly maxMessages?: number
  /**
   * Whether the facts of memory layers that were known at the last compaction stand in front of the summary; `false` by
   * default. Then all facts are among the messages, each before the user message that it was recalled for first, where they
   * change nothing that a provider's prompt cache has kept.
   */
  readonly factsInFront?: boolean
  /**
   * What summaries do with material: with the words of tools, documents and pages, which nobody in the conversation has said.
   *
   * - `together` (default): a segment is written of everything, and has the lowest origin of it
   * - `separate`: summarizers get material apart, in a call of its own. It stands apart from the summary, in a user message that says
   *   whose words these are, and so do facts and recalled messages that rest on material: no instruction in it comes back as the
   *   words of the user or the system
   */
  readonly trust?: Trust
  /** Contexts leave out summaries, material, facts and recalled messages of a lower origin than this; nothing by default. */
  readonly minimumOrigin?: Origin
}

/** Whether material is summarized together with what was said, or apart from it. */
export type Trust = "together" | "separate"

/** The wording of new summaries: with words around material if that stands apart. */
export const wordingOf = ({ wording, trust }: ContextStyle): Wording =>
  trust === "separate" && wording.material === undefined ? { ...wording, material } : wording

/** A memory policy. Make one with {@link make}, or a family with settings with {@link define}. */
export interface Strategy {
  /** A name for people; recorded with each compaction. */
  readonly name: string
  /** When a compaction is due. */
  readonly when: Trigger
  /** Which newest messages stay verbatim: the tail. */
  readonly keep: Keep
  /** How much of the backlog one compaction takes. */
  readonly batchSize: BatchSize
  /** How the summary is written. */
  readonly summaryMode: SummaryMode
  /** How long the segments are that a compaction writes. Without it, summarizers have sizes of their own. */
  readonly summarySize?: SummarySize
  /** When blocks are merged; only for the summary mode `blocks`. Without it, blocks are kept for ever. */
  readonly mergeBlocks?: MergeBlocks
  /** How many blocks contexts show; only for the summary mode `blocks`. Without it, they show all of them. */
  readonly recallBlocks?: RecallBlocks
  /** When and where a tail that is too large is split. Without it, the tail is never split. */
  readonly split?: Split
  /** Which messages are pinned when they are appended. */
  readonly pin?: Pin
  /** Which tool outputs a compaction shortens. If several rules match, the last one applies. */
  readonly prune?: ReadonlyArray<Prune>
  /** Which failures and files are noted from tool calls when they are compacted. */
  readonly toolNotes?: ToolNotes
  /**
   * The context window of the model, in tokens, if the strategy knows it. A summarizer that does not state a window of its own
   * gets no larger input: most often it is the same model.
   */
  readonly contextLimit?: number
  /** How contexts are rendered. */
  readonly context: ContextStyle
}

/**
 * Makes a strategy.
 *
 * @param options - The parts of the strategy. `batchSize` is the whole backlog by default, and the heading of the
 *   summary is `[Conversation Summary]`.
 * @throws InvalidOption: an argument is missing, or not allowed
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
): Strategy => {
  const given = Object.entries(options ?? {}).filter(([, part]) => part !== undefined)
  const needed = { name: null, when: null, keep: null, summaryMode: null }
  checkArguments("Strategy.make", strategyParts, { ...needed, ...Object.fromEntries(given) })
  return {
    batchSize: wholeBacklog,
    ...options,
    context: { wording: conversationSummary, ...options.context },
  }
}

/** A setting is unknown or out of range. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  strategy: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Strategy "${this.strategy}": ${this.detail}`
  }
}

/**
 * The sources of settings. If several sources have a setting, the first one in this order wins: request, file,
 * environment. A setting in none of them has its default.
 */
export interface Sources {
  /** The settings of a request, in camelCase, in snake_case, or by an alias. An unknown name is an error. */
  readonly request?: Readonly<Record<string, unknown>> | undefined
  /**
   * A parsed settings file. The definition's section is used if the file has it, and the whole file otherwise. Unknown
   * names are ignored, because files outlive the programs that wrote them; `unknownIn` returns them, so that a mistyped one can be
   * refused and any other be a warning.
   */
  readonly file?: unknown
  /** The environment variables. Only variables that the definition names are used, with the prefix before the name. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** What the names of the environment variables begin with; {@link ownPrefix} by default. */
  readonly environmentPrefix?: string | undefined
}

/** The prefix of memfold's own environment variables. Variables of other programs count only if you ask for them. */
export const ownPrefix = "MEMFOLD_"

/**
 * A setting: what it can be, its default, and what it is for, in a sentence that forms and documents show.
 *
 * @example
 * ```ts
 * import { Strategy } from "@memfold/core"
 * import { Schema } from "effect"
 *
 * export const Settings = Schema.Struct({
 *   keepMessages: Strategy.setting(Schema.NonNegativeInt, 20, "How many messages stay."),
 * })
 * ```
 */
export const setting = <A, I>(
  schema: Schema.Schema<A, I>,
  byDefault: NoInfer<A>,
  description: string,
): Schema.PropertySignature<":", A, never, "?:", I | undefined, true> =>
  Schema.optionalWith(schema, { default: () => byDefault }).annotations({ description })

/** The settings that these fields are: editors show the comment of each field. */
export type SettingsOf<Fields> = { readonly [Name in keyof Fields]: Schema.Schema.Type<Fields[Name]> }

/** What each setting is for, where that is said. */
const descriptionsOf = ({ ast }: Schema.Schema.AnyNoContext): Readonly<Record<string, string>> =>
  Object.fromEntries(
    SchemaAST.getPropertySignatures(SchemaAST.typeAST(ast)).map((one) => [
      one.name,
      Option.getOrElse(SchemaAST.getDescriptionAnnotation(one), () => ""),
    ]),
  )

/** A family of strategies: a function from settings to a strategy, with ways to read settings from outside. */
export interface Definition<Settings> {
  /**
   * Makes a strategy; settings that are missing have their defaults.
   *
   * @throws SettingsError for a setting that is unknown or out of range.
   */
  (settings?: Partial<Settings>): Strategy
  readonly strategyName: string
  /** The settings with their defaults. */
  readonly defaults: Settings
  /** The schema of the settings: which there are, and what each can be. */
  readonly settings: Schema.Schema<Settings, never>
  /** What each {@link setting} is for, in a sentence: for forms and documents. */
  readonly descriptions: Readonly<Record<string, string>>
  /** The path of names to the settings in a settings file; empty if the whole file has them. */
  readonly section: ReadonlyArray<string>
  /** Whether a name is a setting: in camelCase, in snake_case, or as an alias. */
  readonly knows: (name: string) => boolean
  /**
   * The names in a settings file that are no settings: in the definition's section if the file has it, otherwise in the
   * whole file.
   */
  readonly unknownIn: (file: unknown) => {
    readonly inSection: boolean
    readonly names: ReadonlyArray<string>
  }
  /** Makes a strategy from unchecked settings. Returns a `SettingsError` for a setting that is unknown or out of range. */
  readonly decode: (settings: Readonly<Record<string, unknown>>) => Either.Either<Strategy, SettingsError>
  /**
   * Makes a strategy from the settings of all sources. Returns a `SettingsError` for a value that is out of range, which
   * names its source, and for an unknown name in the request.
   */
  readonly resolve: (sources: Sources) => Either.Either<Strategy, SettingsError>
}

const camelCase = (name: string): string =>
  name.replace(/_+([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** The object at a path; `null` if the path is empty or there is no object. */
const sectionOf = (file: Readonly<Record<string, unknown>>, path: ReadonlyArray<string>) => {
  if (path.length === 0) return null
  let found: unknown = file
  for (const name of path) found = Predicate.isRecord(found) ? found[name] : undefined
  return Predicate.isRecord(found) ? found : null
}

/** Removes settings that are `null`: no setting has that value, and files use it to leave a setting out. */
const withoutNulls = (section: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(section).filter(([, value]) => value !== null))

/** The value of an environment variable: a number if it reads as one, otherwise the text. */
const ofText = (text: string): unknown =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text

/**
 * Defines a family of strategies with settings. Use `decode` or `resolve` of the result for settings that come from
 * outside: they return errors, while calling the result with a wrong setting throws.
 *
 * @param options - The name, the settings as a schema, where else settings may come from, and a function that makes a
 *   strategy from settings.
 *
 * @example
 * ```ts
 * import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { Schema } from "effect"
 *
 * export const Short = Strategy.define({
 *   name: "short",
 *   settings: Schema.Struct({
 *     keepMessages: Strategy.setting(Schema.NonNegativeInt, 20, "How many messages stay."),
 *   }),
 *   environment: { KEEP: "keepMessages" },
 *   make: ({ keepMessages }) =>
 *     Strategy.make({
 *       name: "short",
 *       when: Trigger.backlog({ messages: 10 }),
 *       keep: Keep.lastMessages(keepMessages),
 *       summaryMode: SummaryMode.rolling,
 *     }),
 * })
 *
 * console.log(Short({ keepMessages: 8 }).name, Short.resolve({ environment: { MEMFOLD_KEEP: "30" } }))
 * ```
 */
export const define = <Settings extends object, Encoded>(options: {
  readonly name: string
  /** The schema of the settings. Every {@link setting} needs a default: `{}` must be valid. */
  readonly settings: Schema.Schema<Settings, Encoded>
  /** Other names of settings, in camelCase, each with the setting's name. */
  readonly aliases?: Readonly<Record<string, string>>
  /** The path of names to the settings in a settings file. */
  readonly section?: ReadonlyArray<string>
  /** The environment variables that are read, without their prefix, each with the setting's name. */
  readonly environment?: Readonly<Record<string, string>>
  readonly make: (settings: Settings) => Strategy
}): Definition<Settings> => {
  const parse = Schema.decodeUnknownEither(options.settings)
  const refuse = (detail: string) => Either.left(new SettingsError({ strategy: options.name, detail }))
  const defaults = Either.getOrThrowWith(parse({}), (error) => error)
  const names = Object.keys(defaults)
  const { aliases = {}, section = [] } = options
  const settingOf = (name: string): string | undefined => {
    const camel = camelCase(name)
    const alias = Object.hasOwn(aliases, camel) ? aliases[camel] : undefined
    return names.find((known) => known === (alias ?? camel))
  }
  /** The known settings, under their own names. */
  const known = (given: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => {
        const setting = settingOf(name)
        return setting === undefined || value === undefined ? [] : [[setting, value]]
      }),
    )

  const resolve: Definition<Settings>["resolve"] = ({
    request = {},
    file = {},
    environment = {},
    environmentPrefix = ownPrefix,
  }) => {
    const unknown = Object.keys(request).find((name) => settingOf(name) === undefined)
    if (unknown !== undefined) {
      const meant = didYouMean(closest(unknown, names))
      return refuse(`there is no setting "${unknown}"; ${meant}allowed: ${names.join(", ")}`)
    }
    if (!Predicate.isRecord(file)) return refuse("a settings file must have a JSON object")
    const fromEnvironment = Object.entries(options.environment ?? {}).flatMap(([variable, setting]) => {
      const text = environment[environmentPrefix + variable]
      return text === undefined || text.trim() === "" ? [] : [[setting, ofText(text)] as const]
    })
    const sources = [
      ["the environment", Object.fromEntries(fromEnvironment)],
      ["the settings file", known(withoutNulls(sectionOf(file, section) ?? file))],
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
  const unknownIn: Definition<Settings>["unknownIn"] = (file) => {
    if (!Predicate.isRecord(file)) return { inSection: false, names: [] }
    const own = sectionOf(file, section)
    const found = own ?? file
    // An object is a section for another part: a settings file may have the sections of the whole program.
    const names = Object.keys(found).filter((name) => !knows(name) && !Predicate.isRecord(found[name]))
    return { inSection: own !== null, names }
  }
  return Object.assign(build, {
    strategyName: options.name,
    defaults,
    settings: options.settings as unknown as Schema.Schema<Settings, never>,
    descriptions: descriptionsOf(options.settings),
    section,
    knows,
    unknownIn,
    decode,
    resolve,
  })
}

const explain = (error: ParseResult.ParseError): string => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  const path = issue?.path.map(String).join(".") ?? ""
  return `${path === "" ? "" : `${path}: `}${issue?.message ?? "the settings do not fit"}`
}
