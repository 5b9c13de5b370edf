/**
 * The engine's metrics, as Effect metrics: export them with a layer for OpenTelemetry or Prometheus, or listen to them with
 * {@link listen}. They cost next to nothing when nobody does. No metric carries a session id or any text of a conversation.
 */
import { Clock, Effect, FiberRef, GlobalValue, Layer, Metric, MetricBoundaries } from "effect"

/** One change of a metric. */
export interface Update {
  /** The name of the metric, such as `memfold_compactions`. */
  readonly name: string
  /** The increment of a counter, or the new value of a histogram. */
  readonly value: number
  /** For example the `outcome` of a compaction. */
  readonly labels: Readonly<Record<string, string>>
}

const listener = GlobalValue.globalValue("@memfold/core/Metrics/listener", () =>
  // oxlint-disable-next-line memfold/shell-only -- the reference is one for the whole program, and made when it is loaded
  FiberRef.unsafeMake<((update: Update) => void) | null>(null),
)

/**
 * A layer that calls a function with each update of a metric, for the memories built with it. An error that the function
 * throws is ignored.
 *
 * @param onUpdate - called synchronously; it should return at once
 *
 * @example
 * ```ts
 * import { Metrics } from "@memfold/core"
 *
 * export const printed = Metrics.listen(({ name, value, labels }) => console.log(name, value, labels))
 * ```
 */
export const listen = (onUpdate: (update: Update) => void): Layer.Layer<never> =>
  Layer.scopedDiscard(Effect.locallyScoped(listener, onUpdate))

/** Effect does not tell the name of a metric. */
const named = <M extends object>(metricName: string, metric: M): M & { readonly metricName: string } =>
  Object.assign(metric, { metricName })

const counter = (name: string, description: string) =>
  named(name, Metric.counter(name, { description, incremental: true }))

const histogram = (name: string, boundaries: MetricBoundaries.MetricBoundaries) =>
  named(name, Metric.histogram(name, boundaries))

type Counter = ReturnType<typeof counter>
type Histogram = ReturnType<typeof histogram>

/** Bounds from 1 ms to about a minute, each twice the one before. */
const milliseconds = MetricBoundaries.exponential({ start: 1, factor: 2, count: 17 })

export const messagesAppended = counter("memfold_messages_appended", "Messages appended to a log")

export const duplicateAppends = counter(
  "memfold_appends_duplicate",
  "Appends with an idempotency key that had been used before",
)

/** How long an append took, in milliseconds. It includes compactions that run inline. */
export const appendDuration = histogram("memfold_append_ms", milliseconds)

/** Compactions by `outcome`, `strategy` and `reason`: why they started or, for failed ones, why they failed. */
export const compactions = counter("memfold_compactions", "Compactions by how they ended")

/** How long a compaction took from its start to its commit or failure, in milliseconds. */
export const compactionDuration = histogram("memfold_compaction_ms", milliseconds)

export const summarizerCalls = counter("memfold_summarizer_calls", "Calls of summarizers")

/** Failed calls of summarizers, by `reason`. */
export const summarizerFailures = counter("memfold_summarizer_failures", "Failed calls of summarizers")

export const embedderCalls = counter("memfold_embedder_calls", "Calls of the embedder")

/** Failed calls of the embedder, by `reason`. */
export const embedderFailures = counter("memfold_embedder_failures", "Failed calls of the embedder")

/** Tokens of calls that cost something, by `part`; counted where the option `spend` is set. */
export const spendTokens = counter("memfold_spend_tokens", "Tokens of summarizers, embedders and extractors")

/** Dollars of calls that cost something, by `part`; counted where the option `spend` has prices. */
export const spendDollars = counter(
  "memfold_spend_dollars",
  "Dollars of summarizers, embedders and extractors",
)

/** Calls and compactions that wait for the next day, by the `cap` that was reached. */
export const spendReached = counter("memfold_spend_reached", "Work that waits because a cap was reached")

export const tokensSaved = counter("memfold_tokens_saved", "Tokens that compactions took out of contexts")

/** Tokens of each rendered context. */
export const contextTokens = histogram(
  "memfold_context_tokens",
  MetricBoundaries.exponential({ start: 128, factor: 2, count: 14 }),
)

/** Failures of background work, by `kind`: the tag of the error, `defect`, or `shadow`. */
export const backgroundFailures = counter(
  "memfold_background_failures",
  "Background work that could not be done",
)

export const dispatches = counter("memfold_dispatches", "Looks at sessions that a queue has taken")

export const dispatchFailures = counter(
  "memfold_dispatch_failures",
  "Looks at sessions that a queue did not take",
)

/** Decisions of a shadow strategy; `agrees` says whether the acting strategy decided the same. */
export const shadowDecisions = counter("memfold_shadow_decisions", "Decisions of the shadow strategy")

const noLabels: Update["labels"] = {}

/** Adds to a counter, or records a value of a histogram, and tells the listener of the program. Each turn records several: it is one step. */
export const record = (metric: Counter | Histogram, value: number, labels = noLabels): Effect.Effect<void> =>
  // oxlint-disable-next-line memfold/shell-only -- `Metric.update` takes as many steps as a small operation
  Effect.withFiberRuntime((running) => {
    const labelled = Object.entries(labels).reduce(tagged, metric as Metric.Metric<unknown, number, unknown>)
    // oxlint-disable-next-line memfold/shell-only -- what `Metric.update` does
    labelled.unsafeUpdate(value, running.getFiberRef(FiberRef.currentMetricLabels))
    const listen = running.getFiberRef(listener)
    return listen === null
      ? Effect.void
      : // A listener must not change how the engine works.
        Effect.ignore(Effect.try(() => listen({ name: metric.metricName, value, labels })))
  })

const tagged = <M extends Metric.Metric<unknown, number, unknown>>(
  metric: M,
  [name, label]: [string, string],
): M => Metric.tagged(metric, name, label) as M

/** Increments a counter by one, with these labels. */
export const count = (metric: Counter, labels = noLabels): Effect.Effect<void> => record(metric, 1, labels)

/** Counts an append that succeeded, and its duration in milliseconds. */
export const recordAppend = <
  A extends { readonly from: number; readonly to: number; readonly duplicate: boolean },
  E,
>(
  append: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const answer = yield* append
    const { from, to, duplicate } = answer
    yield* duplicate ? count(duplicateAppends) : record(messagesAppended, to - from)
    yield* record(appendDuration, (yield* Clock.currentTimeMillis) - began)
    return answer
  })
