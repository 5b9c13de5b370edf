/** Checks the options of `createMemory` and turns them into what the engine takes. */
import { type Hooks, Memory, OptionGroup, type Strategy, Wording } from "@memfold/core"
import * as Layers from "@memfold/layers"
import { Effect, Either, identity, Predicate, Schema } from "effect"
import {
  codecs,
  type FormatOptions,
  queueForms,
  storeForms,
  strategyNamed,
  unknownSettings,
  wrongSummarizer,
  isServer,
  serverWords,
} from "@memfold/catalog"
import { isLogger } from "./logging.js"
import type { AnyOptions, AsyncHooks, CreateOptions, RecallParts } from "./PromiseMemory.js"

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

/** Options without those that are `undefined`. */
export const onlyGiven = <Options extends object>(options: Options) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof Options]?: Exclude<Options[Name], undefined>
  }

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
  if (typeof given === "string") return Either.getOrThrowWith(strategyNamed(given, sources), identity)
  checkStrategy("strategy", given)
  if (sources.request === undefined && sources.file === undefined) return given
  throw new InvalidOption({ option: "settings", allowed: "left out, or the strategy given by its name" })
}

const { checkedBy, nested, option, orLayer, unknownIn, wrongIn } = OptionGroup

const Named = Schema.Union(Schema.String, Memory.memoryOptions.strategy)
const namedStrategy = option(Named, "a strategy, or the name of one")
const presets = Object.keys(Wording.presets)

const recallOptions = {
  embedder: Memory.memoryOptions.embedder,
  reranker: Memory.memoryOptions.reranker,
  vectorIndex: option(
    orLayer(Schema.Never),
    "a layer, such as the ones of @memfold/sqlite-vec and @memfold/store-postgres",
  ),
  fullTextIndex: option(Schema.Literal("store", "searches", "process"), "store, searches, or process"),
} satisfies Record<keyof RecallParts, Schema.Schema.AnyNoContext>

/** The options, and what each must be. Any other name is a typing mistake. */
const createOptions = {
  store: option(orLayer(Schema.String), `${storeForms.join(", ")}, or a layer`),
  queue: option(orLayer(Schema.String), `${queueForms.join(", ")}, or a layer`),
  strategy: namedStrategy,
  // A mistyped setting, and a summarizer, are checked below.
  settings: Schema.Unknown,
  environmentPrefix: option(Schema.String, "a text, such as CHAT_"),
  wording: option(
    Schema.Union(Schema.Literal(...presets), Wording.Wording),
    `${presets.join(", ")}, or a wording`,
  ),
  shadow: namedStrategy,
  summarizer: Schema.Unknown,
  tokenCounter: Memory.memoryOptions.tokenCounter,
  layers: nested(Layers.optionGroup, "true, false, or an object of options", Schema.Boolean),
  facts: Layers.optionGroup.facts,
  recall: nested(recallOptions, "an object like { embedder }"),
  format: option(Schema.Literal(...Object.keys(codecs)), Object.keys(codecs).join(", ")),
  systemMessages: option(Schema.Literal("inline", "apart"), "inline or apart"),
  extraFields: option(Schema.Array(Schema.String), "a list of names of fields"),
  server: option(Schema.String.pipe(Schema.filter(isServer)), serverWords),
  compaction: Memory.memoryOptions.compaction,
  budget: Memory.memoryOptions.budget,
  spend: Memory.memoryOptions.spend,
  beforeAppend: Memory.memoryOptions.beforeAppend,
  audit: Memory.memoryOptions.audit,
  boundReasoning: Memory.memoryOptions.boundReasoning,
  trust: Memory.memoryOptions.trust,
  minimumOrigin: Memory.memoryOptions.minimumOrigin,
  logger: option(checkedBy(isLogger), '"error", "warning", "info", "debug", or a function'),
  metrics: option(OptionGroup.Callable, "a function"),
  load: Memory.memoryOptions.load,
  cachedSessions: Memory.memoryOptions.cachedSessions,
} satisfies Record<keyof CreateOptions, Schema.Schema.AnyNoContext>

/** What is wrong with a summarizer, or with one of a list; `null` if nothing is. */
const summarizerWrong = ({ summarizer }: AnyOptions): string | null =>
  Array.isArray(summarizer) && summarizer.length === 0
    ? "left out, or not empty"
    : ([summarizer]
        .flat()
        .map((one) => (one === undefined || typeof one === "string" ? null : wrongSummarizer(one)))
        .find((wrong) => wrong !== null) ?? null)

/**
 * Checks at run time what a type checker would find, for programs in JavaScript.
 *
 * @throws InvalidOption: the first wrong option
 */
export const checkOptions = (options: AnyOptions): void => {
  const refuse = (option: string, allowed: string) => {
    throw new InvalidOption({ option, allowed })
  }
  if (!Predicate.isRecord(options)) refuse("options", 'an object like { store: "sqlite:chats.db" }')
  const { store, queue, compaction, strategy, shadow, wording, systemMessages, format } = options
  if (strategy !== undefined) checkStrategy("strategy", strategy)
  if (shadow !== undefined) checkStrategy("shadow", shadow)
  const own = typeof wording === "string" ? {} : { wording: Memory.memoryOptions.wording }
  const wrong =
    unknownIn(createOptions, options) ??
    wrongIn({ ...createOptions, ...own }, { ...options, store: store ?? null })
  if (wrong !== null) throw wrong
  const dispatches = compaction?.mode === "dispatch"
  if (dispatches && queue === undefined) refuse("queue", "given: compaction.mode is dispatch")
  if (!dispatches && queue !== undefined)
    refuse("queue", 'left out, or used: compaction: { mode: "dispatch" }')
  if (systemMessages === "inline" && format === "anthropic")
    refuse("systemMessages", "apart: the Messages API has a field for them")
  const typo = unknownSettings(options.settings).find(({ guess }) => guess !== undefined)
  if (typo !== undefined)
    refuse(
      `settings.${typo.name}`,
      `left out; ${OptionGroup.didYouMean(typo.guess)}No strategy has this setting`,
    )
  const wrongOne = summarizerWrong(options)
  if (wrongOne !== null) refuse("summarizer", wrongOne)
}

/** The options of one context that the format adds. */
const formatOptions = {
  model: true,
  summaries: true,
  cacheControl: true,
  extraFields: true,
  server: true,
} satisfies Record<keyof FormatOptions, true>

/** The names that the options of an operation have here, beside those of core. */
const furtherOf = (name: Memory.OperationName): ReadonlyArray<string> => [
  ...(Memory.operations[name].options?.names.includes("strategy") === true ? ["settings"] : []),
  ...(name === "context" ? Object.keys(formatOptions) : []),
]

type Operation = (...given: ReadonlyArray<unknown>) => unknown

/**
 * The operations, each of which refuses an option that it does not have, before anything is read or written. An operation that answers
 * with a promise rejects it, and a loop throws it.
 */
export const checkingOptions = <Operations extends object>(operations: Operations): Operations => {
  const checked = (name: Memory.OperationName, operation: Operation): Operation =>
    function (...given) {
      const wrong = Memory.wrongOptions(name, given, furtherOf(name))
      if (wrong === null) return operation(...given)
      if (Memory.operations[name].streams === true) throw wrong
      return Promise.reject(wrong)
    }
  const known = Object.entries(operations as Readonly<Record<string, unknown>>).flatMap(([name, operation]) =>
    Object.hasOwn(Memory.operations, name)
      ? [[name, checked(name as Memory.OperationName, operation as Operation)] as const]
      : [],
  )
  return { ...operations, ...Object.fromEntries(known) }
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
