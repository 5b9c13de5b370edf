/** Checks the options of `createMemory` and turns them into what the engine takes. */
import { type Hooks, Keep, Memory, Strategy, SummaryMode, Trigger, Wording } from "@memfold/core"
import { checkOptions as checkLayers } from "@memfold/layers"
import { Effect, Either, Layer } from "effect"
import {
  codecs,
  type Formats,
  strategyNamed,
  type SystemMessages,
  unknownSettings,
  wrongExtraFields,
  wrongSummarizer,
} from "@memfold/catalog"
import { isLogger } from "./logging.js"
import type { AsyncHooks, CreateOptions, RecallParts } from "./PromiseMemory.js"

const { InvalidOption } = Memory

/**
 * Checks that a value is a strategy or a name.
 *
 * @throws InvalidOption: it is something else, for example a strategy's function that was not called
 */
const checkStrategy = (option: string, given: unknown): void => {
  if (typeof given === "string") return
  if (typeof given === "function") {
    throw new InvalidOption({ option, allowed: "a strategy: call the function, as in BreakEven()" })
  }
  const { keep } = (given ?? {}) as Partial<Strategy.Strategy>
  if (typeof keep?.from !== "function") {
    throw new InvalidOption({ option, allowed: "a strategy, or the name of one" })
  }
}

/** For the check of the other options: stands for a strategy that is given by its name. */
const anyStrategy = Strategy.make({
  name: "any",
  when: Trigger.backlog({ messages: 1 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

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
  sources: Pick<Strategy.Sources, "request" | "file" | "environmentPrefix">,
): Strategy.Strategy => {
  if (typeof given === "string") return Either.getOrThrowWith(strategyNamed(given, sources), same)
  checkStrategy("strategy", given)
  if (sources.request === undefined && sources.file === undefined) return given
  throw new InvalidOption({ option: "settings", allowed: "left out, or the strategy given by its name" })
}

/** Whether a part is left out, or given by its name. */
const isNamed = (given: unknown): boolean => given === undefined || typeof given === "string"

/** The names of all options. Any other name is a typing mistake. */
const names: ReadonlySet<string> = new Set<keyof CreateOptions>([
  "store",
  "queue",
  "strategy",
  "settings",
  "environmentPrefix",
  "wording",
  "shadow",
  "summarizer",
  "tokenCounter",
  "layers",
  "recall",
  "format",
  "systemMessages",
  "extraFields",
  "compaction",
  "budget",
  "spend",
  "boundReasoning",
  "logger",
  "metrics",
  "cachedSessions",
])

/** The names of the options of recall. */
const recallNames: ReadonlySet<string> = new Set<keyof RecallParts>([
  "embedder",
  "vectorIndex",
  "fullTextIndex",
])

/** The first name of an object that is not among the names. */
const unknownIn = (given: object, known: ReadonlySet<string>): string | undefined =>
  Object.keys(given).find((name) => !known.has(name))

/**
 * Checks what recall searches with.
 *
 * @throws InvalidOption: the first wrong option
 */
const checkRecall = (recall: RecallParts): void => {
  const refuse = (option: string, allowed: string) => {
    throw new InvalidOption({ option, allowed })
  }
  if (typeof recall !== "object" || recall === null) refuse("recall", "an object like { embedder }")
  const unknown = unknownIn(recall, recallNames)
  if (unknown !== undefined) refuse(`recall.${unknown}`, `one of the options: ${[...recallNames].join(", ")}`)
  const { vectorIndex, fullTextIndex = "store" } = recall
  if (vectorIndex !== undefined && !Layer.isLayer(vectorIndex))
    refuse("recall.vectorIndex", "a layer, such as that of @memfold/sqlite-vec")
  if (!["store", "process"].includes(fullTextIndex)) refuse("recall.fullTextIndex", "store or process")
}

/** Checks that there is a queue where one is used, and only there. */
const checkQueue = (
  { queue, compaction }: CreateOptions<keyof Formats, SystemMessages>,
  refuse: (option: string, allowed: string) => void,
): void => {
  if (queue !== undefined && typeof queue !== "string" && !Layer.isLayer(queue))
    refuse("queue", "redis://HOST, postgres://HOST/DATABASE, or a layer")
  const dispatches = compaction?.mode === "dispatch"
  if (dispatches && queue === undefined) refuse("queue", "given: compaction.mode is dispatch")
  if (!dispatches && queue !== undefined)
    refuse("queue", 'left out, or used: compaction: { mode: "dispatch" }')
}

/**
 * Checks at run time what a type checker would find, for programs in JavaScript.
 *
 * @throws InvalidOption: the first wrong option
 */
export const checkOptions = (options: CreateOptions<keyof Formats, SystemMessages>): void => {
  if (typeof options !== "object" || options === null) {
    throw new InvalidOption({ option: "options", allowed: 'an object like { store: "sqlite:chats.db" }' })
  }
  const { store, strategy, format, systemMessages, wording, logger, metrics } = options
  const refuse = (option: string, allowed: string) => {
    throw new InvalidOption({ option, allowed })
  }
  if (typeof store !== "string" && !Layer.isLayer(store))
    refuse("store", "memory:, sqlite:PATH, redis://HOST, postgres://HOST/DATABASE, or a layer")
  checkQueue(options, refuse)
  if (format !== undefined && !Object.hasOwn(codecs, format)) refuse("format", Object.keys(codecs).join(", "))
  if (systemMessages !== undefined && systemMessages !== "apart") {
    if (systemMessages !== "inline") refuse("systemMessages", "inline or apart")
    if (format === "anthropic") refuse("systemMessages", "apart: the Messages API has a field for them")
  }
  if (wrongExtraFields(options.extraFields) !== null) refuse("extraFields", "a list of names of fields")
  if (strategy !== undefined) checkStrategy("strategy", strategy)
  if (options.shadow !== undefined) checkStrategy("shadow", options.shadow)
  if (logger !== undefined && !isLogger(logger)) {
    refuse("logger", '"error", "warning", "info", "debug", or a function')
  }
  if (metrics !== undefined && typeof metrics !== "function") refuse("metrics", "a function")
  if (typeof wording === "string" && !Object.hasOwn(Wording.presets, wording)) {
    refuse("wording", `${Object.keys(Wording.presets).join(", ")}, or a wording`)
  }
  const unknown = unknownIn(options, names)
  if (unknown !== undefined) refuse(unknown, `one of the options: ${[...names].join(", ")}`)
  if (options.recall !== undefined) checkRecall(options.recall)
  const [setting] = unknownSettings(options.settings)
  if (setting !== undefined) refuse(`settings.${setting}`, "left out: no strategy has this setting")
  const prefix: unknown = options.environmentPrefix
  if (prefix !== undefined && typeof prefix !== "string")
    refuse("environmentPrefix", "a text, such as PRIZM_")
  const { layers, summarizer } = options
  if (Array.isArray(summarizer) && summarizer.length === 0) refuse("summarizer", "left out, or not empty")
  if (
    layers !== undefined &&
    typeof layers !== "boolean" &&
    (typeof layers !== "object" || layers === null)
  ) {
    refuse("layers", "true, false, or an object of options")
  }
  const wrongLayers = typeof layers === "object" ? checkLayers(layers) : null
  if (wrongLayers !== null) refuse(`layers.${wrongLayers.option}`, wrongLayers.allowed)
  const { settings: _settings, shadow, recall, extraFields: _fields, ...engine } = options
  // Strategies, wordings and summarizers may be given by their names; the engine does not know these.
  const named = { strategy: anyStrategy, summarizer: undefined, wording: undefined, shadow: undefined }
  const wrong = Memory.checkOptions({
    ...engine,
    ...named,
    ...(recall?.embedder === undefined ? {} : { embedder: recall.embedder }),
    ...(isNamed(strategy) ? {} : { strategy }),
    ...(isNamed(shadow) ? {} : { shadow }),
    ...(isNamed(wording) ? {} : { wording }),
  })
  if (wrong !== null) {
    const isStrategy = wrong.option === "strategy" || wrong.option === "shadow"
    const option = wrong.option === "embedder" ? "recall.embedder" : wrong.option
    refuse(option, isStrategy ? "a strategy, or the name of one" : wrong.allowed)
  }
  const given: ReadonlyArray<unknown> = Array.isArray(summarizer) ? summarizer : [summarizer]
  for (const one of given) {
    const wrongOne = isNamed(one) ? null : wrongSummarizer(one)
    if (wrongOne !== null) refuse("summarizer", wrongOne)
  }
}

/** Turns asynchronous hooks into hooks of the engine, which ignores a hook that throws. */
export const hooksOf = ({ beforeCompaction, afterCompaction }: AsyncHooks): Hooks => ({
  ...(beforeCompaction === undefined
    ? {}
    : { beforeCompaction: (planned) => Effect.promise(async () => await beforeCompaction(planned)) }),
  ...(afterCompaction === undefined
    ? {}
    : { afterCompaction: (ended) => Effect.promise(async () => await afterCompaction(ended)) }),
})
