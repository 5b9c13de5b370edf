/** Opens the store of the service, and the memory over it. */
import {
  defaultStrategy,
  ignoredSettings,
  type StoreError,
  storeLayer,
  strategyNamed,
  summarizerOf,
  type UnknownName,
} from "@memfold/catalog"
import { EventLog, Memory, type Strategy, Summarizer } from "@memfold/core"
import * as Layers from "@memfold/layers"
import { Effect, Layer, type Scope } from "effect"
import { Calls, Savings, upstreamSummarizer } from "@memfold/proxy"
import { type ServeOptions, upstreamsOf } from "./options.js"
import { readSettingsFile } from "./settings.js"
import { given, type StrategySetting } from "./requests.js"
import { tracedSummarizer } from "./telemetry.js"
import type { Served } from "./TenantMemory.js"

/** The strategy that the service is set to. */
export const strategySetting = ({
  strategy = defaultStrategy,
  environmentPrefix,
  ...options
}: ServeOptions): StrategySetting => ({ name: strategy, file: readSettingsFile(options), environmentPrefix })

/** What a proxy and the summarizer of its memory share: the newest calls, and what they cost. */
export interface Accounts {
  readonly calls: Calls
  readonly savings: Savings
}

/** With an upstream, its models write the summaries of the sessions whose requests go there. */
const summarizerFor = (options: ServeOptions, { calls, savings }: Accounts): Summarizer.Service => {
  const { summarizer = "extractive", summaryModel: model } = options
  if (Object.keys(upstreamsOf(options)).length === 0) return summarizerOf(summarizer)
  return upstreamSummarizer(calls, {
    model,
    otherwise: summarizer,
    onUsage: (session, used, usage) => savings.summary(session, used, usage),
  })
}

/** The store and the memory, open as long as the scope. */
export const openMemory = (
  options: ServeOptions,
): Effect.Effect<Served & Accounts, StoreError | UnknownName | Strategy.SettingsError, Scope.Scope> =>
  Effect.gen(function* () {
    const {
      store = "sqlite:memfold.db",
      beforeAppend,
      layers,
      compaction,
      spend,
      audit,
      trust,
      minimumOrigin,
      load,
    } = options
    const accounts: Accounts = { calls: new Calls(), savings: new Savings() }
    const { name, file, environmentPrefix } = strategySetting(options)
    const strategy = yield* strategyNamed(name, { request: undefined, file, environmentPrefix })
    const ignored = ignoredSettings(file)
    if (ignored !== null) yield* Effect.logWarning(`settings: ${ignored}`)
    const untraced = summarizerFor(options, accounts)
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
      Memory.make({
        strategy,
        ...given({ compaction, spend, beforeAppend, audit, trust, minimumOrigin, load }),
      }),
      context,
    )
    const log = yield* Effect.provide(EventLog.EventLog, context)
    // A store that cannot be read is known now, and not at the first request.
    yield* log.list({ limit: 1 })
    return { memory, log, ...accounts }
  })
