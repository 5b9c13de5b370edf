/** Opens the store of the service, and the memory over it. */
import {
  defaultStrategy,
  type StoreError,
  storeLayer,
  strategyNamed,
  summarizerOf,
  type UnknownName,
} from "@memfold/catalog"
import { EventLog, Memory, type Strategy, Summarizer } from "@memfold/core"
import * as Layers from "@memfold/layers"
import { Effect, Layer, type Scope } from "effect"
import type { ServeOptions } from "./options.js"
import { readSettingsFile } from "./settings.js"
import type { StrategySetting } from "./requests.js"
import { tracedSummarizer } from "./telemetry.js"
import type { Served } from "./TenantMemory.js"

/** The strategy that the service is set to. */
export const strategySetting = ({
  strategy = defaultStrategy,
  environmentPrefix,
  ...options
}: ServeOptions): StrategySetting => ({ name: strategy, file: readSettingsFile(options), environmentPrefix })

/** The store and the memory, open as long as the scope. */
export const openMemory = (
  options: ServeOptions,
): Effect.Effect<Served, StoreError | UnknownName | Strategy.SettingsError, Scope.Scope> =>
  Effect.gen(function* () {
    const { store = "sqlite:memfold.db", summarizer = "extractive", layers, compaction } = options
    const { name, file, environmentPrefix } = strategySetting(options)
    const strategy = yield* strategyNamed(name, { request: undefined, file, environmentPrefix })
    const untraced = summarizerOf(summarizer)
    const writer = options.otlp === undefined ? untraced : tracedSummarizer(untraced)
    const stored = typeof store === "string" ? yield* storeLayer(store) : store
    const known =
      layers === undefined || layers === false
        ? Layer.empty
        : (Layers.layer(layers === true ? {} : layers) as Layer.Layer<never, never, EventLog.EventLog>)
    const parts = Layer.mergeAll(
      Layer.succeed(Summarizer.Summarizer, writer),
      Layer.provideMerge(known, stored),
    )
    const context = yield* Layer.build(parts)
    const memory = yield* Effect.provide(
      Memory.make({ strategy, ...(compaction === undefined ? {} : { compaction }) }),
      context,
    )
    const log = yield* Effect.provide(EventLog.EventLog, context)
    // A store that cannot be read is known now, and not at the first request.
    yield* log.list({ limit: 1 })
    return { memory, log }
  })
