/**
 * A strategy: when to compact, what stays, how much goes, and how it is folded. It is data and pure functions;
 * the engine does the rest, the same for every strategy.
 */
import { Either, ParseResult, Schema } from "effect"
import type { Wording } from "../render/Wording.js"
import { conversationSummary } from "../render/Wording.js"
import type { Fold } from "./Fold.js"
import type { Keep } from "./Keep.js"
import type { Split } from "./Split.js"
import type { Take } from "./Take.js"
import * as TakeAll from "./Take.js"
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
  readonly take: Take
  readonly fold: Fold
  readonly split?: Split
  readonly context: ContextStyle
}

/**
 * Composes a strategy. `take` defaults to the whole backlog, the wording to `[Conversation Summary]`.
 *
 * @example
 * ```ts
 * import { Fold, Keep, Strategy, Take, Trigger } from "@memfold/core"
 *
 * export const nightly = Strategy.make({
 *   name: "nightly",
 *   when: Trigger.any(Trigger.idle("8 hours"), Trigger.backlog({ messages: 200 })),
 *   keep: Keep.lastRounds(2),
 *   take: Take.all,
 *   fold: Fold.rolling,
 * })
 * ```
 */
export const make = (options: {
  readonly name: string
  readonly when: Trigger
  readonly keep: Keep
  readonly take?: Take
  readonly fold: Fold
  readonly split?: Split
  readonly context?: Partial<ContextStyle>
}): Strategy => ({
  take: TakeAll.all,
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
  /**
   * Reads settings of unknown origin: in camelCase, in snake_case, or by an alias. A name nobody knows and a
   * value out of range are errors.
   */
  readonly decode: (settings: Readonly<Record<string, unknown>>) => Either.Either<Strategy, SettingsError>
}

const camelCase = (name: string): string =>
  name.replace(/_+([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/**
 * Defines a family of strategies. Called with settings out of range, it throws a {@link SettingsError}: that is
 * a mistake in a program; `decode` is for settings that come from outside.
 */
export const define = <Settings extends object, Encoded>(options: {
  readonly name: string
  /** Every setting has a default, so that `{}` is valid. */
  readonly settings: Schema.Schema<Settings, Encoded>
  /** Other names of settings, in camelCase. */
  readonly aliases?: Readonly<Record<string, string>>
  readonly make: (settings: Settings) => Strategy
}): Definition<Settings> => {
  const parse = Schema.decodeUnknownEither(options.settings)
  const read = (given: Readonly<Record<string, unknown>>): Either.Either<Settings, SettingsError> =>
    Either.mapLeft(
      parse(given),
      (error) => new SettingsError({ strategy: options.name, detail: explain(error) }),
    )
  const defaults = Either.getOrThrowWith(read({}), (error) => error)
  const names = Object.keys(defaults)
  const aliases = options.aliases ?? {}
  const settingOf = (name: string): string | undefined => {
    const camel = camelCase(name)
    const alias = Object.hasOwn(aliases, camel) ? aliases[camel] : undefined
    return names.find((known) => known === (alias ?? camel))
  }
  const decode = (given: Readonly<Record<string, unknown>>) => {
    const settings: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(given)) {
      const known = settingOf(name)
      if (known === undefined) {
        const detail = `there is no setting "${name}"; allowed: ${names.join(", ")}`
        return Either.left(new SettingsError({ strategy: options.name, detail }))
      }
      settings[known] = value
    }
    return Either.map(read(settings), options.make)
  }
  const build = (settings: Partial<Settings> = {}) =>
    Either.getOrThrowWith(decode(settings as Readonly<Record<string, unknown>>), (error) => error)
  const knows = (name: string) => settingOf(name) !== undefined
  return Object.assign(build, { strategyName: options.name, defaults, knows, decode })
}

const explain = (error: ParseResult.ParseError): string => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  const path = issue?.path.map(String).join(".") ?? ""
  return `${path === "" ? "" : `${path}: `}${issue?.message ?? "the settings do not fit"}`
}
