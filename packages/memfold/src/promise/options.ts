/** Checks the options of `createMemory` and turns them into what the engine takes. */
import { type Hooks, type Strategy, Wording } from "@memfold/core"
import { Duration, Effect, Either, Layer, Option, Schema } from "effect"
import { strategyNamed } from "../parts.js"
import { codecs, type Formats } from "./formats.js"
import type { AsyncHooks, CreateOptions } from "./PromiseMemory.js"

/**
 * An option of `createMemory`, or of one call, is unknown or has a value that is not allowed. `option` is its name, and
 * `allowed` says which values it can have.
 */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  option: Schema.String,
  allowed: Schema.String,
}) {
  override get message(): string {
    return `createMemory: "${this.option}" must be ${this.allowed}`
  }
}

export const same = <E>(error: E): E => error

/**
 * The strategy itself, or the shipped one of that name with its settings.
 *
 * @throws UnknownName: there is no shipped strategy of that name
 * @throws SettingsError: a setting is unknown or out of its range
 * @throws InvalidOption: there are settings, but the strategy was not given by its name
 */
export const strategyOf = (
  given: Strategy.Strategy | string,
  sources: Pick<Strategy.Sources, "request" | "file">,
): Strategy.Strategy => {
  if (typeof given === "string") return Either.getOrThrowWith(strategyNamed(given, sources), same)
  if (sources.request === undefined && sources.file === undefined) return given
  throw new InvalidOption({ option: "settings", allowed: "left out, or the strategy given by its name" })
}

const modes: ReadonlySet<unknown> = new Set([undefined, "background", "inline", "manual", "off"])
const durations = ["summarizerTimeout", "lease", "backOff", "shutdown"] as const

/** The names of all options. Any other name is a typing mistake. */
const known: ReadonlySet<string> = new Set<keyof CreateOptions>([
  "store",
  "strategy",
  "settings",
  "wording",
  "summarizer",
  "layers",
  "tokenCounter",
  "format",
  "compaction",
  "budget",
  "hooks",
  "shadow",
  "shutdown",
  "summarizerTimeout",
  "summarizerRetries",
  "lease",
  "backOff",
  "cachedSessions",
])

/**
 * Checks at run time what a type checker would find, for programs in JavaScript.
 *
 * @throws InvalidOption: the first wrong option
 */
export const checkOptions = (options: CreateOptions<keyof Formats>): void => {
  if (typeof options !== "object" || options === null) {
    throw new InvalidOption({ option: "options", allowed: 'an object like { store: "sqlite:chats.db" }' })
  }
  const { store, strategy, format, compaction, wording } = options
  const refuse = (option: string, allowed: string) => {
    throw new InvalidOption({ option, allowed })
  }
  if (typeof store !== "string" && !Layer.isLayer(store))
    refuse("store", "memory:, sqlite:PATH, redis://HOST, or a layer")
  if (format !== undefined && !Object.hasOwn(codecs, format)) refuse("format", Object.keys(codecs).join(", "))
  if (!modes.has(compaction)) refuse("compaction", "background, inline, manual, or off")
  if (typeof strategy === "object" && typeof strategy.keep?.from !== "function") {
    refuse("strategy", "a strategy, or the name of one")
  }
  if (typeof wording === "string" && !Object.hasOwn(Wording.presets, wording)) {
    refuse("wording", `${Object.keys(Wording.presets).join(", ")}, or a wording`)
  }
  const unknown = Object.keys(options).find((name) => !known.has(name))
  if (unknown !== undefined) refuse(unknown, `one of the options: ${[...known].join(", ")}`)
  const { budget, layers, summarizer } = options
  if (Array.isArray(summarizer) && summarizer.length === 0) refuse("summarizer", "left out, or not empty")
  if (
    layers !== undefined &&
    typeof layers !== "boolean" &&
    (typeof layers !== "object" || layers === null)
  ) {
    refuse("layers", "true, false, or an object of options")
  }
  if (budget !== undefined) {
    const { tokens, timeout = 0 } = budget
    if (typeof tokens !== "number" || !(tokens > 0) || Option.isNone(Duration.decodeUnknown(timeout))) {
      refuse("budget", 'an object like { tokens: 100_000, timeout: "20 seconds" }')
    }
  }
  for (const name of durations) {
    const given = options[name]
    if (given !== undefined && Option.isNone(Duration.decodeUnknown(given))) {
      refuse(name, 'a duration, such as "30 seconds" or a number of milliseconds')
    }
  }
}

/** Turns asynchronous hooks into those of the engine, which ignores a hook that throws. */
export const hooksOf = ({ beforeCompaction, afterCompaction }: AsyncHooks): Hooks => ({
  ...(beforeCompaction === undefined
    ? {}
    : { beforeCompaction: (planned) => Effect.promise(async () => await beforeCompaction(planned)) }),
  ...(afterCompaction === undefined
    ? {}
    : { afterCompaction: (ended) => Effect.promise(async () => await afterCompaction(ended)) }),
})
