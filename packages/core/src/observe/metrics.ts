/**
 * The engine's metrics, as Effect metrics: export them with a layer for OpenTelemetry or Prometheus. They cost next to
 * nothing when none is installed. No metric carries a session id or any text of a conversation.
 */
import { type Effect, Metric, MetricBoundaries, MetricLabel } from "effect"

/** Bounds from 1 ms to about a minute, each twice the one before. */
const milliseconds = MetricBoundaries.exponential({ start: 1, factor: 2, count: 17 })

/** Messages appended to a log. */
export const messagesAppended = Metric.counter("memfold_messages_appended", {
  description: "Messages appended to a log",
  incremental: true,
})

/** Appends whose idempotency key had been used before. They wrote nothing. */
export const duplicateAppends = Metric.counter("memfold_appends_duplicate", {
  description: "Appends with an idempotency key that had been used before",
  incremental: true,
})

/** How long an append took, in milliseconds. It includes compactions that run inline. */
export const appendDuration = Metric.histogram("memfold_append_ms", milliseconds)

/** Compactions by `outcome`, `strategy` and `reason`: why they started or, for failed ones, why they failed. */
export const compactions = Metric.counter("memfold_compactions", {
  description: "Compactions by how they ended",
  incremental: true,
})

/** How long a compaction took from its start to its commit or failure, in milliseconds. */
export const compactionDuration = Metric.histogram("memfold_compaction_ms", milliseconds)

/** Calls of summarizers, including failed ones. */
export const summarizerCalls = Metric.counter("memfold_summarizer_calls", {
  description: "Calls of summarizers",
  incremental: true,
})

/** Failed calls of summarizers, by `reason`. */
export const summarizerFailures = Metric.counter("memfold_summarizer_failures", {
  description: "Failed calls of summarizers",
  incremental: true,
})

/** Tokens by which compactions made contexts smaller. */
export const tokensSaved = Metric.counter("memfold_tokens_saved", {
  description: "Tokens that compactions took out of contexts",
  incremental: true,
})

/** Tokens of each rendered context. */
export const contextTokens = Metric.histogram(
  "memfold_context_tokens",
  MetricBoundaries.exponential({ start: 128, factor: 2, count: 14 }),
)

/** Failures of background work, by `kind`: the tag of the error, `defect`, or `shadow`. */
export const backgroundFailures = Metric.counter("memfold_background_failures", {
  description: "Background work that could not be done",
  incremental: true,
})

/** Decisions of a shadow strategy; `agrees` says whether the acting strategy decided the same. */
export const shadowDecisions = Metric.counter("memfold_shadow_decisions", {
  description: "Decisions of the shadow strategy",
  incremental: true,
})

/** Increments a counter by one, with these labels. */
export const count = (
  counter: Metric.Metric.Counter<number>,
  labels: Readonly<Record<string, string>> = {},
): Effect.Effect<void> =>
  Metric.increment(
    Metric.taggedWithLabels(
      counter,
      Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value)),
    ) as Metric.Metric.Counter<number>,
  )
