/** Opening a memory: its store, its parts, and the engine. */
import {
  Embedder,
  Reranker,
  Dispatcher,
  EventLog,
  FullTextIndex,
  Memory,
  Metrics,
  Recall,
  Summarizer,
  TokenCounter,
  Wording,
} from "@memfold/core"
import {
  defaultStrategy,
  ignoredSettings,
  type QueueError,
  queueOf,
  type StoreError,
  storeOf,
  summarizerOf,
} from "@memfold/catalog"
import * as Layers from "@memfold/layers"
import { Context, Effect, Either, identity, Layer, type Scope, Struct } from "effect"
import { embedderOf } from "./embedder.js"
import { rerankerOf } from "./reranker.js"
import type { Running } from "./lifeCycle.js"
import { logTo } from "./logging.js"
import { hooksOf, onlyGiven, strategyOf } from "./options.js"
import type { AnyOptions } from "./PromiseMemory.js"

const layersOf = ({ layers, facts }: AnyOptions) =>
  layers === false || (layers === undefined && (facts ?? null) === null)
    ? []
    : [
        Layers.layer({
          ...(layers === true ? {} : layers),
          ...(facts === undefined || facts === null ? {} : { facts }),
        }),
      ]

const engineOptions = (options: AnyOptions): Memory.Options => {
  const { strategy, settings, environmentPrefix, wording, shadow, recall } = options
  const { hooks, ...compaction } = options.compaction ?? {}
  const asGiven = Struct.pick(
    options,
    "budget",
    "spend",
    "beforeAppend",
    "audit",
    "boundReasoning",
    "trust",
    "minimumOrigin",
    "load",
    "cachedSessions",
  )
  return {
    strategy: strategyOf(strategy ?? defaultStrategy, { file: settings, environmentPrefix }),
    compaction: { ...compaction, ...(hooks === undefined ? {} : { hooks: hooksOf(hooks) }) },
    ...(shadow === undefined ? {} : { shadow: strategyOf(shadow, { environmentPrefix }) }),
    ...(wording === undefined
      ? {}
      : { wording: typeof wording === "string" ? Wording.presets[wording] : wording }),
    ...(recall?.fullTextIndex === "searches" ? { indexAhead: false } : {}),
    ...onlyGiven(asGiven),
  }
}

/**
 * Opens the memory of checked options. What the options name is looked up at once, and nothing is opened before the effect runs.
 *
 * @throws UnknownName, SettingsError, InvalidOption: as `createMemory`
 */
export const startOf = (
  options: AnyOptions,
): Effect.Effect<Running, StoreError | QueueError, Scope.Scope> => {
  const { store, queue, summarizer, recall = {}, tokenCounter, logger, metrics } = options
  const engine = engineOptions(options)
  const log =
    typeof store === "string" ? { open: Either.getOrThrowWith(storeOf(store), identity) } : { layer: store }
  const openQueue = typeof queue === "string" ? Either.getOrThrowWith(queueOf(queue), identity) : null
  const { embedder, reranker, vectorIndex, fullTextIndex } = recall
  const summarizing = Context.make(Summarizer.Summarizer, summarizerOf(summarizer ?? "extractive"))
  /** The parts that are ready, and layers for the parts that read the log. A missing part has a default. */
  const ready = [
    ...(embedder === undefined ? [] : [Context.make(Embedder.Embedder, embedderOf(embedder))]),
    ...(reranker === undefined ? [] : [Context.make(Reranker.Reranker, rerankerOf(reranker))]),
    ...(fullTextIndex === "process" ? [Context.make(FullTextIndex.FullTextIndex, Recall.inProcess())] : []),
    ...(tokenCounter === undefined ? [] : [Context.make(TokenCounter.TokenCounter, tokenCounter)]),
  ]
  const parts: ReadonlyArray<Layer.Layer<never, never, EventLog.EventLog>> = [
    ...(vectorIndex === undefined ? [] : [vectorIndex]),
    ...layersOf(options),
  ]
  // Not a layer of layers: to build those takes longer in a new process than everything else that is done here.
  return Effect.gen(function* () {
    yield* logTo(logger)
    const ignored = ignoredSettings(options.settings)
    if (ignored !== null) yield* Effect.logWarning(`settings: ${ignored}`)
    const scope = yield* Effect.scope
    // What several of the given layers share is built once.
    const shared = yield* Layer.makeMemoMap
    if (metrics !== undefined) yield* Layer.buildWithMemoMap(Metrics.listen(metrics), shared, scope)
    const withLog =
      "layer" in log
        ? yield* Layer.buildWithMemoMap(log.layer, shared, scope)
        : Context.make(EventLog.EventLog, yield* log.open)
    let context = Context.mergeAll(withLog, summarizing, ...ready)
    if (openQueue !== null) context = Context.add(context, Dispatcher.Dispatcher, yield* openQueue)
    else if (queue !== undefined && typeof queue !== "string")
      context = Context.merge(context, yield* Layer.buildWithMemoMap(queue, shared, scope))
    for (const part of parts) {
      const built = yield* Effect.provide(Layer.buildWithMemoMap(part, shared, scope), withLog)
      context = Context.merge(context, built)
    }
    const memory = yield* Effect.provide(Memory.make(engine), context)
    return { memory, runtime: yield* Effect.runtime<never>() }
  })
}
